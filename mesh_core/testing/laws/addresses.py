"""The laws of addresses in the overlay, as functions of what gives them (design, part 11).

> Addresses are not reused while any free one is left; another range is a command of its own that shows who
> moves.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from ipaddress import ip_address, ip_network
from typing import Protocol, TypeAlias

import hypothesis
from attrs import evolve, frozen

from mesh_core.change import Attach, Change, DropNode, PutNode, SetNetwork, apply_all
from mesh_core.model.mesh import Mesh
from mesh_core.model.network import Network, Peers
from mesh_core.model.node import Node
from mesh_core.testing.laws.network import broken, look
from mesh_core.testing.strategies.dice import Dice
from mesh_core.testing.strategies.of_networks import (
    NETWORKED_THROWS,
    RANGES,
    any_attachment,
    any_networked_mesh,
)

Giving: TypeAlias = Callable[[Mesh, Iterable[Change]], tuple[Change, ...]]
"""What is checked: a mesh and changes of it in; those changes, and what gives addresses, out."""
Moving: TypeAlias = Callable[[Mesh, Network | None], tuple[Change, ...]]
"""A mesh and another network for it in, or none; the changes that give it to the mesh out."""


@frozen(kw_only=True)
class Addresses:
    """Both of them."""

    addressed: Giving
    moving: Moving


class AddressCheck(Protocol):
    """One law as a function of what gives addresses. Raises `AssertionError` where it is broken."""

    __name__: str

    def __call__(self, addresses: Addresses, settings: hypothesis.settings | None = None) -> None:
        """Look for a history that breaks the law."""


_NAMES = ("ant", "bee", "cow", "dog", "elk", "fox", "gnu", "hen", "ibis", "jay")
_SMALL = ("10.77.0.0/29", "fd77::/126", "10.77.0.0/30", "10.77.0.0/29")
_STEPS = 60


@frozen(kw_only=True)
class _Step:
    """One command: the mesh before, its changes and what was added to them, and the mesh after."""

    before: Mesh
    said: tuple[Change, ...]
    added: tuple[Change, ...]
    after: Mesh


def _stepped(give: Giving, before: Mesh, said: tuple[Change, ...]) -> _Step:
    changes = give(before, said)
    done = [_but_the_address(change, of) for change, of in zip(changes, said, strict=False)]
    if done != [*said]:
        broken("addresses", f"what was said is not what is done: {said} is {changes}", before)
    return _Step(before=before, said=said, added=changes[len(said) :], after=apply_all(before, changes))


def _but_the_address(change: Change, of: Change) -> Change:
    """A change without the address that it may have been given, as it is one of those that were said."""
    if isinstance(change, PutNode) and isinstance(of, PutNode) and of.node.network.address is None:
        return PutNode(node=_bare(change.node))
    if isinstance(change, Attach) and isinstance(of, Attach) and of.network.address is None:
        return Attach(node=change.node, network=evolve(change.network, address=None))
    return change


def _history(give: Giving, dice: Dice) -> Iterable[_Step]:
    """Nodes come, go, and are attached in another way, in a range that is often full."""
    mesh = Mesh(network=Network(range=dice.one_of(_SMALL)))
    for _ in range(_STEPS):
        step = _stepped(give, mesh, tuple(_any_said(dice, mesh)))
        yield step
        mesh = step.after


def _any_said(dice: Dice, mesh: Mesh) -> list[Change]:
    there = [node.name for node in mesh.nodes]
    away = [name for name in _NAMES if name not in there]
    kind = dice.below(6)
    if kind < 3 and away:
        names = dice.some(away, 2, least=1)
        puts: list[Change] = [PutNode(node=Node(name=name, network=any_attachment(dice))) for name in names]
        again = [Attach(node=name, network=any_attachment(dice)) for name in names]
        return puts if not dice.one_in(4) else [*puts, *again]
    if kind < 5 and there:
        return [DropNode(node=name) for name in dice.some(there, 2, least=1)]
    if there and mesh.network is not None and dice.one_in(2):
        return [SetNetwork(network=evolve(mesh.network, peers=dice.one_of(tuple(Peers))))]
    return [_reached_elsewhere(dice, mesh, name) for name in dice.some(there, 1)]


def _reached_elsewhere(dice: Dice, mesh: Mesh, name: str) -> Attach:
    node = mesh.node(name)
    assert node is not None
    return Attach(node=name, network=any_attachment(dice, node.network.address))


_THROWS = _STEPS * 14


def _same(dice: Dice) -> Dice:
    return dice


def _room(range_: str) -> list[str]:
    """Literally: every address of the range, without the first and, with IPv4, the last."""
    every = [str(one) for one in ip_network(range_)]
    return every[1:] if ":" in range_ else every[1:-1]


def _held(mesh: Mesh) -> dict[str, str | None]:
    return {node.name: node.network.address for node in mesh.nodes}


def check_everybody_has_one(addresses: Addresses, settings: hypothesis.settings | None = None) -> None:
    """Every node of a mesh with room has an address, of a machine in the range, and none has another's."""

    def holds(dice: Dice) -> None:
        for step in _history(addresses.addressed, dice):
            network = step.after.network
            assert network is not None
            held = [address for address in _held(step.after).values() if address is not None]
            room = _room(network.range)
            if len({*held}) < len(held) or not {*held} <= {*room}:
                broken("addresses", f"{held} in {network.range}", step.after)
            if len(held) < min(len(step.after.nodes), len(room)):
                broken("everybody", f"{len(held)} have one, and there is room for {len(room)}", step.after)

    look(_THROWS, _same, holds, settings)


