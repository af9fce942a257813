"""How far modules have come, from the commit to each machine: of one module, and of one machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from mesh_cli.output import ago, table
from mesh_cli.render.modules import delivery, put_facts
from mesh_cli.render.status import number
from mesh_cli.wiring import now
from mesh_core.analysis.ladder import OnNode, Rung
from mesh_core.explain.builds import STATES, came, short, source_has
from mesh_core.explain.changes import source
from mesh_core.model.origin import FromBuild

if TYPE_CHECKING:
    from mesh_core.analysis.state_of_modules import StateOfModule
    from mesh_core.model.origin import Put

_RUNGS = {
    Rung.APPLIED: "runs it",
    Rung.SENT: "was sent it, and has not reported that it runs",
    Rung.PENDING: "is to be sent it; no broker has it yet: mesh push",
    Rung.PLANNED: "is to have it: mesh push",
    Rung.LEAVING: "is not to have it any more, and has not let go",
    Rung.KEPT: "is refused, and keeps what it has: mesh plan",
}


def ladder_lines(state: StateOfModule, rungs: Sequence[OnNode]) -> list[str]:
    """The way of a module's last change, from the commit to each machine."""
    at = now()

    def since(then: str) -> str:
        return ago(then, at)

    seen, put = state.seen, state.put
    head = "-" if state.source is None else "nobody has looked yet: mesh source check"
    if seen.head is not None and seen.head_at is not None:
        head = f"{short(seen.head)} of {seen.head.at}, seen {since(seen.head_at)}"
    rows = [
        ["module", state.name],
        ["state", STATES[state.delivery]],
        ["source", "-" if state.source is None else source(state.source)],
        ["commit", head],
        ["catalogue", "-" if put is None else f"{put.manifest.version}, {came(put.origin, put.at, since)}"],
    ]
    if put is not None and isinstance(put.origin, FromBuild):
        rows.append(["artifact", put.origin.artifact.artifact])
    told = table(rows)
    if not rungs:
        return [*told, "no node is to have it"]
    body = [
        [one.node, number(one.wanted), number(one.has), _RUNGS[one.rung], _put(one.runs)] for one in rungs
    ]
    return [*told, "", *table(body, ["NODE", "WANTS", "HAS", "", "RUNS"])]


def _put(put: Put | None) -> str:
    """A manifest by its version, and the commit that it was built from."""
    if put is None:
        return "-"
    built = f" ({short(put.origin.commit)})" if isinstance(put.origin, FromBuild) else ""
    return f"{put.manifest.version}{built}"


def ladder_facts(rungs: Sequence[OnNode]) -> dict[str, Any]:
    """The same as plain data, by node."""
    return {one.node: _facts(one) for one in rungs}


def _facts(one: OnNode) -> dict[str, Any]:
    return {
        "rung": one.rung.value,
        "wants": one.wanted,
        "has": one.has,
        "runs": None if one.runs is None else put_facts(one.runs),
    }


def modules_lines(node: str, found: Sequence[tuple[StateOfModule, OnNode]]) -> list[str]:
    """How far each module of one machine has come."""
    if not found:
        return [f"{node} is to have no module"]
    rows = [
        [
            state.name,
            source_has(state),
            delivery(state),
            _put(state.put),
            _put(one.runs),
            _RUNGS[one.rung],
        ]
        for state, one in found
    ]
    return table(rows, [f"ON {node}", "SOURCE HAS", "STATE", "CATALOGUE", "RUNS", ""])


def modules_facts(found: Sequence[tuple[StateOfModule, OnNode]]) -> dict[str, Any]:
    """The same as plain data, by module."""
    return {state.name: _facts(one) | {"state": state.delivery.value} for state, one in found}
