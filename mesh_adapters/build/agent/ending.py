"""How the process that builds ends before its build has: with all that it started, and with its builder."""

from __future__ import annotations

import ctypes
import os
import signal
from collections.abc import Callable
from typing import Final

from mesh_adapters.host.commands import become_subreaper, end_others

PATIENCE: Final = 2.0
"""Seconds that it has to end by itself what it started: less than its builder waits."""
_SET_PARENTS_DEATH: Final = 1
_ENDED: Final = 128 + signal.SIGTERM


def end_when_asked(parent: int) -> Callable[[], bool]:
    """From now on SIGTERM asks this process to end, and so does the end of its parent: whether it was asked.

    What does not look whether it was is ended a little later, with every process that it started.
    """
    asked = False

    def ask(_number: int, _frame: object) -> None:
        nonlocal asked
        asked = True
        signal.setitimer(signal.ITIMER_REAL, PATIENCE)

    signal.signal(signal.SIGALRM, _end_now)
    signal.signal(signal.SIGTERM, ask)
    become_subreaper()
    ctypes.CDLL(None, use_errno=True).prctl(_SET_PARENTS_DEATH, int(signal.SIGTERM), 0, 0, 0)
    if os.getppid() != parent:  # it was gone before it could be asked for
        os.kill(os.getpid(), signal.SIGTERM)
    return lambda: asked


def _end_now(_number: int, _frame: object) -> None:
    end_others(frozenset())
    os._exit(_ENDED)