def check_whoever_has_one_keeps_it(addresses: Addresses, settings: hypothesis.settings | None = None) -> None:
    """> given once, and kept: also where somebody else finds the range full"""

    def holds(dice: Dice) -> None:
        for step in _history(addresses.addressed, dice):
            after = _held(step.after)
            dropped = {change.node for change in step.said if isinstance(change, DropNode)}
            for name, address in _held(step.before).items():
                if name not in dropped and address is not None and after[name] != address:
                    broken("kept", f"{name} had {address}, and has {after[name]}", step.before, step.after)
            _says_no_more(step)

    look(_THROWS, _same, holds, settings)


def _says_no_more(step: _Step) -> None:
    """What is added gives addresses to those who had none, and says nothing else of anybody."""
    between = apply_all(step.before, step.said)
    for change in step.added:
        node = between.node(change.node) if isinstance(change, Attach) else None
        if not isinstance(change, Attach) or node is None or node.network.address is not None:
            broken("addresses", f"{change} was added", step.before)
        if evolve(change.network, address=None) != node.network:
            broken("addresses", f"{change} says more than an address", step.before)


def check_none_is_used_again(addresses: Addresses, settings: hypothesis.settings | None = None) -> None:
    """> Addresses are not reused while any free one is left

    Then the one that was let go first is used first.
    """

    def holds(dice: Dice) -> None:
        let_go: list[str] = []
        for step in _history(addresses.addressed, dice):
            network = step.after.network
            assert network is not None
            before, after = (_held(mesh) for mesh in (step.before, step.after))
            # Those of one command are let go in the order in which it says so.
            gone = [before[change.node] for change in step.said if isinstance(change, DropNode)]
            let_go += [address for address in gone if address is not None]
            waiting = (name for name, address in after.items() if address is not None)
            given = [after[name] for name in waiting if before.get(name) is None]
            new = [one for one in _room(network.range) if one not in {*before.values(), *let_go}]
            should = [*new, *let_go][: len(given)]
            if given != should:
                broken("not reused", f"given are {given}, and it is the turn of {should}", step.before)
            let_go = [one for one in let_go if one not in given]
            if [*network.retired] != let_go:
                broken("not reused", f"{network.retired} are retired, and {let_go} were let go", step.after)

    look(_THROWS, _same, holds, settings)


