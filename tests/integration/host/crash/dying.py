"""A run in a child process that is killed at its first step, or its second, and so on."""

from __future__ import annotations

import os
import signal
import traceback
import warnings
from collections.abc import Callable

from mesh_adapters.host.steps import Step

KILLED = -signal.SIGKILL


class ChildFailed(AssertionError):
    """What the child did raised, with the traceback."""


def dies_at(number: int, run: Callable[[Step], object]) -> str | None:
    """The name of the step at which a child that does `run` was killed; None where it got through."""
    reading, writing = os.pipe()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # the child has one thread, and runs no other
        child = os.fork()
    if child == 0:
        os.close(reading)
        _be_the_child(number, run, writing)
    os.close(writing)
    with os.fdopen(reading, "rb") as said:
        words = said.read().decode()
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, KILLED):
        raise ChildFailed(words)
    return words if code == KILLED else None


def _be_the_child(number: int, run: Callable[[Step], object], writing: int) -> None:
    seen = 0

    def step(name: str) -> None:
        nonlocal seen
        seen += 1
        if seen == number:
            os.write(writing, name.encode())
            os.kill(os.getpid(), signal.SIGKILL)

    try:
        run(step)
        os._exit(0)
    except BaseException:
        os.write(writing, traceback.format_exc().encode())
        os._exit(1)


def in_a_child(run: Callable[[], object]) -> str:
    """What a child says where `run` raises, as a traceback; nothing where it does not."""
    try:
        dies_at(0, lambda _step: run())
    except ChildFailed as error:
        return str(error)
    return ""
