"""The overlay network in sentences: what holds for it, how nodes are attached, and what has to be told."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, assert_never

from mesh_core.analysis.ways import ways, wider
from mesh_core.change import Attach, SetNetwork
from mesh_core.explain.words import both, verb
from mesh_core.model.mesh import Mesh
from mesh_core.model.network import PORT, UNATTACHED, Attachment, Endpoint, Network, Peers
from mesh_core.network.overlay import NoAddress, NoKey, NoPath, Note, SameKey


def network(network: Network | None) -> str:
    """What holds for the whole overlay, as one says it."""
    if network is None:
        return "the mesh has no network"
    who = {
        Peers.FULL: "every node is a peer of every other one",
        Peers.TAKES: "nodes are peers of those that they take from and give to",
    }
    port = "" if network.port == PORT else f", on port {network.port}"
    return f"the network is {network.range}{port}; {who[network.peers]}"


def attached(change: Attach | SetNetwork) -> str:
    """A change of the network that was made, as one says it afterwards."""
    if isinstance(change, SetNetwork):
        return network(change.network)
    return f"{change.node} is attached to the network: {attachment(change.network)}"


def network_difference(change: Attach | SetNetwork, before: Mesh) -> str:
    """The same as a line of a list of changes."""
    if isinstance(change, SetNetwork):
        if before.network is not None and change.network is None:
            return f"- the network {before.network.range}, and everybody's address in it"
        return f"{'~' if before.network is not None else '+'} {network(change.network)}"
    node = before.node(change.node)
    return f"~ node {change.node}: {reattached(node.network if node else UNATTACHED, change.network)}"


def reattached(was: Attachment, now: Attachment) -> str:
    """How a node is attached, and which address it had before, if that was another."""
    moved = was.address is not None and was.address != now.address
    return f"{attachment(now)} (it had {was.address})" if moved else attachment(now)


def attachment(attachment: Attachment) -> str:
    """How a node is attached, as one says it: `10.77.0.3, reached at vps.example.org:51820, a relay`."""
    said = [attachment.address or "no address yet"]
    if attachment.endpoints:
        said.append(f"reached at {both([endpoint(one) for one in attachment.endpoints])}")
    if attachment.site is not None:
        said.append(f"on the site {attachment.site}")
    if attachment.relay:
        said.append("a relay")
    return ", ".join(said)


def endpoint(endpoint: Endpoint) -> str:
    """`192.168.1.5:51820 (home)`."""
    return endpoint.at if endpoint.site is None else f"{endpoint.at} ({endpoint.site})"


def told(notes: Iterable[Note], mesh: Mesh) -> Iterator[tuple[str, tuple[str, ...]]]:
    """What is told of a mesh and what would do, a line each; what is so of several nodes is told once."""
    notes = tuple(notes)
    keyless = [note.node for note in notes if isinstance(note, NoKey)]
    placeless = [note.node for note in notes if isinstance(note, NoAddress)]
    if keyless:
        yield _without_key(keyless), (_comes_with_a_key(keyless),)
    if placeless:
        yield without_address(placeless), (_room(mesh),)
    for note in notes:
        if isinstance(note, NoPath | SameKey):
            yield headline(note), below(note, mesh)


def headline(note: Note) -> str:
    """What is told, in one sentence."""
    match note:
        case NoAddress(node=node):
            return without_address([node])
        case NoKey(node=node):
            return _without_key([node])
        case SameKey(nodes=nodes):
            return f"{both(nodes)} are left out of the network: their machines have one key, as copies do"
        case NoPath(node=node, provider=provider, provisions=provisions):
            taken = both([repr(provision) for provision in provisions])
            return f"{node} takes {taken} from {provider}, and there is no path between them in the network"
        case _:
            assert_never(note)


def below(note: Note, mesh: Mesh) -> tuple[str, ...]:
    """What would do, a line each."""
    match note:
        case NoAddress():
            return (_room(mesh),)
        case NoKey(node=node):
            return (_comes_with_a_key([node]),)
        case SameKey(nodes=nodes):
            return (
                f"fix: mesh-host leave on all but one of them, and join again: mesh node invite {nodes[-1]}",
            )
        case NoPath():
            first, *others = ways(note, mesh)
            why = "neither has an endpoint that the other can use, and no relay reaches both"
            return (why, f"fix: {first}", *(f"or: {other}" for other in others))
        case _:
            assert_never(note)


def without_address(nodes: Sequence[str]) -> str:
    """That the range has no room for them."""
    return f"{both(nodes)} {verb(nodes, 'has', 'have')} no address: the range has none left"


def _room(mesh: Mesh) -> str:
    range_ = None if mesh.network is None else wider(mesh.network, len(mesh.nodes))
    if range_ is None:
        return "fix: mesh network move RANGE     (a wider one; it shows who moves)"
    return f"fix: mesh network move {range_}     (who has an address keeps it)"


def _without_key(nodes: Sequence[str]) -> str:
    are, have = verb(nodes, "is", "are"), verb(nodes, "its machine has", "their machines have")
    return f"{both(nodes)} {are} left out of the network: {have} not reported a key yet"


def _comes_with_a_key(nodes: Sequence[str]) -> str:
    needs, name = verb(nodes, "it needs", "each needs"), nodes[0] if len(nodes) == 1 else "NODE"
    return f"{needs} mesh-host, and wg (Debian: wireguard-tools); see mesh status {name}"


def concerning(notes: Iterable[Note], nodes: Container[str]) -> tuple[Note, ...]:
    """What of it is about one of these nodes."""
    return tuple(note for note in notes if any(node in nodes for node in _about(note)))


def _about(note: Note) -> tuple[str, ...]:
    match note:
        case NoAddress(node=node) | NoKey(node=node):
            return (node,)
        case SameKey(nodes=nodes):
            return nodes
        case NoPath(node=node, provider=provider):
            return node, provider
        case _:
            assert_never(note)


def note_to_data(note: Note) -> dict[str, Any]:
    """What is told, as plain data."""
    match note:
        case NoAddress(node=node):
            return {"note": "no-address", "node": node}
        case NoKey(node=node):
            return {"note": "no-key", "node": node}
        case SameKey(nodes=nodes):
            return {"note": "same-key", "nodes": list(nodes)}
        case NoPath(node=node, provider=provider, provisions=provisions):
            return {"note": "no-path", "node": node, "provider": provider, "provisions": list(provisions)}
        case _:
            assert_never(note)
