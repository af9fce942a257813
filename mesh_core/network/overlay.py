"""The overlay as each node is told of it: its peers, and what it reaches through them (design, part 8).

Two nodes that talk directly have each other as peers. Two that need a relay have the relay as a peer, with
the other's address among those that it forwards to: WireGuard takes a packet from an address only through
the peer that has it, so both ends have to choose the same relay.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Final, TypeAlias

from attrs import field, frozen

from mesh_core.model.mesh import Mesh
from mesh_core.model.network import DeclaredNetwork, Network, Peer, Peers
from mesh_core.model.node import Node
from mesh_core.model.resolution import Resolution
from mesh_core.network.paths import Path, Paths, endpoint_for

KEEPALIVE: Final = 25
"""Seconds: whoever translates addresses may forget who is silent for longer, as WireGuard's authors say."""


@frozen(kw_only=True, order=True)
class NoKey:
    """A node that nobody is told of yet: its machine has reported no key."""

    node: str


@frozen(kw_only=True, order=True)
class SameKey:
    """Nodes whose machines report one key: copies of one machine. Nobody is told of any of them."""

    nodes: tuple[str, ...]


@frozen(kw_only=True, order=True)
class NoAddress:
    """A node for which the range has no address left."""

    node: str


@frozen(kw_only=True, order=True)
class NoPath:
    """A node takes something from another one, and no packet gets from one to the other."""

    node: str
    provider: str
    provisions: tuple[str, ...]


Note: TypeAlias = NoAddress | NoKey | NoPath | SameKey
Pair: TypeAlias = tuple[str, str]


@frozen(kw_only=True)
class Overlay:
    """What each node is told, by its name, and what has to be told to people."""

    networks: Mapping[str, DeclaredNetwork] = field(default=MappingProxyType({}))
    notes: tuple[Note, ...] = ()


def overlay(mesh: Mesh, resolution: Resolution, kept: Iterable[Pair] = ()) -> Overlay:
    """The overlay of a mesh; `resolution` is that of the mesh, and says who takes from whom.

    `kept` are pairs of nodes, one of which takes from the other although no plan says so: a node that is
    refused keeps what it has. Without a network there is nothing to tell anybody.
    """
    if mesh.network is None:
        return Overlay()
    notes, ready = _who_is_ready(mesh)
    paths = Paths(ready)
    links = _Links(mesh.network, ready)
    for one, other, path in _wanted(mesh.network, paths, ready, [*_takers(resolution), *kept]):
        links.join(one, other, path)
    notes += [*_without_path(mesh, resolution)]
    return Overlay(networks=links.networks(), notes=tuple(notes))


def _who_is_ready(mesh: Mesh) -> tuple[list[Note], list[Node]]:
    by_key: dict[str, list[Node]] = defaultdict(list)
    notes: list[Note] = []
    for node in mesh.nodes:
        if node.network.address is None:
            notes.append(NoAddress(node=node.name))
        elif node.network.key is None:
            notes.append(NoKey(node=node.name))
        else:
            by_key[node.network.key].append(node)
    copies = [same for same in by_key.values() if len(same) > 1]
    notes += [SameKey(nodes=tuple(node.name for node in same)) for same in copies]
    return notes, [same[0] for same in by_key.values() if len(same) == 1]


def _takers(resolution: Resolution) -> Iterator[Pair]:
    for outcome in resolution.outcomes:
        for take in outcome.takes:
            yield outcome.node, take.node


def _wanted(
    network: Network, paths: Paths, ready: list[Node], pairs: list[Pair]
) -> Iterator[tuple[str, str, Path]]:
    """Who is to reach whom, each two of them once, and how."""
    if network.peers is Peers.FULL:
        yield from paths.of_all()
        return
    names = {node.name for node in ready}
    for one, other in sorted({(min(pair), max(pair)) for pair in pairs}):
        path = paths.between(one, other) if one != other and {one, other} <= names else None
        if path is not None:
            yield one, other, path


class _Links:
    """What is joined so far: of each node, which addresses it reaches through which peer."""

    def __init__(self, network: Network, ready: list[Node]) -> None:
        self._network = network
        self._nodes = {node.name: node for node in ready}
        self._through: dict[str, dict[str, set[str]]] = {node.name: defaultdict(set) for node in ready}
        self._peers: dict[tuple[str, str | None, int, frozenset[str]], Peer] = {}

    def join(self, one: str, other: str, path: Path) -> None:
        if path.relay is None:
            self._directly(one, other)
            return
        self._directly(one, path.relay)
        self._directly(other, path.relay)
        self._through[one][path.relay].add(other)
        self._through[other][path.relay].add(one)

    def _directly(self, one: str, other: str) -> None:
        self._through[one][other].add(other)
        self._through[other][one].add(one)

    def networks(self) -> dict[str, DeclaredNetwork]:
        return {name: self._network_of(node) for name, node in self._nodes.items()}

    def _network_of(self, node: Node) -> DeclaredNetwork:
        through = self._through[node.name]
        reached = {node.name, *(name for names in through.values() for name in names)}
        return DeclaredNetwork(
            address=self._address(node.name),
            range=self._network.range,
            port=self._network.port,
            relay=node.network.relay,
            peers=[self._peer(node, self._nodes[name], reaches) for name, reaches in through.items()],
            names={name: self._address(name) for name in reached},
        )

    def _peer(self, node: Node, peer: Node, reaches: set[str]) -> Peer:
        endpoint = endpoint_for(node.network, peer.network)
        waits = endpoint is not None and endpoint_for(peer.network, node.network) is None
        keepalive = KEEPALIVE if waits else 0
        said = peer.name, endpoint, keepalive, frozenset(reaches)
        if said not in self._peers:  # many nodes are told the same of one
            assert peer.network.key is not None
            self._peers[said] = Peer(
                node=peer.name,
                key=peer.network.key,
                addresses=[self._address(name) for name in reaches],
                endpoint=endpoint,
                keepalive=keepalive,
            )
        return self._peers[said]

    def _address(self, name: str) -> str:
        address = self._nodes[name].network.address
        assert address is not None
        return address


def _without_path(mesh: Mesh, resolution: Resolution) -> Iterator[NoPath]:
    """The takes that no packet would serve, whether or not the machines have reported their keys already."""
    placed = [node for node in mesh.nodes if node.network.address is not None]
    names = {node.name for node in placed}
    paths = Paths(placed)
    for outcome in resolution.outcomes:
        provisions: dict[str, set[str]] = defaultdict(set)
        for take in outcome.takes:
            provisions[take.node].add(take.provision)
        for provider, taken in sorted(provisions.items()):
            known = {outcome.node, provider} <= names
            if known and paths.between(outcome.node, provider) is None:
                yield NoPath(node=outcome.node, provider=provider, provisions=tuple(sorted(taken)))
