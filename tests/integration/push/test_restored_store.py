"""A control plane that goes on from yesterday's backup, while its machines are further on."""

from __future__ import annotations

from tests.integration.cli.program import mesh, ok
from tests.integration.push.programs import Machine, Plane, motd, node


def _a_day_on(plane: Plane, pushes: int) -> Machine:
    """A backup at generation 1; the machine comes to generation 1 + `pushes`; then the backup is restored."""
    plane.has([motd(1)], [node("pi", "motd")])
    pi = plane.machine()
    _push_and_apply(pi)
    ok("backup", "yesterday.db")
    for version in range(2, 2 + pushes):
        plane.has([motd(version)])
        _push_and_apply(pi)
    plane.restore("yesterday.db")
    assert (pi.generation, plane.stands("pi")) == (1 + pushes, (1, 1, "applied"))
    return pi


def _push_and_apply(pi: Machine) -> None:
    assert mesh("push").code == 0
    assert pi.once().code == 0
    assert mesh("collect").code == 0


def test_it_says_so_and_goes_on_from_what_it_heard(plane: Plane) -> None:
    """> A control plane that hears of a newer one than it sent has an old store (a backup, say): it says so,
    > and goes on from the one it heard.
    """
    pi = _a_day_on(plane, 3)
    assert pi.once().code == 0
    assert plane.mesh("collect").code == 0
    told = plane.state("pi")
    assert told["unsent"] == 4
    assert "the store is an older copy" in told["why"][0]
    ran = plane.mesh("push")
    assert (ran.code, ran.out.splitlines()[0]) == (0, "pi  sent generation 5")
    assert pi.once().code == 0
    assert (pi.generation, pi.text("/etc/motd")) == (5, "1\n"), "what this store says, and newer than all"
    assert mesh("collect").code == 0
    assert plane.stands("pi") == (5, 5, "applied")
    assert plane.state("pi")["unsent"] is None


def test_pushed_before_anything_was_heard_a_machine_keeps_what_is_newer(plane: Plane) -> None:
    """> refuses one that is [...] of an older generation [...], changes nothing, and says so in a report

    The old store gives numbers again that the machine is past; its refusal tells the store.
    """
    pi = _a_day_on(plane, 3)
    plane.has([motd(9)])
    assert plane.mesh("push").code == 0
    assert "refused" in pi.once().out
    assert (pi.generation, pi.text("/etc/motd")) == (4, "4\n")
    assert mesh("collect").code == 0
    assert plane.state("pi")["unsent"] == 4
    assert mesh("push").code == 0
    assert pi.once().code == 0
    assert (pi.generation, pi.text("/etc/motd")) == (5, "9\n")
    assert mesh("collect").code == 0
    assert plane.stands("pi") == (5, 5, "applied")


def test_a_number_that_was_given_twice_is_no_end(plane: Plane) -> None:
    """> refuses [...] one of the same generation with another digest

    The old store gives the very number again that the machine is at, to something else.
    """
    pi = _a_day_on(plane, 1)
    plane.has([motd(9)])
    assert plane.mesh("push").code == 0
    assert "refused" in pi.once().out
    assert (pi.generation, pi.text("/etc/motd")) == (2, "2\n")
    assert mesh("collect").code == 0
    told = plane.state("pi")
    assert (told["state"], told["unsent"]) == ("refused", 2)
    assert mesh("push").code == 0
    assert pi.once().code == 0
    assert (pi.generation, pi.text("/etc/motd")) == (3, "9\n")
    assert mesh("collect").code == 0
    assert plane.stands("pi") == (3, 3, "applied")
