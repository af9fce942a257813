"""A mesh-wide claim that moves from a machine that is away: it waits for that machine's own word."""

from __future__ import annotations

from typing import Any

from tests.integration.cli.program import mesh, ok
from tests.integration.push.programs import Machine, Plane, module, node, until


def scheduler() -> dict[str, Any]:
    claims = [{"name": "scheduler", "scope": "mesh"}]
    return module("scheduler", ("/etc/scheduler", "it is here\n"), claims=claims)


def test_the_new_holder_waits_until_the_old_one_has_let_go(plane: Plane) -> None:
    """> A mesh-scoped claim that moves has to be let go before it is taken: a declaration that claims,
    > mesh-wide, what another node's last applied or last sent declaration still holds waits until that node
    > has reported letting go.
    """
    nas, pi = _held_by_nas(plane)
    assert mesh("unassign", "nas", "scheduler").code == 0
    assert mesh("assign", "pi", "scheduler", "--anyway").code == 0
    ran = plane.mesh("push")
    assert ran.code == 4
    assert "pi   waits: scheduler claims 'scheduler' in the whole mesh, and nas has not reported" in ran.out
    _nothing_lets_it_out(plane, pi)
    with plane.serving():
        assert nas.once().code == 0
        assert nas.text("/etc/scheduler") is None
        until(lambda: plane.stands("nas") == (2, 2, "applied"), "nas has reported letting go")
        assert plane.mesh("push").code == 0
        assert pi.once().code == 0
        assert pi.text("/etc/scheduler") == "it is here\n"
        until(lambda: plane.stands("pi") == (2, 2, "applied"), "pi has it")


def _held_by_nas(plane: Plane) -> tuple[Machine, Machine]:
    """Both have something; nas has the claim as well, and is away from now on."""
    base = module("base", ("/etc/base", "base\n"))
    plane.has([base, scheduler()], [node("nas", "base", "scheduler"), node("pi", "base")])
    assert mesh("push").code == 0
    machines = plane.machine("nas"), plane.machine("pi")
    for machine in machines:
        assert machine.once().code == 0
    assert mesh("collect").code == 0
    assert plane.stands("nas") == plane.stands("pi") == (1, 1, "applied")
    return machines


def _nothing_lets_it_out(plane: Plane, pi: Machine) -> None:
    """> A refusal has written nothing. `--anyway` records it all the same.

    That is said of the mesh, and sends nothing. A push has no such word, and with all others the claim stays.
    """
    assert mesh("assign", "pi", "scheduler", "--anyway").code == 0
    assert mesh("push", "--anyway").code == 64
    words = ["--allow-removals", "pi", "--move", "pi/scheduler"]
    for more in ([], ["pi"], words):
        assert mesh("push", *more).code == 4
    assert mesh("collect").code == 0
    assert pi.once().code == 0
    assert (pi.generation, pi.text("/etc/scheduler")) == (1, None)


def test_a_store_from_a_backup_knows_by_the_report_what_is_still_held(plane: Plane) -> None:
    """> what another node's last applied or last sent declaration still holds waits until that node has
    > reported letting go

    What was applied last was sent by a copy of the store that is lost; the report has its modules.
    """
    nas, pi = _held_by_nas(plane)
    ok("backup", "yesterday.db")
    plane.has([module("base", ("/etc/base", "newer\n"), version="2")])
    assert mesh("push").code == 0
    assert nas.once().code == 0
    assert mesh("collect").code == 0
    plane.restore("yesterday.db")
    assert nas.once().code == 0
    assert mesh("collect").code == 0
    assert plane.state("nas")["unsent"] == 2
    assert mesh("unassign", "nas", "scheduler").code == 0
    assert mesh("assign", "pi", "scheduler", "--anyway").code == 0
    for _ in range(2):
        assert plane.mesh("push").code == 4, "nas has it still"
    assert pi.once().code == 0
    assert pi.text("/etc/scheduler") is None
    assert nas.once().code == 0
    assert mesh("collect").code == 0
    assert mesh("push").code == 0
    assert pi.once().code == 0
    assert pi.text("/etc/scheduler") == "it is here\n"
