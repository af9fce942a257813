"""The laws of what nodes are told of the overlay, as functions of what tells them (design, parts 8 and 11).

What has to be said is worked out here literally, from the definition: two that talk directly have each other
as peers, two that need a relay have the relay, and the other's address behind it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import combinations
from typing import Protocol, TypeAlias

import hypothesis
from attrs import evolve

from mesh_core.model.mesh import Mesh
from mesh_core.model.network import Attachment, Network, Peers
from mesh_core.model.node import Node
from mesh_core.model.resolution import Plan, Resolution
from mesh_core.network.overlay import NoAddress, NoKey, NoPath, Note, Overlay, SameKey
from mesh_core.network.paths import Path
from mesh_core.testing.laws.network import broken, look
from mesh_core.testing.laws.paths import found_at, literal_path
from mesh_core.testing.strategies.dice import Dice
from mesh_core.testing.strategies.of_networks import KEYS, TAKING_THROWS, Taking, any_taking, machines

Telling: TypeAlias = Callable[[Mesh, Resolution, Iterable[tuple[str, str]]], Overlay]
"""What is checked: a mesh, who takes from whom and who is kept in; what everybody is told out."""


class OverlayCheck(Protocol):
    """One law as a function of what tells nodes. Raises `AssertionError` where it is broken."""

    __name__: str

    def __call__(self, overlay: Telling, settings: hypothesis.settings | None = None) -> None:
        """Look for a mesh that breaks the law."""


def _told(overlay: Telling, taking: Taking) -> Overlay:
    return overlay(taking.mesh, taking.resolution, taking.kept)


def _network(taking: Taking) -> Network:
    assert taking.mesh.network is not None
    return taking.mesh.network


def left_out(mesh: Mesh) -> set[str]:
    """Literally: those without an address, without a key, or with a key that another has too."""
    keys = [node.network.key for node in mesh.nodes if node.network.address is not None]
    return {
        node.name
        for node in mesh.nodes
        if node.network.address is None or node.network.key is None or keys.count(node.network.key) > 1
    }


def _ready(mesh: Mesh) -> dict[str, Node]:
    out = left_out(mesh)
    return {node.name: node for node in mesh.nodes if node.name not in out}


def _takes(taking: Taking) -> Iterator[tuple[str, str, str]]:
    """Who takes from whom what, by the plans and refusals."""
    for outcome in taking.resolution.outcomes:
        for answer in outcome.answers:
            if answer.node != outcome.node:
                yield outcome.node, answer.node, answer.provision


def _paths(taking: Taking) -> dict[tuple[str, str], Path]:
    """Literally: every two nodes that are to reach each other, and do, both ways round."""
    ready = _ready(taking.mesh)
    wanted = {frozenset(pair) for pair in combinations(ready, 2)}
    if _network(taking).peers is Peers.TAKES:
        given = [*((taker, provider) for taker, provider, _ in _takes(taking)), *taking.kept]
        wanted &= {frozenset(pair) for pair in given}
    found: dict[tuple[str, str], Path] = {}
    for pair in wanted:
        one, other = (ready[name] for name in pair)
        path = literal_path(ready.values(), one, other)
        if path is not None:
            found |= {(one.name, other.name): path, (other.name, one.name): path}
    return found


def _through(taking: Taking) -> defaultdict[str, defaultdict[str, set[str]]]:
    """By node, and by peer of it, whom it reaches through that."""
    through: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for (one, other), path in _paths(taking).items():
        through[one][path.relay or other].add(other)
        if path.relay is not None:
            through[one][path.relay].add(path.relay)
            through[path.relay][one].add(one)
    return through


def check_peers(overlay: Telling, settings: hypothesis.settings | None = None) -> None:
    """> Each node of those that it takes from and gives to, and of the relays that it needs for that.

    Or, with `full`, of every other one. With the key that the machine reported, where this one finds it, and
    all that is reached through it; and with no other.
    """

    def holds(taking: Taking) -> None:
        ready, through = _ready(taking.mesh), _through(taking)
        told = _told(overlay, taking).networks
        if told.keys() != ready.keys():
            broken("peers", f"{sorted(told)} are told, and {sorted(ready)} are ready", taking.mesh)
        for name, network in told.items():
            said = {(p.node, p.key, p.endpoint, frozenset(p.addresses)) for p in network.peers}
            should = {_peer(ready, name, peer, reached) for peer, reached in through[name].items()}
            if said != should:
                broken("peers", f"{name} is told {said}, and not {should}", taking.mesh)

    look(TAKING_THROWS, any_taking, holds, settings)


def _peer(
    ready: dict[str, Node], name: str, peer: str, reached: set[str]
) -> tuple[str, str | None, str | None, frozenset[str | None]]:
    at = found_at(ready[name].network, ready[peer].network)
    addresses = frozenset(ready[one].network.address for one in reached)
    return peer, ready[peer].network.key, at[0] if at else None, addresses


def check_mutual(overlay: Telling, settings: hypothesis.settings | None = None) -> None:
    """Whoever has somebody as a peer is one of that node's, each under the key that its machine reported."""

    def holds(taking: Taking) -> None:
        told = _told(overlay, taking).networks
        keys = {name: {peer.node: peer.key for peer in network.peers} for name, network in told.items()}
        for node in taking.mesh.nodes:
            for peer in keys.get(node.name, {}):
                if keys.get(peer, {}).get(node.name) != node.network.key or peer == node.name:
                    broken("mutual", f"{node.name} has {peer} as a peer", taking.mesh)

    look(TAKING_THROWS, any_taking, holds, settings)


