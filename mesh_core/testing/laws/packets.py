"""The laws of packets in the overlay: here they go from hop to hop as WireGuard has it (design, part 8).

> WireGuard takes a packet from an address only through the peer that has it
"""

from __future__ import annotations

from collections.abc import Mapping
from itertools import permutations

import hypothesis
from attrs import evolve

from mesh_core.model.mesh import Mesh
from mesh_core.model.network import DeclaredNetwork, Peer, Peers
from mesh_core.testing.laws.network import broken, look
from mesh_core.testing.laws.overlays import OverlayCheck, Telling, left_out
from mesh_core.testing.laws.paths import literal_path
from mesh_core.testing.strategies.of_networks import TAKING_THROWS, Taking, any_taking

Networks = Mapping[str, DeclaredNetwork]


def arrives(mesh: Mesh, networks: Networks, source: str, target: str) -> bool:
    """Whether a packet that a node sends to another one, by what each of them is told, gets there."""
    keys = {node.name: node.network.key for node in mesh.nodes}
    from_, to = networks[source].address, networks[target].address
    at, seen = source, {source}
    while at != target:
        out = _peer_with(networks[at], to)
        if out is None or out.node not in networks or out.node in seen:
            return False
        back = _peer_with(networks[out.node], from_)
        if back is None or back.node != at or not _shake_hands(keys[at], keys[out.node], out, back):
            return False
        if out.node != target and not networks[out.node].relay:
            return False
        at = out.node
        seen.add(at)
    return True


def _peer_with(network: DeclaredNetwork, address: str) -> Peer | None:
    """The one peer through which a packet for an address goes out, and from which one of it is taken."""
    found = [peer for peer in network.peers if address in peer.addresses]
    return found[0] if len(found) == 1 and address != network.address else None


def _shake_hands(key: str | None, other: str | None, out: Peer, back: Peer) -> bool:
    """Both know each other's key, and one of them where the other is."""
    return (key, other) == (back.key, out.key) and bool(out.endpoint or back.endpoint)


def check_packets_arrive(overlay: Telling, settings: hypothesis.settings | None = None) -> None:
    """Between those that take from each other, and to the relays that they need: there and nowhere else.

    With `full` between everybody who is told anything and has a path.
    """

    def holds(taking: Taking) -> None:
        networks = overlay(taking.mesh, taking.resolution, taking.kept).networks
        should = _meant(taking)
        for source, target in permutations(networks, 2):
            if arrives(taking.mesh, networks, source, target) != (frozenset((source, target)) in should):
                broken("packets", f"from {source} to {target}", taking.mesh)

    look(TAKING_THROWS, any_taking, holds, settings)


def _meant(taking: Taking) -> set[frozenset[str]]:
    out = left_out(taking.mesh)
    ready = [node for node in taking.mesh.nodes if node.name not in out]
    assert taking.mesh.network is not None
    wanted = _takers(taking)
    meant: set[frozenset[str]] = set()
    for one, other in permutations(ready, 2):
        pair = frozenset((one.name, other.name))
        path = literal_path(ready, one, other)
        if path is not None and (taking.mesh.network.peers is Peers.FULL or pair in wanted):
            meant.add(pair)
            if path.relay is not None:
                meant.add(frozenset((one.name, path.relay)))
    return meant


def _takers(taking: Taking) -> set[frozenset[str]]:
    takes = [(o.node, answer.node) for o in taking.resolution.outcomes for answer in o.answers]
    return {frozenset(pair) for pair in (*takes, *taking.kept)}


def check_full_is_more_than_takes(overlay: Telling, settings: hypothesis.settings | None = None) -> None:
    """Whom one reaches with `takes`, one reaches with `full`; and with more kept, nobody is lost."""

    def holds(taking: Taking) -> None:
        few, kept, full = (
            overlay(_with(taking.mesh, peers), taking.resolution, pairs).networks
            for peers, pairs in ((Peers.TAKES, ()), (Peers.TAKES, taking.kept), (Peers.FULL, ()))
        )
        for source, target in permutations(few, 2):
            ways = [arrives(taking.mesh, networks, source, target) for networks in (few, kept, full)]
            if ways != sorted(ways):
                broken("full", f"from {source} to {target}: {ways}", taking.mesh)

    look(TAKING_THROWS, any_taking, holds, settings)


def _with(mesh: Mesh, peers: Peers) -> Mesh:
    assert mesh.network is not None
    return evolve(mesh, network=evolve(mesh.network, peers=peers))


def check_left_out(overlay: Telling, settings: hypothesis.settings | None = None) -> None:
    """> Nobody is told of any of them: who has no address, no key, or one that another machine has too."""

    def holds(taking: Taking) -> None:
        networks, out = overlay(taking.mesh, taking.resolution, taking.kept).networks, left_out(taking.mesh)
        addresses = {node.network.address for node in taking.mesh.nodes if node.name in out}
        for name, told in networks.items():
            of = {name, *(peer.node for peer in told.peers), *(one for one, _ in told.names)}
            reached = {address for peer in told.peers for address in peer.addresses}
            if of & out or reached & addresses:
                broken("left out", f"{name} is told of {sorted(of & out)}", taking.mesh)

    look(TAKING_THROWS, any_taking, holds, settings)


PACKET_LAWS: tuple[OverlayCheck, ...] = (
    check_packets_arrive,
    check_full_is_more_than_takes,
    check_left_out,
)
"""Every law of packets."""
