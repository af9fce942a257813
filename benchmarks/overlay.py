"""Times what the overlay costs: what every node is told of a mesh's network.

`takes` is a mesh of 1,000 nodes, each of which takes from three others; `full` one of 300 nodes that all have
each other. One node in ten is reached by everybody, one in three by those of its site, one in a hundred is a
relay. Both stand against making the same number of `Peer` values from a list: what nobody can do without, who
is to say it as values. Processor time; a ratio is the median of the ratios of each turn.
"""

from __future__ import annotations

from base64 import b64encode
from statistics import median
from time import process_time

from attrs import frozen

from mesh_core.model.mesh import Mesh
from mesh_core.model.network import Attachment, Endpoint, Network, Peer, Peers
from mesh_core.model.node import Node
from mesh_core.model.resolution import Answer, Plan, Resolution
from mesh_core.network.overlay import Overlay, overlay

TAKING, EACH = 1_000, 3
"""Nodes of the one mesh, and how many each of them takes from."""
FULL = 300
"""Nodes of the other one."""
_SITES = 20


@frozen(kw_only=True)
class Told:
    """Medians in seconds of both, each with its floor and the number of peers, and of the ratios."""

    takes: float
    takes_floor: float
    takes_peers: int
    against_takes: float
    full: float
    full_floor: float
    full_peers: int
    against_full: float


def measure(*, repetitions: int) -> Told:
    """That many turns of each."""
    takes = _turns(_mesh(TAKING, Peers.TAKES), repetitions)
    full = _turns(_mesh(FULL, Peers.FULL), repetitions)
    return Told(
        takes=median(ours for ours, _, _ in takes),
        takes_floor=median(floor for _, floor, _ in takes),
        takes_peers=takes[0][2],
        against_takes=median(ours / floor for ours, floor, _ in takes),
        full=median(ours for ours, _, _ in full),
        full_floor=median(floor for _, floor, _ in full),
        full_peers=full[0][2],
        against_full=median(ours / floor for ours, floor, _ in full),
    )


def _mesh(count: int, peers: Peers) -> tuple[Mesh, Resolution]:
    nodes = [Node(name=f"n{number:04}", network=_attached(number)) for number in range(count)]
    names = [node.name for node in nodes]
    plans = [_plan(name, place, names) for place, name in enumerate(names)]
    return Mesh(nodes=nodes, network=Network(range="10.77.0.0/16", peers=peers)), Resolution(outcomes=plans)


def _attached(number: int) -> Attachment:
    high, low = divmod(number, 250)
    near = [Endpoint(at=f"192.168.{high}.{low + 1}:51820", site=f"site-{number % _SITES}")]
    far = [Endpoint(at=f"vps{number}.example.org:51820")]
    return Attachment(
        address=f"10.77.{high}.{low + 1}",
        key=b64encode(number.to_bytes(32, "big")).decode(),
        endpoints=[*(near if number % 3 == 0 else []), *(far if number % 10 == 0 else [])],
        site=f"site-{number % _SITES}",
        relay=number % 100 == 0,
    )


def _plan(name: str, place: int, names: list[str]) -> Plan:
    taken = [names[(place * 7 + 31 * number + 1) % len(names)] for number in range(EACH)]
    answers = [
        Answer(provision=f"p{number}", every=False, node=node, module="m", required_by=("web",))
        for number, node in enumerate(taken)
    ]
    return Plan(node=name, modules=(), answers=tuple(answers))


def _turns(made: tuple[Mesh, Resolution], repetitions: int) -> list[tuple[float, float, int]]:
    return [_turn(*made) for _ in range(repetitions)]


def _turn(mesh: Mesh, resolution: Resolution) -> tuple[float, float, int]:
    before = process_time()
    told = overlay(mesh, resolution)
    ours = process_time() - before
    rows = _rows(told)
    before = process_time()
    peers = [Peer(node=n, key=k, addresses=a, endpoint=e, keepalive=s) for n, k, a, e, s in rows]
    return ours, process_time() - before, len(peers)


def _rows(told: Overlay) -> list[tuple[str, str, tuple[str, ...], str | None, int]]:
    every = [peer for network in told.networks.values() for peer in network.peers]
    return [(peer.node, peer.key, peer.addresses, peer.endpoint, peer.keepalive) for peer in every]