def check_own_part(overlay: Telling, settings: hypothesis.settings | None = None) -> None:
    """Each is told its own address, what holds for all, and whether it forwards.

    > `names` are pairs of a node and its address, the node's own among them

    Of exactly those that it reaches.
    """

    def holds(taking: Taking) -> None:
        ready, through, holding = _ready(taking.mesh), _through(taking), _network(taking)
        for name, network in _told(overlay, taking).networks.items():
            own = ready[name].network
            said = (network.address, network.range, network.port, network.relay)
            reached = {name}.union(*through[name].values())
            names = {one: ready[one].network.address for one in reached}
            if said != (own.address, holding.range, holding.port, own.relay) or dict(network.names) != names:
                broken("its own part", f"{name} is told {network}", taking.mesh)

    look(TAKING_THROWS, any_taking, holds, settings)


def check_keepalive(overlay: Telling, settings: hypothesis.settings | None = None) -> None:
    """> after how many silent seconds the node sends something: where the other end could not begin"""

    def holds(taking: Taking) -> None:
        nodes = {node.name: node.network for node in taking.mesh.nodes}
        for name, network in _told(overlay, taking).networks.items():
            for peer in network.peers:
                here, there = nodes[name], nodes[peer.node]
                alone = bool(found_at(here, there)) and not found_at(there, here)
                if peer.keepalive != (25 if alone else 0):
                    broken("keepalive", f"{name} to {peer.node}: {peer.keepalive}", taking.mesh)

    look(TAKING_THROWS, any_taking, holds, settings)


def check_notes(overlay: Telling, settings: hypothesis.settings | None = None) -> None:
    """Who is left out is told, with why; and each take that no packet serves, keys or no keys."""

    def holds(taking: Taking) -> None:
        notes = _told(overlay, taking).notes
        should = [*_left_out_notes(taking.mesh), *_without_path(taking)]
        if len(notes) != len(should) or {*notes} != {*should}:
            broken("notes", f"{notes} are told, and not {should}", taking.mesh)

    look(TAKING_THROWS, any_taking, holds, settings)


def _left_out_notes(mesh: Mesh) -> Iterator[Note]:
    by_key: defaultdict[str, list[str]] = defaultdict(list)
    for node in mesh.nodes:
        if node.network.address is None:
            yield NoAddress(node=node.name)
        elif node.network.key is None:
            yield NoKey(node=node.name)
        else:
            by_key[node.network.key].append(node.name)
    yield from (SameKey(nodes=tuple(same)) for same in by_key.values() if len(same) > 1)


def _without_path(taking: Taking) -> Iterator[NoPath]:
    """Whether or not machines have reported their keys; who has no address is told already."""
    placed = {node.name: node for node in taking.mesh.nodes if node.network.address is not None}
    for taker, provider in sorted({(taker, provider) for taker, provider, _ in _takes(taking)}):
        if not {taker, provider} <= placed.keys():
            continue
        if literal_path(placed.values(), placed[taker], placed[provider]) is None:
            taken = {what for one, other, what in _takes(taking) if (one, other) == (taker, provider)}
            yield NoPath(node=taker, provider=provider, provisions=tuple(sorted(taken)))


def check_newcomer(overlay: Telling, settings: hypothesis.settings | None = None) -> None:
    """With `takes`, a node that nobody takes from, and that takes nothing, changes nothing for anybody."""

    def holds(dice: Dice) -> None:
        taking = any_taking(dice)
        mesh = evolve(taking.mesh, network=evolve(_network(taking), peers=Peers.TAKES))
        newcomer = Node(name=dice.one_of(("aal", "zebu")), network=_newcomer(dice, mesh))
        more = Taking(
            mesh=evolve(mesh, nodes=[*mesh.nodes, newcomer]),
            resolution=Resolution(
                outcomes=[*taking.resolution.outcomes, Plan(node=newcomer.name, modules=(), answers=())]
            ),
            kept=taking.kept,
        )
        before, after = _told(overlay, evolve(taking, mesh=mesh)), _told(overlay, more)
        others = {name: told for name, told in after.networks.items() if name != newcomer.name}
        if others != before.networks:
            broken("a newcomer", f"{newcomer.name} changes what others are told", mesh, more.mesh)

    look(TAKING_THROWS + 20, lambda dice: dice, holds, settings)


def _newcomer(dice: Dice, mesh: Mesh) -> Attachment:
    network, held = mesh.network, {node.network.address for node in mesh.nodes}
    assert network is not None
    free = [None, *(address for address in machines(network.range) if address not in held)]
    keys = [key for key in KEYS if all(node.network.key != key for node in mesh.nodes)]
    like = dice.one_of(mesh.nodes).network
    return evolve(like, address=free[-1], key=dice.one_of((None, *keys)), relay=False)


OVERLAY_LAWS: tuple[OverlayCheck, ...] = (
    check_peers,
    check_mutual,
    check_own_part,
    check_keepalive,
    check_notes,
    check_newcomer,
)
"""Every law of what one node is told; those of packets are in `laws.packets`."""
