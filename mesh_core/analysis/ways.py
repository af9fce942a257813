"""What would give a network room, or two nodes a path: each is known to do, whatever host is put in."""

from __future__ import annotations

from collections.abc import Iterator

from mesh_core.model.mesh import Mesh
from mesh_core.model.network import Attachment, Network
from mesh_core.model.network_text import Range, as_range, range_fault
from mesh_core.network.overlay import NoPath
from mesh_core.network.paths import is_direct


def wider(network: Network, machines: int) -> str | None:
    """The narrowest range around a network's that has room for so many; None where there may be none.

    Whoever has an address in the one has it in the other too.
    """
    found = as_range(network.range)
    while _room(found) < machines and found.prefixlen > 0:
        found = found.supernet()
    return None if range_fault(str(found)) else str(found)


def _room(range_: Range) -> int:
    return range_.num_addresses - (2 if range_.version == 4 else 1)


def ways(note: NoPath, mesh: Mesh) -> Iterator[str]:
    """Commands each of which gives the two a path, the nearest first; `HOST` is left to say."""
    nodes = {node.name: node.network for node in mesh.nodes if node.network.address is not None}
    one, other = nodes[note.node], nodes[note.provider]
    if one.site is not None and one.site == other.site:
        yield f"mesh network attach {note.provider} --lan HOST"
    yield f"mesh network attach {note.provider} --endpoint HOST"
    others = {name: it for name, it in nodes.items() if name not in (note.node, note.provider)}
    relay = _relay(one, other, others)
    if relay is not None:
        yield relay


def _relay(one: Attachment, other: Attachment, others: dict[str, Attachment]) -> str | None:
    """A node that both reach only has to forward; a relay only has to be found; any other one both."""
    for name, it in others.items():
        if is_direct(one, it) and is_direct(other, it):
            return f"mesh network attach {name} --relay"
    for name, it in others.items():
        if it.relay:
            return f"mesh network attach {name} --endpoint HOST"
    return "mesh network attach NODE --endpoint HOST --relay" if others else None
