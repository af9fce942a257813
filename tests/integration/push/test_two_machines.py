"""Two machines with one credential, each with a host of its own, at one queue of a RabbitMQ."""

from __future__ import annotations

from contextlib import ExitStack
from functools import partial

from mesh_adapters.host.agent.identity import machine_id
from mesh_adapters.host.own_place import PLACE
from tests.integration.cli.program import mesh, ok
from tests.integration.push.programs import Event, Machine, Plane, Talking, motd, node, until

EVERY = 0.3
PUSHES = 2
AGAIN = 2


def test_two_machines_of_one_name_end_and_are_told(plane: Plane) -> None:
    """> two machines that answer to one name are told, and the second is given nothing

    > refuses one that is [...] of an older generation [...]

    A queue gives each of two takers every second message, so the second may well get what was meant for the
    first. The first gets it again with its next report; whatever the second got, it never goes back.
    """
    plane.has([motd(1)], [node("pi", "motd")])
    first, second = plane.machine("pi", "first"), plane.machine("pi", "second")
    assert mesh("push").code == 0
    with ExitStack() as ends:
        daemon = ends.enter_context(plane.serving())
        ends.enter_context(first.running(EVERY))
        until(lambda: plane.stands("pi") == (1, 1, "applied"), "the first has the name")
        ends.enter_context(second.running(EVERY))
        until(lambda: plane.state("pi")["strangers"], "the second is told")
        had = [(first.generation, second.generation)]
        for version in range(2, 2 + PUSHES):
            plane.has([motd(version)])
            assert mesh("push").code == 0
            until(partial(_stands, plane, version), f"the first has {version}")
            had.append((first.generation, second.generation))
            assert (first.generation, first.text("/etc/motd")) == (version, f"{version}\n")
        _nothing_is_sent_any_more(daemon)
        had.append((first.generation, second.generation))
    assert had == sorted(had)
    assert [mine for _, mine in had] == sorted(mine for _, mine in had)
    assert second.text("/etc/motd") in (None, f"{second.generation}\n")
    told = ok("status", "pi").out
    assert f"1 other machine speaks under its name, and nothing is sent there: {_id(second)}" in told


def _stands(plane: Plane, version: int) -> bool:
    return plane.stands("pi") == (version, version, "applied")


def _id(machine: Machine) -> str:
    return machine_id(machine.root, machine.root / PLACE)


def _nothing_is_sent_any_more(daemon: Talking) -> None:
    """Both machines go on reporting, and neither is given anything for it."""
    begun = len(daemon.said)  # this round may still answer what the first said before it had the newest
    until(partial(_has, daemon, begun, "reports"), "the first goes on")
    before = len(daemon.said)
    for what in ("reports", "strangers"):
        until(partial(_has, daemon, before, what), f"both go on: {what}")
    assert not _with(daemon.said[before:], "answered")


def _has(daemon: Talking, before: int, what: str) -> bool:
    return len(_with(daemon.said[before:], what)) >= AGAIN


def _with(said: list[Event], what: str) -> list[Event]:
    """The rounds that had something of that."""
    return [event for event in said if event.get(what)]
