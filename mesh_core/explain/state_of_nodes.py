"""How it stands with nodes, in sentences and as plain data (design, parts 6, 10 and 11)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

from mesh_core.analysis.state_of_nodes import NodeState, Reason, StateOfNode, Waiting
from mesh_core.explain.headline import headline
from mesh_core.explain.material import headline as material_headline
from mesh_core.explain.words import counted, some
from mesh_core.model.material import MaterialFault
from mesh_core.model.said import Doing


def state_word(state: NodeState) -> str:
    """A state as people read it."""
    return state.value.replace("-", " ")


def whys(one: StateOfNode) -> tuple[str, ...]:
    """Why its state is what it is: what is known here, then the host's own words, then who else speaks."""
    return tuple(_whys(one))


def _whys(one: StateOfNode) -> Iterator[str]:
    if one.refusals:
        yield _refused(one)
    yield from _what_waits(one)
    if one.unsent is not None:
        yield (
            f"it was sent {one.unsent}, and not by this store: the store is an older copy,"
            " or the node was added again since; the next push goes on from there"
        )
    yield from _its_words(one)
    if one.strangers:
        speak = counted(len(one.strangers), "other machine speaks", "other machines speak")
        yield f"{speak} under its name, and nothing is sent there: {some(one.strangers)}"
    if one.clock is not None:
        yield _clocks(one)


def _clocks(one: StateOfNode) -> str:
    """Both instants: which of the two clocks is wrong a person sees at once."""
    return (
        f"its clock or the one here is wrong: its report was taken in at {one.heard_at},"
        f" and says that it was sent at {one.said_at}"
    )


def _refused(one: StateOfNode) -> str:
    """The first reason; `mesh plan` has them all, with what would mend them."""
    first, *others = one.refusals
    before = "" if one.state is NodeState.REFUSED else "refused: "
    more = f", and {counted(len(others), 'more problem')}" if others else ""
    keeps = "" if one.taken is None and one.wants is None else "; keeps what it has"
    return f"{before}{_reason(first)}{more} (`mesh plan {one.node}`){keeps}"


def _reason(reason: Reason) -> str:
    return material_headline(reason) if isinstance(reason, MaterialFault) else headline(reason)


def _what_waits(one: StateOfNode) -> Iterator[str]:
    """What it has not taken, and what it is that has to happen before."""
    if one.pending:
        yield f"{one.wants} is not at the broker yet; `mesh push` sends it"
    if one.turned_down is not None:
        keeps = "and keeps what it has" if one.taken is None else f"and keeps {one.taken}"
        yield f"it refused {one.turned_down}, {keeps}"
    if one.state is NodeState.NEVER_SEEN and one.wants is not None:
        yield f"gets {one.wants} when it joins"
    elif one.state is NodeState.SILENT and one.to_take is not None:
        yield f"gets {one.to_take} when it returns"
    elif one.state is NodeState.WAITING and not one.pending:
        yield _waits(one)


def _waits(one: StateOfNode) -> str:
    if one.said is None:
        return "it has started, and has not reported yet"
    if one.to_take is not None:
        return f"has not taken {one.to_take} yet"
    return f"has taken {one.wants}, and has not said how it went"


def _its_words(one: StateOfNode) -> Iterator[str]:
    """What the host said last; where that may not be so any more, with how it put it."""
    if one.state in (NodeState.SILENT, NodeState.WAITING) and one.said not in (None, Doing.APPLIED):
        yield f"last said: {one.said}"
    yield from one.why
    if one.left_out:
        yield f"{counted(one.left_out, 'more line')} did not fit into its report"
    if one.healthy is False and not one.why:
        yield "not all of its checks pass"


def summary(states: Collection[StateOfNode]) -> str:
    """How many nodes are in which state: `2 applied, 1 failed, 1 silent`; the well ones first."""
    counts = Counter(one.state for one in states)
    told = [f"{counts[state]} {state_word(state)}" for state in reversed(NodeState) if counts[state]]
    return ", ".join(told)


def next_step(states: Collection[StateOfNode], waiting: Waiting | None) -> str:
    """What to do next, where there is something. `waiting` is None where nobody asked the broker."""
    pending = [one.node for one in states if one.pending]
    if pending:
        has = counted(len(pending), "node has", "nodes have")
        return f"{has} something that is not at the broker yet: {some(pending)}.      Next: mesh push"
    if waiting is not None and waiting.nodes:
        of = counted(len(waiting.nodes), "node")
        least = "" if waiting.all_asked else "at least "
        return f"reports of {least}{of} wait at the broker: {some(waiting.nodes)}.      Next: mesh collect"
    if waiting is not None and waiting.why_not is not None:
        return f"what waits at the broker is not known: {waiting.why_not}"
    known = waiting is not None and waiting.all_asked
    if not known and any(one.state is NodeState.SILENT for one in states):
        return "If `mesh serve` does not run, reports may wait at the broker.      Next: mesh collect"
    if states and all(one.wants is None and one.seen_at is None for one in states):
        return "Nothing was sent to any of them yet.      Next: mesh push"
    return ""


def waiting_to_data(waiting: Waiting) -> dict[str, Any]:
    """What waits at the broker as plain data."""
    return {"nodes": list(waiting.nodes), "all_asked": waiting.all_asked, "why_not": waiting.why_not}


def state_to_data(one: StateOfNode) -> dict[str, Any]:
    """The same as plain data. `why` has every line; `problems` the codes of what the mesh refuses it for."""
    silent = one.state is NodeState.SILENT and one.seconds is not None
    return {
        "wants": one.wants,
        "has": one.has,
        "state": one.state.value,
        "seen_at": one.seen_at,
        **({"silent_for": int(one.seconds or 0)} if silent else {}),
        "why": list(whys(one)),
        "left_out": one.left_out,
        "pending": one.pending,
        "modules": list(one.modules),
        "strangers": list(one.strangers),
        "healthy": one.healthy,
        "problems": [_code(reason) for reason in one.refusals],
        "turned_down": one.turned_down,
        "unsent": one.unsent,
        "clock": one.clock.value if one.clock is not None else None,
    }


def _code(reason: Reason) -> str:
    return "material" if isinstance(reason, MaterialFault) else reason.code
