"""Each law of the overlay fails for what breaks it: each has a fault planted here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from attrs import evolve
from hypothesis import Phase, settings

from mesh_core.model.mesh import Mesh
from mesh_core.model.network import DeclaredNetwork, Peer, Peers
from mesh_core.model.node import Node
from mesh_core.model.resolution import Resolution
from mesh_core.network.overlay import NoPath, Overlay, SameKey, overlay
from mesh_core.testing.laws.overlays import (
    OVERLAY_LAWS,
    OverlayCheck,
    Telling,
    check_keepalive,
    check_mutual,
    check_newcomer,
    check_notes,
    check_own_part,
    check_peers,
)
from mesh_core.testing.laws.packets import (
    PACKET_LAWS,
    check_full_is_more_than_takes,
    check_left_out,
    check_packets_arrive,
)
from mesh_core.testing.strategies.of_networks import KEYS

QUICK = settings(max_examples=1000, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
Pairs = Iterable[tuple[str, str]]
FAULTS: list[tuple[OverlayCheck, str, Telling]] = []


def breaks(*checks: OverlayCheck) -> Callable[[Telling], Telling]:
    """Enter what tells nodes wrongly under the laws that have to notice it."""

    def entered(faulty: Telling) -> Telling:
        FAULTS.extend((check, getattr(faulty, "__name__", ""), faulty) for check in checks)
        return faulty

    return entered


Bent = Callable[[str, DeclaredNetwork], DeclaredNetwork]


def bent(*checks: OverlayCheck) -> Callable[[Bent], Bent]:
    """The same, of what only bends what one node is told."""

    def entered(bend: Bent) -> Bent:
        def faulty(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
            told = overlay(mesh, resolution, kept)
            return evolve(told, networks={name: bend(name, one) for name, one in told.networks.items()})

        FAULTS.extend((check, bend.__name__, faulty) for check in checks)
        return bend

    return entered


def of_peers(network: DeclaredNetwork, bend: Callable[[Peer], Peer]) -> DeclaredNetwork:
    return evolve(network, peers=[bend(peer) for peer in network.peers])


def of_nodes(mesh: Mesh, bend: Callable[[Node], Node]) -> Mesh:
    return evolve(mesh, nodes=[bend(node) for node in mesh.nodes])


@breaks(check_peers, check_packets_arrive)
def forgets_who_is_kept(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    return overlay(mesh, resolution, ())


@breaks(check_peers, check_packets_arrive)
def tells_everybody_of_everybody(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    assert mesh.network is not None
    return overlay(evolve(mesh, network=evolve(mesh.network, peers=Peers.FULL)), resolution, kept)


@breaks(check_full_is_more_than_takes)
def tells_of_takes_where_all_is_asked(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    assert mesh.network is not None
    other = Peers.TAKES if mesh.network.peers is Peers.FULL else Peers.FULL
    return overlay(evolve(mesh, network=evolve(mesh.network, peers=other)), resolution, kept)


@breaks(check_peers, check_packets_arrive)
def only_plans_count(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    """Who is refused does not take any more."""
    return overlay(mesh, Resolution(outcomes=resolution.plans), kept)


@breaks(check_peers, check_packets_arrive)
def goes_by_no_relay(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    none = of_nodes(mesh, lambda node: evolve(node, network=evolve(node.network, relay=False)))
    return overlay(none, resolution, kept)


@bent(check_peers, check_mutual, check_packets_arrive)
def has_no_peer_that_it_cannot_find(_: str, network: DeclaredNetwork) -> DeclaredNetwork:
    return evolve(network, peers=[peer for peer in network.peers if peer.endpoint is not None])


@bent(check_mutual)
def knows_itself(name: str, network: DeclaredNetwork) -> DeclaredNetwork:
    own = Peer(node=name, key=KEYS[7], addresses=[])
    return evolve(network, peers=[*(peer for peer in network.peers if peer.key != KEYS[7]), own])


@breaks(check_mutual, check_peers, check_packets_arrive)
def gives_another_key(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    """Each that of the one after."""
    told = overlay(mesh, resolution, kept)
    after = dict(zip(KEYS, (*KEYS[1:], KEYS[0]), strict=True))
    networks = {
        name: of_peers(one, lambda peer: evolve(peer, key=after[peer.key]))
        for name, one in told.networks.items()
    }
    return evolve(told, networks=networks)


@bent(check_peers, check_packets_arrive)
def reaches_only_peers_themselves(_: str, network: DeclaredNetwork) -> DeclaredNetwork:
    """Nobody is behind a relay."""
    own = dict(network.names)
    return of_peers(network, lambda peer: evolve(peer, addresses=[own[peer.node]]))


@bent(check_peers)
def reaches_everything_through_relays(_: str, network: DeclaredNetwork) -> DeclaredNetwork:
    """Also what they forward to nobody."""
    peers, reached = network.peers, {a for peer in network.peers for a in peer.addresses}
    more = [f"10.77.0.{number}" for number in range(1, 3)]
    fitting = [a for a in more if ":" not in network.range and a not in {*reached, network.address}]
    if len(peers) != 1 or not network.range.startswith("10.77.0.0/"):
        return network
    return evolve(network, peers=[evolve(peers[0], addresses=[*peers[0].addresses, *fitting])])


@bent(check_peers, check_packets_arrive)
def knows_nobodys_endpoint(_: str, network: DeclaredNetwork) -> DeclaredNetwork:
    return of_peers(network, lambda peer: evolve(peer, endpoint=None))


@bent(check_own_part, check_packets_arrive)
def relays_are_not_told_that_they_are(_: str, network: DeclaredNetwork) -> DeclaredNetwork:
    return evolve(network, relay=False)


@bent(check_own_part)
def listens_elsewhere(_: str, network: DeclaredNetwork) -> DeclaredNetwork:
    return evolve(network, port=51820)


@bent(check_own_part)
def does_not_know_its_own_name(name: str, network: DeclaredNetwork) -> DeclaredNetwork:
    return evolve(network, names=[pair for pair in network.names if pair[0] != name])


@bent(check_own_part)
def knows_peers_by_name_only(name: str, network: DeclaredNetwork) -> DeclaredNetwork:
    known = {name, *(peer.node for peer in network.peers)}
    return evolve(network, names=[pair for pair in network.names if pair[0] in known])


@bent(check_keepalive)
def always_keeps_alive(_: str, network: DeclaredNetwork) -> DeclaredNetwork:
    return of_peers(network, lambda peer: evolve(peer, keepalive=25))


@bent(check_keepalive)
def keeps_alive_whom_it_finds(_: str, network: DeclaredNetwork) -> DeclaredNetwork:
    """Also who would begin by itself."""
    return of_peers(network, lambda peer: evolve(peer, keepalive=25 if peer.endpoint else 0))


@bent(check_keepalive)
def never_keeps_alive(_: str, network: DeclaredNetwork) -> DeclaredNetwork:
    return of_peers(network, lambda peer: evolve(peer, keepalive=0))


def of_one_key(mesh: Mesh) -> dict[str, list[str]]:
    by_key: dict[str, list[str]] = {}
    for node in mesh.nodes:
        if node.network.key is not None and node.network.address is not None:
            by_key.setdefault(node.network.key, []).append(node.name)
    return {key: names for key, names in by_key.items() if len(names) > 1}


@breaks(check_left_out, check_peers)
def the_first_of_one_key_is_it(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    second = {name for names in of_one_key(mesh).values() for name in names[1:]}
    return overlay(
        of_nodes(mesh, lambda n: evolve(n, network=evolve(n.network, key=None)) if n.name in second else n),
        resolution,
        kept,
    )


@breaks(check_left_out)
def tells_names_of_who_is_left_out(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    told = overlay(mesh, resolution, kept)
    names = {n.name: n.network.address for n in mesh.nodes if n.network.address is not None}
    networks = {name: evolve(one, names=names) for name, one in told.networks.items()}
    return evolve(told, networks=networks)


@breaks(check_notes)
def tells_of_copies_one_by_one(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    told = overlay(mesh, resolution, kept)
    copies = [SameKey(nodes=(name,)) for n in told.notes if isinstance(n, SameKey) for name in n.nodes]
    return evolve(told, notes=(*(n for n in told.notes if not isinstance(n, SameKey)), *copies))


@breaks(check_notes)
def tells_of_paths_once_there_are_keys(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    told = overlay(mesh, resolution, kept)
    ready = told.networks.keys()
    notes = [n for n in told.notes if not isinstance(n, NoPath) or {n.node, n.provider} <= ready]
    return evolve(told, notes=tuple(notes))


@breaks(check_notes)
def tells_the_first_that_is_taken(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    told = overlay(mesh, resolution, kept)
    notes = [evolve(n, provisions=n.provisions[:1]) if isinstance(n, NoPath) else n for n in told.notes]
    return evolve(told, notes=tuple(notes))


@breaks(check_notes)
def tells_only_who_is_left_out(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    told = overlay(mesh, resolution, kept)
    return evolve(told, notes=tuple(n for n in told.notes if not isinstance(n, NoPath)))


@breaks(check_newcomer)
def each_is_told_how_many_there_are(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    """As with ports by number, say: whatever counts the nodes."""
    told = overlay(mesh, resolution, kept)
    networks = {n: evolve(one, port=1000 + len(mesh.nodes)) for n, one in told.networks.items()}
    return evolve(told, networks=networks)


@breaks(check_newcomer)
def whoever_takes_nothing_is_a_peer_of_the_first(mesh: Mesh, resolution: Resolution, kept: Pairs) -> Overlay:
    idle = [outcome.node for outcome in resolution.outcomes if not outcome.takes]
    return overlay(mesh, resolution, [*kept, *((node, mesh.nodes[0].name) for node in idle)])


@pytest.mark.parametrize(("check", "name", "faulty"), FAULTS, ids=[f"{c.__name__}-{n}" for c, n, _ in FAULTS])
def test_a_fault_breaks_its_law(check: OverlayCheck, name: str, faulty: Telling) -> None:
    with pytest.raises(AssertionError, match=r"^the network \("):
        check(faulty, QUICK)


def test_each_law_has_a_fault() -> None:
    assert {check for check, _, _ in FAULTS} == {*OVERLAY_LAWS, *PACKET_LAWS}
