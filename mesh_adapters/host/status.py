"""What `mesh-host status` says, and later a report: plain data, kept in the journal after each run."""

from __future__ import annotations

from typing import Any

from mesh_adapters.host.acting import Event
from mesh_adapters.host.applied import Applied
from mesh_adapters.host.checking import Checked
from mesh_adapters.host.kind import Done


def status_of(applied: Applied) -> dict[str, Any]:
    """The outcome of a run as plain data; codes beside prose (`action`, `outcome`, `why`)."""
    return {
        "node": applied.node,
        "generation": applied.generation,
        "state": "applied" if applied.well else "failed",
        "actions": [event_to_data(event) for event in applied.events],
        "troubles": [
            {"identity": t.identity, "modules": list(t.modules), "why": t.why} for t in applied.troubles
        ],
        "checks": [checked_to_data(checked) for checked in applied.checks],
    }


def event_to_data(event: Event) -> dict[str, Any]:
    """One action and what came of it."""
    data = {
        "action": event.action.act.value,
        "identity": event.action.identity,
        "modules": list(event.modules),
        "outcome": _OUTCOMES[type(event.acted).__name__],
    }
    if isinstance(event.acted, Done):
        return data | {"notes": list(event.acted.notes)} if event.acted.notes else data
    return data | {"why": event.acted.why}


_OUTCOMES = {"Done": "done", "Failed": "failed", "StillNeeded": "still-needed", "LeftAlone": "left"}


def checked_to_data(checked: Checked) -> dict[str, Any]:
    """One check, and whether it passed."""
    return {
        "module": checked.module,
        "kind": checked.kind,
        "passed": checked.passed,
        "detail": checked.detail,
    }
