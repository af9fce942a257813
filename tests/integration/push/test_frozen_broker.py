"""A RabbitMQ that is frozen: its connections stay open, and it answers nothing."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from contextlib import ExitStack

from tests.integration.cli.program import mesh
from tests.integration.push.programs import Plane, is_stopped, motd, node

LIMIT = 15.0
"""Seconds: > no publish blocks over 15 s"""
STARTS = 10.0
"""Seconds that a program may need to begin, on a machine that has other things to do as well."""


def test_a_frozen_broker_keeps_no_command_waiting(plane: Plane) -> None:
    """> broker frozen, or out of memory: publish fails within 15 s, row pending

    > 5: store, broker or registry out of reach

    All at once, since each waits for its own limit: one push that has written down and is connected, one that
    begins, and a collect.
    """
    plane.has([motd(1)], [node("pi", "motd")])
    with ExitStack() as ends:
        midway = ends.enter_context(plane.dying("before publishing", "STOP", "push"))
        is_stopped(midway)
        plane.server.freeze()
        ends.callback(plane.server.thaw)
        begun = time.monotonic()
        os.kill(midway.pid, signal.SIGCONT)
        others = [ends.enter_context(plane.begun(*words)) for words in (["push"], ["collect"])]
        _gave_up(midway, begun + LIMIT)
        for process in others:
            _gave_up(process, begun + LIMIT + STARTS)
        told = plane.state("pi")
        assert told["pending"]
        assert "1 is not at the broker yet; `mesh push` sends it" in told["why"]
    pi = plane.machine()
    assert mesh("collect").out == "pi: sent generation 1\n"
    assert pi.once().code == 0
    assert mesh("collect").code == 0
    assert plane.stands("pi") == (1, 1, "applied")


def _gave_up(process: subprocess.Popen[bytes], ends: float) -> None:
    _, err = process.communicate(timeout=LIMIT + STARTS)
    assert time.monotonic() < ends
    assert (process.returncode, b"no answer came in time" in err) == (5, True), err.decode()
