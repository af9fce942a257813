"""`mesh push` as a process that is killed, or stopped and continued, at each of its steps over RabbitMQ."""

from __future__ import annotations

import os
import signal

import pytest

from mesh_core.ports import Kind
from tests.integration.cli.program import mesh
from tests.integration.push.dying import DECIDED, PUSHING, WRITTEN_DOWN
from tests.integration.push.programs import LONG, Plane, is_stopped, motd, node, until


@pytest.mark.parametrize("at", PUSHING)
def test_a_push_that_is_killed_at_any_step_loses_nothing(plane: Plane, at: str) -> None:
    """> kill -9 of itself: outbox replays

    > A push that is killed in between leaves it pending: the next push, `mesh collect` or `mesh serve` sends
    > it.
    """
    plane.has([motd(1)], [node("pi", "motd")])
    plane.killed(at, "push")
    wants = None if at == DECIDED else 1
    state = plane.state("pi")
    assert (state["wants"], state["pending"]) == (wants, wants is not None and at != "marked")
    pi = plane.machine()
    assert mesh("push" if at == DECIDED else "collect").code == 0
    assert plane.state("pi")["pending"] is False
    assert pi.once().code == 0
    assert pi.text("/etc/motd") == "1\n"
    assert mesh("collect").code == 0
    assert plane.stands("pi") == (1, 1, "applied")
    assert mesh("push").out == "1 unchanged\n"


@pytest.mark.parametrize("at", [WRITTEN_DOWN, "before publishing", "published"])
def test_of_two_pushes_that_overlap_the_newer_is_what_a_host_gets(plane: Plane, at: str) -> None:
    """> Two pushes at once end with the newer generation.

    > a newest-only queue keeps the newest *arrival*: a push that was held up can leave generation 42 behind
    > 43, so: whoever has published looks at the node's newest generation again

    Nothing takes anything in before the host has started: what waits at the broker has to be the newer.
    """
    plane.has([motd(1)], [node("pi", "motd")])
    with plane.dying(at, "STOP", "push") as held_up:
        is_stopped(held_up)
        plane.has([motd(2)])
        assert plane.mesh("push").code == 0
        os.kill(held_up.pid, signal.SIGCONT)
        assert held_up.wait(LONG) == 0
    pi = plane.machine()
    assert pi.once().code == 0
    assert (pi.generation, pi.text("/etc/motd")) == (2, "2\n")
    assert mesh("collect").code == 0
    assert plane.stands("pi") == (2, 2, "applied")


def test_an_older_one_that_a_killed_push_left_behind_a_newer_is_mended(plane: Plane) -> None:
    """> refuses one that is [...] of an older generation [...], changes nothing, and says so in a report

    The push that was held up was killed as soon as its older one had arrived: nobody looked again. A host
    that starts then is given the newer by the next round that hears of it; one that has the newer keeps it.
    """
    plane.has([motd(1)], [node("pi", "motd")])
    assert mesh("push").code == 0
    older = plane.waiting("pi")
    plane.has([motd(2)])
    assert mesh("push").code == 0
    plane.put("pi", Kind.DECLARATION, older)
    pi = plane.machine()
    assert pi.once().code == 0
    assert pi.generation == 1
    assert mesh("collect").code == 0
    assert pi.once().code == 0
    assert (pi.generation, pi.text("/etc/motd")) == (2, "2\n")
    plane.put("pi", Kind.DECLARATION, older)
    assert "refused" in pi.once().out
    assert (pi.generation, pi.text("/etc/motd")) == (2, "2\n")


def test_a_host_at_work_that_is_left_an_older_one_gets_the_newest_at_once(plane: Plane) -> None:
    """> a newest-only queue keeps the newest *arrival*: a push that was held up can leave generation 42
    > behind 43

    What the host turns down is older than what it was sent, so its refusal is answered with the newest.
    """
    plane.has([motd(1)], [node("pi", "motd")])
    assert mesh("push").code == 0
    older = plane.waiting("pi")
    plane.has([motd(2)])
    assert mesh("push").code == 0
    pi = plane.machine()
    with plane.serving(), pi.running() as daemon:
        until(lambda: plane.stands("pi") == (2, 2, "applied"), "it is at work")
        os.kill(daemon.process.pid, signal.SIGSTOP)
        plane.put("pi", Kind.DECLARATION, older)  # this is on its way to it already
        plane.has([motd(3)])
        assert mesh("push").code == 0
        plane.put("pi", Kind.DECLARATION, older)  # and this is in the newest's place
        os.kill(daemon.process.pid, signal.SIGCONT)
        until(lambda: plane.stands("pi") == (3, 3, "applied"), "it has the newest")
    assert pi.text("/etc/motd") == "3\n"
