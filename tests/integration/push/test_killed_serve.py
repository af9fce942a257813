"""`mesh serve` as a process that is killed while it takes in what machines say, and sends what is pending."""

from __future__ import annotations

import random
import time
from contextlib import closing

import pytest

from mesh_adapters.flows.push import Asked, write_down
from mesh_adapters.store import SqliteStore
from mesh_core.model.said import Report
from mesh_core.ports import Confirmed, HostBroker
from mesh_core.wire.said import report_to_bytes
from tests.integration.cli.program import mesh
from tests.integration.flows.conftest import AT, settle
from tests.integration.push.dying import TAKING_IN
from tests.integration.push.programs import LONG, Plane, motd, node, until

MANY = [f"served-{number:02}" for number in range(12)]
ROUNDS = 4


@pytest.mark.parametrize("at", [*TAKING_IN, "before publishing", "published"])
def test_a_daemon_that_is_killed_at_any_step_loses_nothing(plane: Plane, at: str) -> None:
    """> kill -9 of itself: outbox replays

    > So it may be killed at any time, and everything works without it

    One machine has reported, and is sent nothing; for the other something is pending.
    """
    plane.has([motd(1)], [node("nas", "motd"), node("pi", "motd")])
    assert mesh("push", "nas").code == 0
    nas, pi = plane.machine("nas"), plane.machine()
    assert nas.once().code == 0
    _write_down_only(plane)
    assert plane.state("pi")["pending"]
    plane.killed(at, "serve")
    assert mesh("collect").code == 0
    assert plane.stands("nas") == (1, 1, "applied")
    assert not plane.state("pi")["pending"]
    assert pi.once().code == 0
    assert pi.text("/etc/motd") == "1\n"
    assert mesh("collect").code == 0
    assert plane.stands("pi") == (1, 1, "applied")


@pytest.mark.parametrize("seed", [1])
def test_killed_again_and_again_while_many_report(plane: Plane, seed: int) -> None:
    """> kill -9 of itself: outbox replays

    Whatever moment it is killed at, a new one, or none but `mesh collect`, goes on from there: of each
    machine `mesh status` tells the newest report that the broker confirmed, and what was pending is sent.
    """
    chance = random.Random(seed)
    plane.has([motd(1)], [node(name, "motd") for name in MANY])
    _write_down_only(plane)
    ends = {name: plane.end_of(name) for name in MANY}
    said = dict.fromkeys(MANY, 0)
    for _ in range(ROUNDS):
        with plane.serving() as daemon:
            until_ = time.monotonic() + chance.uniform(0, 0.15)
            while time.monotonic() < until_:
                _report_next(ends, said, chance.choice(MANY))
            daemon.kill()
        for name in chance.sample(MANY, 4):
            _report_next(ends, said, name)  # while there is no daemon
    for end in ends.values():
        end.close()
    assert mesh("collect").code == 0
    _tells_the_truth(plane, said)


def test_a_new_daemon_goes_on_where_a_killed_one_was(plane: Plane) -> None:
    """> the next push, `mesh collect` or `mesh serve` sends it"""
    plane.has([motd(1)], [node("nas", "motd"), node("pi", "motd")])
    assert mesh("push", "nas").code == 0
    nas = plane.machine("nas")
    assert nas.once().code == 0
    _write_down_only(plane)
    plane.killed("committed", "serve")
    with plane.serving():
        until(lambda: plane.stands("nas") == (1, 1, "applied"), "the report is taken in")
        until(lambda: not plane.state("pi")["pending"], "what was pending is sent")


def _write_down_only(plane: Plane) -> None:
    """A push that ended before it published anything."""
    with closing(SqliteStore.open(plane.store)) as store, store.writing() as session:
        write_down(session, Asked(), settle, AT)


def _report_next(ends: dict[str, HostBroker], said: dict[str, int], name: str) -> None:
    """A machine reports once more; its count stands in its report, and the broker has it."""
    said[name] += 1
    report = Report(node=name, machine=name, generation=None, why=[f"report {said[name]}"])
    assert ends[name].report(report_to_bytes(report)) == Confirmed()


def _tells_the_truth(plane: Plane, said: dict[str, int]) -> None:
    for name, count in said.items():
        state = plane.state(name)
        assert (state["wants"], state["pending"]) == (1, False), name
        assert not count or f"report {count}" in state["why"], name
        with closing(plane.end_of(name)) as end:
            delivery = end.take(LONG)
            assert delivery is not None, f"what was pending for {name} is there"
            delivery.ack()
