"""What a push says line by line: who is sent what, who waits for what, and how the machines take it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, assert_never

from mesh_cli.output import note, say, styled, visible
from mesh_cli.render.network import amiss
from mesh_cli.render.network import notes as network_notes
from mesh_cli.render.plan import PlanView
from mesh_cli.render.push.teller import Teller
from mesh_core.explain.push import how_it_goes, why_it_waits
from mesh_core.push import Held, NothingToSay, Outcome, Send, TurnedDown, Unchanged

if TYPE_CHECKING:
    from mesh_cli.wiring_flows import Looked, Publishing
    from mesh_core.model.sent import Standing

_IN_ORDER = ("sent", "pending", "waiting", "refused", "unchanged")
"""What there is to count, as it is told."""


class Lines(Teller):
    """Plain lines, one after the other. Nothing is said that is not so any more a moment later."""

    def __init__(self) -> None:
        self._width = 0
        self._counts: Counter[str] = Counter()

    def looked(self, looked: Looked, *, dry_run: bool) -> None:
        """Who waits for what, and who is refused and why."""
        self._width = max(map(len, looked.outcomes), default=0)
        for node, outcome in looked.outcomes.items():
            say(self._of(node, outcome, dry_run=dry_run))
        refused = {node for node, outcome in looked.outcomes.items() if isinstance(outcome, TurnedDown)}
        if refused:
            say(PlanView(looked.mesh, looked.found, {}).refused(refused))
        note(network_notes(looked.mesh, amiss(looked.mesh, looked.found.resolution, looked.outcomes)))
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
