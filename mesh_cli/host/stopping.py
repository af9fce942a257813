"""Ctrl-c during a run: what is in hand is brought to its end first; a second one stops at once."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from mesh_cli.output import note


@contextmanager
def between() -> Iterator[Callable[[], bool]]:
    """While this lasts, the first ctrl-c only makes true what is given back, to be asked between two things.

    A package manager that is stopped half-way leaves more to mend than that is worth; a second ctrl-c raises
    `KeyboardInterrupt` at once. Where ctrl-c is ignored (in a shell's background), it stays so.
    """
    asked = False

    def ask(_signal: int, _frame: object) -> None:
        nonlocal asked
        if asked:
            raise KeyboardInterrupt
        asked = True
        note("stopping when what is in hand is done; ctrl-c again stops at once")

    def is_asked() -> bool:
        return asked

    if signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield is_asked
        return
    signal.signal(signal.SIGINT, ask)
    try:
        yield is_asked
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
