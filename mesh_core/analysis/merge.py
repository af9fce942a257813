"""`mesh import`: a mesh document laid over a mesh (design, part 11)."""

from __future__ import annotations

from collections.abc import Container, Mapping

from attrs import evolve

from mesh_core.model.catalogue import Catalogue
from mesh_core.model.mesh import Mesh
from mesh_core.model.network import Attachment, Network, retire
from mesh_core.model.node import Node
from mesh_core.model.source import Source
from mesh_core.wire.document import MeshDocument, to_node
from mesh_core.wire.entries import NodeEntry


def merged(mesh: Mesh, document: MeshDocument, *, replace: bool = False) -> Mesh:
    """The mesh with the document laid over it.

    The modules that the document names take the place of those of their name. Of a node's entry, what it
    does not mention is left as it was, and what it gives empty is emptied; what the machine itself reported
    stays, and only a node that never reported takes the report of the document. With `replace`, modules and
    nodes that the document does not name are gone; a pin at one of them that the document does not mention is
    left all the same, to be told as one that nothing answers. Sources are laid over in the same way, where
    the document speaks of sources. So is the network, but that an address once given stays a node's. Raises
    `CatalogueError` where the two do not agree, `InvalidValue` where addresses do not.
    """
    modules = {} if replace else {module.name: module for module in mesh.catalogue}
    modules |= {module.name: module for module in document.mesh.catalogue}
    nodes = {} if replace else {node.name: node for node in mesh.nodes}
    for entry in document.nodes:
        nodes[entry.name] = _laid_over(mesh.node(entry.name), entry)
    sources = {} if replace and document.sources else _of_what_stays(mesh, modules)
    sources |= dict(document.mesh.sources)
    return Mesh(
        catalogue=Catalogue(modules=modules.values()),
        nodes=nodes.values(),
        sources=sources,
        network=_network(mesh, document.mesh.network, nodes),
    )


def _network(mesh: Mesh, written: Network | None, nodes: Mapping[str, Node]) -> Network | None:
    """The document's where it speaks of one; addresses that were let go stay so, of nodes that go first."""
    if mesh.network is None:
        return written
    network = mesh.network
    for node in sorted(mesh.nodes, key=lambda node: node.name in nodes):
        after = nodes[node.name].network.address if node.name in nodes else None
        if node.network.address is not None and node.network.address != after:
            network = retire(network, node.network.address)
    if written is not None:
        network = evolve(written, retired=(*network.retired, *written.retired))
    return network


def _of_what_stays(mesh: Mesh, modules: Container[str]) -> dict[str, Source]:
    """Sources but for those of modules that go."""
    return {name: source for name, source in mesh.sources if name in modules or name not in mesh.catalogue}


def _laid_over(node: Node | None, entry: NodeEntry) -> Node:
    written = to_node(entry)
    if node is None:
        return written
    return evolve(
        node,
        assigned=node.assigned if entry.assign is None else written.assigned,
        pins=node.pins if entry.pins is None else written.pins,
        capabilities=written.capabilities if node.capabilities is None else node.capabilities,
        network=node.network if entry.network is None else _attached(node.network, written.network),
    )


def _attached(was: Attachment, written: Attachment) -> Attachment:
    """As the document has it; the key that the machine reported stays, and so does an address once given."""
    return evolve(written, key=was.key or written.key, address=written.address or was.address)
