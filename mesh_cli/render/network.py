"""How the overlay network looks: a line for each node, and what is amiss below."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator
from typing import Any

from mesh_cli.output import table, visible
from mesh_core.analysis.proposal import Proposal
from mesh_core.explain.network import concerning, endpoint, network, note_to_data, told
from mesh_core.model.mesh import Mesh
from mesh_core.model.node import Node
from mesh_core.model.resolution import Resolution
from mesh_core.network.overlay import Note, Overlay
from mesh_core.network.overlay import overlay as overlay_of
from mesh_core.wire.network import attachment_to_data, network_to_data

NO_NETWORK = "the mesh has no network; `mesh network set RANGE` gives it one, like 10.77.0.0/24"
_HEAD = ("NODE", "ADDRESS", "KEY", "REACHED AT", "SITE", "PEERS")


def lines(mesh: Mesh, overlay: Overlay) -> Iterator[str]:
    """The network of a mesh for people."""
    if mesh.network is None:
        yield NO_NETWORK
        return
    yield network(mesh.network)
    if mesh.nodes:
        yield ""
        yield from table([_row(node, overlay) for node in mesh.nodes], _HEAD)


def _row(node: Node, overlay: Overlay) -> list[str]:
    attached, declared = node.network, overlay.networks.get(node.name)
    peers = "-" if declared is None else ", ".join(peer.node for peer in declared.peers) or "nobody"
    return [
        f"{node.name} (relay)" if attached.relay else node.name,
        attached.address or "-",
        "none yet" if attached.key is None else f"{attached.key[:8]}...",
        ", ".join(endpoint(one) for one in attached.endpoints) or "-",
        attached.site or "-",
        peers,
    ]


def notes(mesh: Mesh, found: Iterable[Note]) -> Iterator[str]:
    """What has to be told of the network of a mesh, each with what would do below."""
    for headline, below in told(found, mesh):
        yield visible(f"network: {headline}")
        yield from (f"  {visible(line)}" for line in below)


def moves(proposal: Proposal) -> list[str]:
    """From which range to which, and who would have another address: `pi  10.77.0.4 -> 10.78.0.4`."""
    before, after = proposal.before, proposal.after
    rows = [
        [node.name, f"{was or 'no address'} -> {node.network.address or 'no address'}"]
        for node in after.nodes
        if node.network.address != (was := _address(before, node.name))
    ]
    first = [f"{_range(before)} -> {_range(after)}"] if _range(before) != _range(after) else []
    return [*first, *(table(rows) or ["nobody has another address"])]


def _range(mesh: Mesh) -> str:
    return "none" if mesh.network is None else mesh.network.range


def _address(mesh: Mesh, name: str) -> str | None:
    node = mesh.node(name)
    return None if node is None else node.network.address


def amiss(mesh: Mesh, resolution: Resolution, nodes: Container[str]) -> tuple[Note, ...]:
    """What is amiss in the network with some nodes."""
    return concerning(overlay_of(mesh, resolution).notes, nodes)


def facts(mesh: Mesh, overlay: Overlay, nodes: Container[str] | None = None) -> dict[str, Any]:
    """The network of a mesh as plain data, or what of it is about some nodes; null where there is none."""
    about = overlay.notes if nodes is None else concerning(overlay.notes, nodes)
    return {
        "network": None if mesh.network is None else network_to_data(mesh.network),
        "nodes": {
            node.name: attachment_to_data(node.network) | {"peers": _peers(node.name, overlay)}
            for node in mesh.nodes
            if nodes is None or node.name in nodes
        },
        "notes": [note_to_data(note) for note in about],
    }


def _peers(node: str, overlay: Overlay) -> list[str]:
    declared = overlay.networks.get(node)
    return [] if declared is None else [peer.node for peer in declared.peers]
