"""Commands of a build, one after another, within one time for all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

from attrs import frozen

from mesh_adapters.build.sandbox_attend import Bounds, How, Limits, Ran, Tail
from mesh_adapters.build.sandbox_place import Place

RunOne: TypeAlias = Callable[[str, Tail, Bounds], Ran]
"""Runs one command to its end, and ends all that it started."""

_LONGEST_COMMAND = 100


@frozen(kw_only=True)
class Ended:
    """How it ended: `why` not well, None where every command ended with 0; and the last lines that were said.

    `stopped` is whether the builder was asked to stop, so that nothing is said about the build itself.
    """

    why: str | None
    log: tuple[str, ...] = ()
    stopped: bool = False


def in_turn(commands: Sequence[str], seconds: float, place: Place, limits: Limits, run_one: RunOne) -> Ended:
    """Run commands until one does not end well, or the time for all of them is up."""
    tail = Tail(limits)
    bounds = Bounds(until=time.monotonic() + seconds, folder=place.root, limits=limits)
    for number, command in enumerate(commands, start=1):
        tail.add(f"$ {_short(command)}\n".encode())
        ran = run_one(command, tail, bounds)
        if ran.how is not How.BY_ITSELF or ran.code != 0:
            which = f"command {number} of {len(commands)}"
            why = _why(ran, which, command, seconds, bounds)
            return Ended(why=why, log=tail.lines(), stopped=ran.how is How.STOPPED)
    return Ended(why=None, log=tail.lines())


def _why(ran: Ran, which: str, command: str, seconds: float, bounds: Bounds) -> str:
    match ran.how:
        case How.BY_ITSELF if not bounds.has_room():
            return _why(Ran(how=How.NO_ROOM), which, command, seconds, bounds)
        case How.BY_ITSELF:
            how = f"ended with {ran.code}" if ran.code > 0 else f"was ended by signal {-ran.code}"
            return f"{which} {how}: {_short(command)}"
        case How.TIMED_OUT:
            return f"timed out after {seconds:g} s"
        case How.STOPPED:
            return "the builder was asked to stop"
        case How.NO_ROOM:
            left = bounds.limits.free_bytes // 1024**2
            return f"the builder's disk is nearly full: a build must leave {left} MiB of it free"
        case How.NOT_STARTED:
            return f"the sandbox could not be started: {ran.why}"


def _short(command: str) -> str:
    first, *more = command.strip().splitlines()
    return first if not more and len(first) <= _LONGEST_COMMAND else f"{first[:_LONGEST_COMMAND]}..."
