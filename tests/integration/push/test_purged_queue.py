"""A queue that is there, and whose message is gone: anybody who may read from it may purge it."""

from __future__ import annotations

import os
import signal

from mesh_adapters.broker.topology import declarations_of
from mesh_core.ports import Kind
from tests.integration.cli.program import mesh
from tests.integration.push.programs import Plane, motd, node, until

QUEUE = declarations_of("pi")


def test_a_host_that_starts_later_gets_its_newest_by_its_hello(plane: Plane) -> None:
    """> queue missing or purged: says hello, gets it again"""
    plane.has([motd(1)], [node("pi", "motd")])
    assert mesh("push").code == 0
    assert plane.purge(QUEUE) == 1
    assert plane.state("pi")["pending"] is False, "nobody can know"
    pi = plane.machine()
    with pi.running() as daemon:
        daemon.until(lambda report: report["generation"] is None, "it has nothing")
        until(lambda: "hello" in mesh("collect").out, "its hello is taken in")
        daemon.until(lambda report: report["applied"] == 1, "it got it")
        until(lambda: "applied generation 1" in mesh("collect").out, "its report is taken in")
    assert plane.stands("pi") == (1, 1, "applied")


def test_a_host_that_runs_gets_it_with_its_next_report(plane: Plane) -> None:
    """> queue missing or purged: says hello, gets it again

    One that said hello long ago is given its newest when it reports an older one than it was sent.
    """
    plane.has([motd(1)], [node("pi", "motd")])
    assert mesh("push").code == 0
    first = plane.waiting("pi")
    pi = plane.machine()
    with plane.serving(), pi.running() as daemon:
        until(lambda: plane.stands("pi") == (1, 1, "applied"), "it is at work")
        os.kill(daemon.process.pid, signal.SIGSTOP)
        plane.put("pi", Kind.DECLARATION, first)  # is on its way to it, so that the next waits in the queue
        plane.has([motd(2)])
        assert mesh("push").code == 0
        assert plane.purge(QUEUE) == 1
        os.kill(daemon.process.pid, signal.SIGCONT)
        until(lambda: plane.stands("pi") == (2, 2, "applied"), "it was sent its newest again")
    assert pi.text("/etc/motd") == "2\n"
