"""The catalogue as people see it, and as plain data."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from mesh_cli.output import ago, table
from mesh_cli.wiring import now
from mesh_core.explain.builds import STATES, build_to_data, came, notes, runs, source_has
from mesh_core.explain.words import counted, some
from mesh_core.wire.data import module_to_data
from mesh_core.wire.origins import origin_to_data

if TYPE_CHECKING:
    from mesh_core.analysis.state_of_modules import Running, StateOfModule
    from mesh_core.model.origin import Put


def catalogue_lines(states: Sequence[StateOfModule]) -> tuple[list[str], list[str]]:
    """The table of the catalogue, and what is to be said beside it."""
    at = now()
    rows = [
        [
            state.name,
            "-" if state.put is None else state.put.manifest.version,
            "-" if state.put is None else came(state.put.origin, state.put.at, lambda then: ago(then, at)),
            delivery(state),
            some(on(state)) or "-",
        ]
        for state in states
    ]
    return table(rows, ["MODULE", "VERSION", "FROM", "STATE", "ON"]), beside(states)


def delivery(state: StateOfModule) -> str:
    """How a module stands to its source; nothing where it has none."""
    return STATES[state.delivery] if state.source is not None else "-"


MANY = 8
"""Modules without a source that run: more of them would push the machines out of sight."""


def status_lines(states: Sequence[StateOfModule]) -> list[str]:
    """The table that `mesh status` begins with: what is in the catalogue against what sources have.

    Modules without a source are only counted where they run nowhere, or there are many of them.
    """
    plain = [state for state in states if state.source is None and not state.held]
    many = sum(bool(state.on) for state in plain) > MANY
    told = [state for state in states if state not in plain or (state.on and not many)]
    rows = [
        [state.name, runs(state), source_has(state), STATES[state.delivery], some(on(state)) or "-"]
        for state in told
    ]
    lines = table(rows, ["MODULE", "RUNS", "SOURCE HAS", "STATE", "ON"]) if rows else []
    if len(told) < len(states) and (rows or many):
        others = counted(len(states) - len(told), "module")
        which = "without a source" if many else "without a source that no machine runs"
        lines.append(f"{'and ' if rows else ''}{others} {which}: mesh module list")
    return lines


def beside(states: Iterable[StateOfModule]) -> list[str]:
    """What is to be said of modules that is no table: repositories out of reach, what is held or underway."""
    at = now()
    return [line for state in states for line in notes(state, lambda then: ago(then, at))]


def on(state: StateOfModule) -> list[str]:
    """The machines that run it; one that runs another manifest than the catalogue has says so."""
    return [f"{one.node}{_but(one)}" for one in state.on]


def _but(one: Running) -> str:
    if one.failed:
        return " (failed)"
    return " (another one)" if one.current is False else ""


def module_facts(state: StateOfModule, planned_on: list[str]) -> dict[str, Any]:
    """A module of the catalogue as plain data."""
    put = state.put
    manifest = {"name": state.name} if put is None else module_to_data(put.manifest)
    return manifest | {
        "planned_on": planned_on,
        "from": None if put is None else origin_to_data(put.origin),
        "since": None if put is None else put.at,
        "state": state.delivery.value,
        "head": None if state.seen.head is None else state.seen.head.id,
        "head_at": state.seen.head_at,
        "on": [{"node": one.node, "current": one.current, "failed": one.failed} for one in state.on],
        "held": None if state.held is None else build_to_data(state.held),
        "underway": None if state.underway is None else build_to_data(state.underway),
    }


def put_rows(puts: Iterable[Put]) -> list[list[str]]:
    """A line for each manifest that ever was current, with where it came from."""
    at = now()
    return [["current" if put.current else "was current", _put_line(put, at)] for put in puts]


def _put_line(put: Put, at: str) -> str:
    return f"{put.manifest.version}  {came(put.origin, put.at, lambda then: ago(then, at))}"


def put_facts(put: Put) -> dict[str, Any]:
    """The same as plain data."""
    return {
        "version": put.manifest.version,
        "at": put.at,
        "current": put.current,
        "from": origin_to_data(put.origin),
    }