def check_names_say_only_who_is_first(
    addresses: Addresses, settings: hypothesis.settings | None = None
) -> None:
    """In whatever order nodes are said, they are given addresses by name; who has one is not asked."""

    def holds(dice: Dice) -> None:
        mesh = any_networked_mesh(dice)
        assert mesh.network is not None
        before = [node for node in mesh.nodes if node.network.address is not None]
        puts = [PutNode(node=node) for node in mesh.nodes if node.network.address is None]
        first = evolve(mesh, nodes=before)
        made = [
            apply_all(first, addresses.addressed(first, said))
            for said in (puts, puts[::-1], dice.shuffled(puts))
        ]
        held, retired = _held(made[0]), [*mesh.network.retired]
        given = [one for put in puts if (one := held[put.node.name]) is not None]
        new = sorted((one for one in given if one not in retired), key=ip_address)
        in_order = [*new, *(one for one in retired if one in given)]
        if made[0] != made[1] or made[0] != made[2] or given != in_order:
            broken("order", f"{given} are given to {[put.node.name for put in puts]}", *made)

    look(NETWORKED_THROWS + 8, _same, holds, settings)


def check_moving(addresses: Addresses, settings: hypothesis.settings | None = None) -> None:
    """> another range is a command of its own that shows who moves

    Whoever has an address that the new range has, too, keeps it.
    """

    def holds(dice: Dice) -> None:
        mesh = any_networked_mesh(dice) if not dice.one_in(4) else _with_text(dice)
        network = None if dice.one_in(5) else Network(range=dice.one_of(RANGES), port=dice.one_of((51820, 1)))
        changes = addresses.moving(mesh, network)
        after = apply_all(mesh, changes)
        if mesh.network is None and network is None:
            right = after == mesh
        elif network is None:
            right = after.network is None and not any(_held(after).values())
        else:
            right = after.network is not None and _moved_rightly(mesh, after, network, after.network)
        if not right or addresses.moving(after, network):
            broken("moving", f"to {network}, by {changes}", mesh, after)

    look(NETWORKED_THROWS + 40, _same, holds, settings)


def _with_text(dice: Dice) -> Mesh:
    """A mesh that has addresses and no network: they are only text, and two may have one."""
    mesh = any_networked_mesh(dice)
    twin = mesh.nodes[0].network.address
    nodes = [evolve(n, network=evolve(n.network, address=twin)) if dice.one_in(4) else n for n in mesh.nodes]
    return Mesh(nodes=nodes)


def _moved_rightly(mesh: Mesh, after: Mesh, meant: Network, made: Network) -> bool:
    """Also: what is said is so, what was let go stays so, and nothing of how nodes are reached is lost."""
    before, now = _held(mesh), _held(after)
    first: dict[str, str] = {}
    for name, address in before.items():
        if address is not None and _fits(address, meant.range):
            first.setdefault(address, name)
    kept = all(now[name] == address for address, name in first.items())
    left = [one for one in mesh.network.retired if _fits(one, meant.range)] if mesh.network else []
    waiting = [name for name, address in now.items() if address is None]
    room = ip_network(meant.range).num_addresses - (1 if ":" in meant.range else 2)
    served = not waiting or len(now) - len(waiting) == room
    same = [_bare(node) for node in mesh.nodes] == [_bare(node) for node in after.nodes]
    said = made == evolve(meant, retired=[one for one in left if one not in now.values()])
    return kept and served and same and said


def _fits(address: str, range_: str) -> bool:
    within = ip_network(range_)
    ends = {str(within[0])} if ":" in range_ else {str(within[0]), str(within[-1])}
    return ip_address(address) in within and address not in ends


def _bare(node: Node) -> Node:
    return evolve(node, network=evolve(node.network, address=None))


ADDRESS_LAWS: tuple[AddressCheck, ...] = (
    check_everybody_has_one,
    check_whoever_has_one_keeps_it,
    check_none_is_used_again,
    check_names_say_only_who_is_first,
    check_moving,
)
"""Every law of addresses."""
