"""What a host says in its reports, and of itself, in sentences (design, parts 8 and 11)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from mesh_core.explain.host import (
    CheckTold,
    Outcome,
    Told,
    Untouched,
    drift,
    thing,
    told_from_data,
)
from mesh_core.explain.taking import not_taken
from mesh_core.ports.broker import SetAside, Strange
from mesh_core.reconcile import Act, NotTaken
from mesh_core.wire.faults import Fault

MOST_FAULTS = 20
"""More faults of one declaration than these are counted only."""

_STRANGE = {
    Strange.TOO_LARGE: "what came is larger than a declaration may be ({size} bytes), and was not read",
    Strange.COPIED: "what came asks to be copied elsewhere, which nothing of the mesh does, and was not read",
    Strange.UNSIGNED: "what came does not say by which account it was sent, and was not read",
}


def set_aside(content: SetAside) -> str:
    """Why a message was not even looked into."""
    return _STRANGE[content.why].format(size=content.size)


def malformed(faults: Sequence[Fault]) -> tuple[str, ...]:
    """Why what came is no declaration."""
    told = [f"what came is no declaration: {fault}" for fault in faults[:MOST_FAULTS]]
    more = len(faults) - MOST_FAULTS
    return tuple([*told, f"and {more} more faults"] if more > 0 else told)


def unreadable(error: Exception) -> str:
    """That what came brought the reading of it to a stop."""
    return f"what came is no declaration: reading it ended with {type(error).__name__}"


def turned_down(why: NotTaken) -> tuple[str, ...]:
    """Why a declaration was not taken, with what would do, in one line."""
    return ("; ".join(not_taken(why)),)


def refused(lines: Sequence[str]) -> tuple[str, ...]:
    """The same for whoever reads the log of the service."""
    return tuple(f"refused: {line}" for line in lines)


def whys(status: Mapping[str, Any]) -> tuple[str, ...]:
    """A line for each thing of a run that a person wants to hear of. `status` is a run's as plain data.

    First what failed, then what somebody had changed, then checks that do not pass.
    """
    told = [told_from_data(action) for action in status["actions"]]
    failures = [*_failures(told), *_untouched(Untouched(**trouble) for trouble in status["troubles"])]
    if failures:
        failures[-1] += "; the rest is applied"
    drifted = [_drifted(one) for one in told if has_drifted(one)]
    checks = [_check(CheckTold(**check)) for check in status["checks"] if not check["passed"]]
    return tuple(_line(text) for text in (*failures, *drifted, *checks))


def has_drifted(told: Told) -> bool:
    """Whether an action came off that answers what somebody else did."""
    if told.outcome is Outcome.FAILED:
        return False
    return told.act in (Act.PUT_BACK, Act.LEAVE) or told.outcome is Outcome.LEFT


def _failures(told: Sequence[Told]) -> Iterator[str]:
    for one in told:
        if one.outcome is Outcome.FAILED:
            what = thing(one.identity, one.kind)
            why = (one.why or "").removeprefix(f"{what.partition(' ')[2]}: ")  # a path is said once
            yield f"{what}: {why}"


def _untouched(troubles: Iterator[Untouched]) -> Iterator[str]:
    for one in troubles:
        if not one.elsewhere:
            yield f"{thing(one.identity, one.kind)} was not touched: {one.why}"


def _drifted(told: Told) -> str:
    what = thing(told.identity, told.kind)
    if told.outcome is Outcome.LEFT:
        return f"{what} stays, and is the mesh's no more: {told.why}"
    if told.act is Act.LEAVE:
        return f"{what} is no longer declared, and stays: {drift(told)}"
    return f"{what} was put back: {drift(told)}"


def _check(check: CheckTold) -> str:
    return f"{check.module}: its check {check.kind} does not pass: {check.detail}"


def _line(text: str) -> str:
    """Somebody's words as one line that can be written as UTF-8."""
    return " ".join(text.encode("utf-8", "replace").decode().split())


def out_of_reach(outage: str) -> str:
    """That the broker does not do what it should; `outage` is in its words."""
    return f"{outage}; what is declared here is kept up meanwhile, and the broker is tried again"


def in_reach() -> str:
    """That it does again."""
    return "the broker is in reach again"


def no_queue(node: str) -> str:
    """That nothing can come, since the broker knows nothing of this node."""
    return f"the broker has no queue for {node}; it is asked for with a hello, again and again"


def not_saved(why: str) -> str:
    """That what came stays with the broker, since it cannot be kept here."""
    return f"what came cannot be saved, and stays with the broker: {why}"


def not_sent(why: str) -> str:
    """That a report or hello did not arrive for certain."""
    return f"the broker did not take a report: {why}; it is sent again"


def report_too_large(size: int, limit: int) -> str:
    """That a report is too large, whatever is left out of it."""
    return f"a report has {size} bytes and may have {limit}; it is not sent"


def cannot_keep(why: str) -> str:
    """That a declaration was looked at, and not begun, since it cannot be kept."""
    return f"the declaration cannot be kept on this disk, so it was not begun: {why}"


def saved_unreadable(lines: Sequence[str]) -> tuple[str, ...]:
    """That the declaration that is kept here cannot be gone by."""
    return tuple(f"of the declaration that is kept here: {line}" for line in lines)


def stands(generation: int | None, doing: str) -> str:
    """How it stands, in a few words, for whoever looks at the service."""
    return "nothing was declared yet" if generation is None else f"generation {generation}: {doing}"
