"""What a push says to programs: one JSON object a line."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, assert_never

from mesh_cli.output import FORMAT, say
from mesh_cli.render.network import amiss
from mesh_cli.render.push.teller import Teller
from mesh_core.explain.network import note_to_data
from mesh_core.explain.push import why_to_data
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


class Objects(Teller):
    """One JSON object a line. Whoever reads objects waits for what came of it."""

    def looked(self, looked: Looked, *, dry_run: bool) -> None:
        """The plan, what was decided for each node, and what is amiss in the network."""
        fingerprint = plan_fingerprint(looked.mesh, looked.found)
        _object({"event": "plan", "plan": fingerprint, "dry_run": dry_run})
        for node, outcome in looked.outcomes.items():
            _object({"event": "decided", "node": node, **_outcome_to_data(outcome)})
        for told in amiss(looked.mesh, looked.found.resolution, looked.outcomes):
            _object({"event": "network", **note_to_data(told)})

    def published(self, looked: Looked, publishing: Publishing) -> None:
        """Who was sent what, and who not."""
        for node, generation in sorted(publishing.confirmed.items()):
            _object({"event": "sent", "node": node, "generation": generation})
        for node, outcome in sorted(publishing.failed.items()):
            code = type(outcome).__name__.lower()
            _object({"event": "pending", "node": node, "code": code, "why": getattr(outcome, "why", None)})

    def state(self, standing: Standing, generation: int, seconds: float) -> None:
        """How one takes it: its report, whole."""
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
        """The last line."""
        _object({"event": "ended"})


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
