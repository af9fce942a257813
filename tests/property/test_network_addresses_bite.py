"""Each law of addresses fails for what breaks it: each has a fault planted here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from attrs import evolve
from hypothesis import Phase, settings

from mesh_core.change import Attach, Change, DropNode, PutNode, SetNetwork, apply_all
from mesh_core.model.mesh import Mesh
from mesh_core.model.network import Attachment, Network
from mesh_core.network.addresses import addressed, moving
from mesh_core.testing.laws.addresses import (
    ADDRESS_LAWS,
    AddressCheck,
    Addresses,
    Giving,
    Moving,
    check_everybody_has_one,
    check_moving,
    check_names_say_only_who_is_first,
    check_none_is_used_again,
    check_whoever_has_one_keeps_it,
)

QUICK = settings(max_examples=1000, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
Changes = Iterable[Change]
GIVING: list[tuple[AddressCheck, str, Addresses]] = []


def gives(*checks: AddressCheck) -> Callable[[Giving], Giving]:
    """Enter what gives addresses wrongly under the laws that have to notice it."""

    def entered(faulty: Giving) -> Giving:
        bad = Addresses(addressed=faulty, moving=moving)
        GIVING.extend((check, getattr(faulty, "__name__", ""), bad) for check in checks)
        return faulty

    return entered


def moves(faulty: Moving) -> Moving:
    bad = Addresses(addressed=addressed, moving=faulty)
    GIVING.append((check_moving, getattr(faulty, "__name__", ""), bad))
    return faulty


def forgotten(mesh: Mesh) -> Mesh:
    """Nothing is known to have been let go."""
    return evolve(mesh, network=mesh.network and evolve(mesh.network, retired=()))


def turned_round(mesh: Mesh) -> Mesh:
    assert mesh.network is not None
    return evolve(mesh, network=evolve(mesh.network, retired=mesh.network.retired[::-1]))


@gives(check_everybody_has_one)
def gives_none(mesh: Mesh, changes: Changes) -> tuple[Change, ...]:
    return tuple(changes)


@gives(check_everybody_has_one)
def gives_nobody_who_waits_for_one(mesh: Mesh, changes: Changes) -> tuple[Change, ...]:
    changes = tuple(changes)
    return changes if any(isinstance(c, DropNode) for c in changes) else addressed(mesh, changes)


@gives(check_everybody_has_one)
def never_gives_what_was_somebodys(mesh: Mesh, changes: Changes) -> tuple[Change, ...]:
    retired = mesh.network.retired if mesh.network else ()

    def without(change: Change) -> Change:
        if not isinstance(change, PutNode) or change.node.network.address not in retired:
            return change
        return PutNode(node=evolve(change.node, network=evolve(change.node.network, address=None)))

    given = [without(change) for change in addressed(mesh, changes)]
    return tuple(c for c in given if not isinstance(c, Attach) or c.network.address not in retired)


@gives(check_whoever_has_one_keeps_it)
def closes_the_gaps(mesh: Mesh, changes: Changes) -> tuple[Change, ...]:
    """Who comes later moves up where somebody goes."""
    done = addressed(mesh, changes)
    gone = [c.node for c in done if isinstance(c, DropNode)]
    after = apply_all(mesh, done)
    if not gone or not after.nodes:
        return done
    last, free = after.nodes[-1], mesh.node(gone[0])
    assert free is not None
    moved = evolve(last.network, address=free.network.address or last.network.address)
    taken = [n for n in after.nodes if n.network.address == moved.address]
    return done if taken else (*done, Attach(node=last.name, network=moved))


@gives(check_whoever_has_one_keeps_it)
def attaches_as_nothing_else(mesh: Mesh, changes: Changes) -> tuple[Change, ...]:
    changes = tuple(changes)
    bare = [
        Attach(node=c.node, network=Attachment(address=c.network.address)) if isinstance(c, Attach) else c
        for c in addressed(mesh, changes)[len(changes) :]
    ]
    return (*addressed(mesh, changes)[: len(changes)], *bare)


@gives(check_none_is_used_again)
def uses_the_lowest_that_is_free(mesh: Mesh, changes: Changes) -> tuple[Change, ...]:
    changes = tuple(changes)
    done = addressed(forgotten(mesh), changes)
    return done if any(isinstance(c, PutNode) for c in changes) else addressed(mesh, changes)


@gives(check_none_is_used_again)
def uses_the_last_that_was_let_go(mesh: Mesh, changes: Changes) -> tuple[Change, ...]:
    return addressed(turned_round(mesh), changes)


@gives(check_none_is_used_again)
def forgets_who_had_what(mesh: Mesh, changes: Changes) -> tuple[Change, ...]:
    done = addressed(mesh, changes)
    network = forgotten(apply_all(mesh, done)).network
    return done if any(isinstance(c, SetNetwork) for c in done) else (*done, SetNetwork(network=network))


@gives(check_names_say_only_who_is_first)
def first_come_first_served(mesh: Mesh, changes: Changes) -> tuple[Change, ...]:
    done: tuple[Change, ...] = ()
    for change in changes:
        done = (*done, *addressed(apply_all(mesh, done), [change]))
    return done


@gives(check_names_say_only_who_is_first)
def the_last_name_first(mesh: Mesh, changes: Changes) -> tuple[Change, ...]:
    """Each has what is another's turn."""
    done = list(addressed(mesh, changes))
    puts = [c for c in done if isinstance(c, PutNode)]
    backwards = iter(reversed([put.node.network.address for put in sorted(puts, key=lambda p: p.node.name)]))
    swapped = {
        put.node.name: evolve(put.node, network=evolve(put.node.network, address=next(backwards)))
        for put in sorted(puts, key=lambda p: p.node.name)
    }
    return tuple(PutNode(node=swapped[c.node.name]) if isinstance(c, PutNode) else c for c in done)


@moves
def everybody_moves(mesh: Mesh, network: Network | None) -> tuple[Change, ...]:
    if network is None or mesh.network is None:
        return moving(mesh, network)
    bare = [Attach(node=n.name, network=evolve(n.network, address=None)) for n in mesh.nodes[::-1]]
    bared = apply_all(mesh, bare)
    return (*bare, *moving(forgotten(bared), network))


@moves
def forgets_what_was_let_go(mesh: Mesh, network: Network | None) -> tuple[Change, ...]:
    return moving(forgotten(mesh), network)


@moves
def only_says_the_network(mesh: Mesh, network: Network | None) -> tuple[Change, ...]:
    clears = [Attach(node=n.name, network=evolve(n.network, address=None)) for n in mesh.nodes if network]
    return (*clears, SetNetwork(network=network))


@moves
def leaves_the_addresses_of_none(mesh: Mesh, network: Network | None) -> tuple[Change, ...]:
    """They are attached again as they were."""
    again = [Attach(node=n.name, network=n.network) for n in mesh.nodes]
    return (*moving(mesh, network), *again) if network is None else moving(mesh, network)


@pytest.mark.parametrize(
    ("check", "name", "bad"), GIVING, ids=[f"{c.__name__}-{name}" for c, name, _ in GIVING]
)
def test_a_fault_breaks_its_law_of_addresses(check: AddressCheck, name: str, bad: Addresses) -> None:
    with pytest.raises(AssertionError, match=r"^the network \("):
        check(bad, QUICK)


def test_each_law_has_a_fault() -> None:
    assert {check for check, _, _ in GIVING} == {*ADDRESS_LAWS}
