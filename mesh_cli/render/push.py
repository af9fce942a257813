"""What a push says: who is sent what, who waits for what, and how the machines take it."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import TYPE_CHECKING, Any, Protocol, assert_never

from mesh_cli.output import FORMAT, note, redraws, say, styled, visible
from mesh_cli.render.network import notes as network_notes
from mesh_cli.render.plan import PlanView
from mesh_core.explain.network import concerning, note_to_data
from mesh_core.explain.push import how_it_goes, why_it_waits, why_to_data
from mesh_core.network.overlay import Note, overlay
from mesh_core.push import (
    Held,
    NothingToSay,
    Outcome,
    Send,
    TurnedDown,
    Unchanged,
    has_ended,
    plan_fingerprint,
)

if TYPE_CHECKING:
    from mesh_cli.wiring_flows import Looked, Publishing
    from mesh_core.model.sent import Standing


class Teller(Protocol):
    """Says what a push does, as it does it."""

    @property
    def counts(self) -> bool:
        """Whether it shows how far it is."""

    def at_work(self) -> AbstractContextManager[None]:
        """As long as this lasts, things are done."""

    def doing(self, what: str) -> None:
        """What is done now, which may take a while."""

    def looked(self, looked: Looked, *, dry_run: bool) -> None:
        """What was decided for each node."""

    def published(self, looked: Looked, publishing: Publishing) -> None:
        """What the broker has confirmed, and what not."""

    def watching(
        self, sent: Mapping[str, int], standings: Mapping[str, Standing]
    ) -> AbstractContextManager[None]:
        """As long as this lasts, the nodes are watched that were sent these generations."""

    def state(self, standing: Standing, generation: int, seconds: float) -> None:
        """News of a node that was sent a generation."""

    def ended(self) -> None:
        """That was all."""


def teller(*, as_json: bool, watches: bool) -> Teller:
    """Lines for people, one JSON object a line, or what is drawn again, on a terminal.

    `watches` is whether it is going to watch the machines.
    """
    if as_json:
        return _Objects()
    if not redraws():
        return Lines()
    from mesh_cli.render.push_live import OnTerminal

    return OnTerminal(watches=watches)


class Lines:
    """Plain lines, one after the other."""

    counts = False

    def __init__(self) -> None:
        self._width = 0
        self._counts: Counter[str] = Counter()

    def at_work(self) -> AbstractContextManager[None]:
        """Nothing has to be taken back."""
        return nullcontext()

    def doing(self, what: str) -> None:
        """Nothing is said that is not so any more a moment later."""

    def watching(
        self, sent: Mapping[str, int], standings: Mapping[str, Standing]
    ) -> AbstractContextManager[None]:
        """News are said as they come."""
        return nullcontext()

    def looked(self, looked: Looked, *, dry_run: bool) -> None:
        """Who waits for what, and who is refused and why."""
        self._width = max(map(len, looked.outcomes), default=0)
        for node, outcome in looked.outcomes.items():
            say(self._of(node, outcome, dry_run=dry_run))
        refused = {node for node, outcome in looked.outcomes.items() if isinstance(outcome, TurnedDown)}
        if refused:
            say(PlanView(looked.mesh, looked.found, {}).refused(refused))
        note(network_notes(looked.mesh, _network_notes(looked)))
        self._counts.update(_word(outcome) for outcome in looked.outcomes.values())
        if dry_run:
            self._last(dry_run=True)

    def _of(self, node: str, outcome: Outcome, *, dry_run: bool) -> list[str]:
        match outcome:
            case Send():
                if not dry_run:
                    return []
                given = ", with the word for removals" if outcome.sent.allow_removals else ""
                what = [f"would be sent generation {outcome.sent.generation}{given}"]
                what += [f"  moves: {visible(_move(move))}" for move in outcome.meant]
                return self._beside(node, what)
            case Held():
                whys = [why_it_waits(node, why) for why in outcome.whys]
                lines = [f"waits: {first}" for first, *_ in whys]
                told = [
                    visible(line)
                    for first, why in zip(lines, whys, strict=True)
                    for line in (first, *(f"  {more}" for more in why[1:]))
                ]
                return self._beside(node, told, colour="yellow")
            case TurnedDown() | Unchanged() | NothingToSay():
                return []  # why nodes are refused is told at the end, together
            case _:
                assert_never(outcome)

    def published(self, looked: Looked, publishing: Publishing) -> None:
        """Who was sent what, and who not."""
        self._confirmed(looked, publishing)
        self._failed(publishing)
        late = publishing.confirmed.keys() - looked.going.keys()
        self._counts["sent"] = len(publishing.confirmed)
        self._counts["pending"] = len(publishing.failed)
        self._counts["unchanged"] -= sum(isinstance(looked.outcomes.get(n), Unchanged) for n in late)
        self._last(dry_run=False)

    def _confirmed(self, looked: Looked, publishing: Publishing) -> None:
        for node, generation in sorted(publishing.confirmed.items()):
            before = "" if node in looked.going else ", which had waited"
            for line in self._beside(node, [f"sent generation {generation}{before}"], colour="green"):
                say(line)

    def _failed(self, publishing: Publishing) -> None:
        for node, outcome in sorted(publishing.failed.items()):
            why = getattr(outcome, "why", type(outcome).__name__)
            lines = [f"not sent, and still pending: {visible(str(why))}", "  `mesh push` tries again"]
            for line in self._beside(node, lines, colour="red"):
                say(line)

    def state(self, standing: Standing, generation: int, seconds: float) -> None:
        """How one takes it, in a line."""
        going = how_it_goes(standing, generation)
        what = going.why
        if going.taken:
            what = f"{going.state if going.ended else 'taken'} after {seconds:.0f} s"
            what += f"   {going.why}" if going.why else ""
        for line in self._beside(standing.node, [visible(what)]):
            say(line)

    def ended(self) -> None:
        """Everything is said."""

    def _last(self, *, dry_run: bool) -> None:
        words = {"sent": "would be sent" if dry_run else "sent"}
        counts = {word: self._counts[word] for word in _IN_ORDER if self._counts[word] > 0}
        parts = [f"{count} {words.get(word, word)}" for word, count in counts.items()]
        say(", ".join(parts) or "there is nothing to send")
        if dry_run and self._counts["sent"]:
            say("nothing was sent: --dry-run")

    def _beside(self, node: str, lines: list[str], colour: str | None = None) -> list[str]:
        first, *more = lines
        told = styled(first, colour) if colour else first
        return [f"{node.ljust(self._width)}  {told}", *(f"{' ' * self._width}  {line}" for line in more)]


_IN_ORDER = ("sent", "pending", "waiting", "refused", "unchanged")
"""What there is to count, as it is told."""


def _word(outcome: Outcome) -> str:
    match outcome:
        case Send():
            return "sent"
        case Held():
            return "waiting"
        case TurnedDown():
            return "refused"
        case Unchanged():
            return "unchanged"
        case NothingToSay():
            return ""
        case _:
            assert_never(outcome)


def _move(move: Any) -> str:
    return (
        f"{move.after.provision} from {move.before.node} ({move.before.module}) to {move.after.node} "
        f"({move.after.module})"
    )


class _Objects:
    """One JSON object a line."""

    counts = False

    def at_work(self) -> AbstractContextManager[None]:
        return nullcontext()

    def doing(self, what: str) -> None:
        """Whoever reads objects waits for what came of it."""

    def watching(
        self, sent: Mapping[str, int], standings: Mapping[str, Standing]
    ) -> AbstractContextManager[None]:
        return nullcontext()

    def looked(self, looked: Looked, *, dry_run: bool) -> None:
        fingerprint = plan_fingerprint(looked.mesh, looked.found)
        _object({"event": "plan", "plan": fingerprint, "dry_run": dry_run})
        for node, outcome in looked.outcomes.items():
            _object({"event": "decided", "node": node, **_outcome_to_data(outcome)})
        for told in _network_notes(looked):
            _object({"event": "network", **note_to_data(told)})

    def published(self, looked: Looked, publishing: Publishing) -> None:
        for node, generation in sorted(publishing.confirmed.items()):
            _object({"event": "sent", "node": node, "generation": generation})
        for node, outcome in sorted(publishing.failed.items()):
            code = type(outcome).__name__.lower()
            _object({"event": "pending", "node": node, "code": code, "why": getattr(outcome, "why", None)})

    def state(self, standing: Standing, generation: int, seconds: float) -> None:
        from mesh_core.wire.said import report_to_data

        report = standing.report
        said = None if report is None else report_to_data(report)
        ended = has_ended(standing, generation)
        _object(
            {
                "event": "state",
                "node": standing.node,
                "generation": generation,
                "ended": ended,
                "seconds": round(seconds, 1),
                "report": said,
            }
        )

    def ended(self) -> None:
        _object({"event": "ended"})


def _network_notes(looked: Looked) -> tuple[Note, ...]:
    """What is amiss in the network with the nodes that are asked for."""
    return concerning(overlay(looked.mesh, looked.found.resolution).notes, looked.outcomes)


def _object(data: dict[str, Any]) -> None:
    say(json.dumps({"format": FORMAT} | data))


def _outcome_to_data(outcome: Outcome) -> dict[str, Any]:
    match outcome:
        case Send():
            sent = outcome.sent
            words = {"allow_removals": sent.allow_removals, "empty": sent.empty}
            meant = [why_to_data(move) for move in outcome.meant]
            return {"outcome": "send", "generation": sent.generation, **words, "moves": meant}
        case Held():
            return {"outcome": "waits", "for": [why_to_data(why) for why in outcome.whys]}
        case TurnedDown():
            return {"outcome": "refused", "keeps": outcome.keeps}
        case Unchanged():
            return {"outcome": "unchanged", "generation": outcome.generation}
        case NothingToSay():
            return {"outcome": "nothing"}
        case _:
            assert_never(outcome)
