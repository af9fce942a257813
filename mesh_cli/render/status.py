"""How the state of nodes looks: one table, what it comes to, and what to do next."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mesh_cli.output import seconds_since, styled, table, visible
from mesh_core.analysis.state_of_nodes import NodeState, Since, StateOfNode, Waiting
from mesh_core.explain.state_of_nodes import (
    next_step,
    state_to_data,
    state_word,
    summary,
    waiting_to_data,
    whys,
)
from mesh_core.explain.words import counted, span

HEAD = ["WANTS", "HAS", "STATE", "LAST SEEN"]
"""What `cells` are called."""
SHOWN = 3
"""Lines of why that a table has for one node; asked for by name, a node shows all."""

_COLOURS = {
    NodeState.APPLIED: "green",
    NodeState.FAILED: "red",
    NodeState.REFUSED: "red",
    NodeState.DRIFTED: "yellow",
    NodeState.WAITING: "yellow",
    NodeState.SILENT: "yellow",
}


def since(now: str) -> Since:
    """Seconds from an instant to `now`, both as a store keeps them."""
    return lambda then: seconds_since(then, now)


def cells(one: StateOfNode) -> list[str]:
    """What a node wants, has, its state, and when it was last seen."""
    seen = "-" if one.seconds is None else span(one.seconds)
    return [number(one.wants), number(one.has), state_word(one.state), seen]


def rows_of(one: StateOfNode) -> list[list[str]]:
    """The same of one node below each other, each with its name, and every line of why."""
    wants, has, state, seen = cells(one)
    rows = [["wants", wants], ["has", has], ["state", state], ["last seen", seen]]
    rows += [["why", line] for line in whys(one)]
    rows.append(["runs", ", ".join(one.modules) or "-"])
    return rows


def lines(states: Sequence[StateOfNode], waiting: Waiting | None, *, everything: bool = False) -> list[str]:
    """The table, how many nodes are in which state, and what to do next.

    `waiting` is None where nobody asked the broker; with `everything` no line of why is left out.
    """
    if not states:
        return ["there are no nodes yet; add one: mesh node add NAME"]
    told = [*_table(states, everything=everything), "", summary(states)]
    step = next_step(states, waiting)
    return [*told, step] if step else told


def line(one: StateOfNode) -> str:
    """A node's state in one line, for who watches: all but when it was seen, which changes without news."""
    wants, has, state, _ = cells(one)
    why = "; ".join(_first(one, everything=False))
    told = f"{one.node}  wants {wants}, has {has}: {state}"
    return visible(f"{told}   {why}" if why else told)


def to_data(states: Mapping[str, StateOfNode], waiting: Waiting | None) -> dict[str, Any]:
    """The same as plain data; what waits at the broker is left out where nobody asked."""
    nodes = {name: state_to_data(one) for name, one in states.items()}
    return {"nodes": nodes} | ({} if waiting is None else {"waiting": waiting_to_data(waiting)})


def _table(states: Sequence[StateOfNode], *, everything: bool) -> Iterator[str]:
    """Its lines; the state is coloured afterwards, since a cell is only text."""
    rows: list[list[str]] = []
    coloured: list[NodeState | None] = []
    for one in states:
        first, *more = _first(one, everything=everything) or [""]
        rows += [[one.node, *cells(one), first], *(["", "", "", "", "", line] for line in more)]
        coloured += [one.state, *(None for _ in more)]
    head, *body = table(rows, ["NODE", *HEAD, "WHY"])
    yield head
    at = head.index("STATE")
    for text, state in zip(body, coloured, strict=True):
        yield text if state is None else _coloured(text, at, state)


def _coloured(text: str, at: int, state: NodeState) -> str:
    word, colour = state_word(state), _COLOURS.get(state)
    end = at + len(word)
    return text if colour is None else f"{text[:at]}{styled(word, colour)}{text[end:]}"


def _first(one: StateOfNode, *, everything: bool) -> list[str]:
    """The lines of why that are shown."""
    told = list(whys(one))
    if everything or len(told) <= SHOWN + 1:
        return told
    return [*told[:SHOWN], f"{counted(len(told) - SHOWN, 'more line')}: mesh status {one.node}"]


def number(generation: int | None) -> str:
    """A generation, where there is one."""
    return "-" if generation is None else str(generation)
