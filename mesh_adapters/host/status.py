"""What `mesh-host status` says, and later a report: plain data, kept in the journal after each run."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, assert_never

from mesh_adapters.host.acting import Event
from mesh_adapters.host.applied import Applied
from mesh_adapters.host.checking import Checked
from mesh_adapters.host.gathering import Trouble
from mesh_adapters.host.kind import Acted, Done, Failed, LeftAlone, StillNeeded
from mesh_core.explain.host import Outcome, changes
from mesh_core.reconcile import Action


def status_of(applied: Applied) -> dict[str, Any]:
    """The outcome of a run as plain data; codes beside prose (`action`, `outcome`, `why`)."""
    return {
        "node": applied.node,
        "generation": applied.generation,
        "state": "applied" if applied.well else "failed",
        "actions": [event_to_data(event) for event in applied.events],
        "troubles": [trouble_to_data(trouble) for trouble in applied.troubles],
        "checks": [checked_to_data(checked) for checked in applied.checks],
    }


def event_to_data(event: Event) -> dict[str, Any]:
    """One action and what came of it."""
    data = action_to_data(event.action, event.modules) | {"outcome": outcome_of(event.acted).value}
    if isinstance(event.acted, Done):
        return data | {"notes": list(event.acted.notes)} if event.acted.notes else data
    return data | {"why": event.acted.why}


def action_to_data(action: Action, modules: Iterable[str]) -> dict[str, Any]:
    """One action, done or not."""
    return {
        "action": action.act.value,
        "identity": action.identity,
        "kind": action.kind,
        "modules": list(modules),
        "because": list(action.because),
        "changes": list(changes(action.observed, action.target)),
        "was_there": action.observed is not None,
    }


def outcome_of(acted: Acted) -> Outcome:
    """What came of it, as a code."""
    match acted:
        case Done():
            return Outcome.DONE
        case Failed():
            return Outcome.FAILED
        case StillNeeded():
            return Outcome.STILL_NEEDED
        case LeftAlone():
            return Outcome.LEFT
        case _:
            assert_never(acted)


def trouble_to_data(trouble: Trouble) -> dict[str, Any]:
    """Something to which nothing was done, and why."""
    return {
        "identity": trouble.identity,
        "kind": trouble.kind,
        "modules": list(trouble.modules),
        "why": trouble.why,
        "elsewhere": trouble.elsewhere,
    }


def checked_to_data(checked: Checked) -> dict[str, Any]:
    """One check, and whether it passed."""
    return {
        "module": checked.module,
        "kind": checked.kind,
        "passed": checked.passed,
        "detail": checked.detail,
    }
