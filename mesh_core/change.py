"""Changes: everything that can be said of a mesh, as values, and `apply` (design, part 7).

Commands, verified fixes, the event log and *what if* are all made of these.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from attrs import evolve, field, frozen

from mesh_core.model.catalogue import Catalogue
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Module
from mesh_core.model.network import Attachment, Network, retire
from mesh_core.model.node import Capability, Node, Pin
from mesh_core.model.origin import HANDED, Origin
from mesh_core.model.source import Source


@frozen(kw_only=True)
class Assign:
    """This node gets this module, whether the catalogue has it or not."""

    node: str
    module: str


@frozen(kw_only=True)
class Unassign:
    """This node is no longer given this module."""

    node: str
    module: str


@frozen(kw_only=True)
class SetPin:
    """This node takes a provision from there, instead of what it was pinned to before."""

    node: str
    pin: Pin


@frozen(kw_only=True)
class Unpin:
    """This node is no longer pinned for a provision."""

    node: str
    provision: str


@frozen(kw_only=True)
class PutModule:
    """This manifest is the current one of its name; `origin` is where it came from."""

    module: Module
    origin: Origin = HANDED


@frozen(kw_only=True)
class DropModule:
    """The catalogue has this module no longer, nor is its source known.

    Assignments of it stay, and are unknown then.
    """

    module: str


@frozen(kw_only=True)
class SetSource:
    """The code of this module lives here, instead of where it did before. It need not be there yet."""

    module: str
    source: Source


@frozen(kw_only=True)
class DropSource:
    """Where the code of this module lives is known no longer; its manifest stays."""

    module: str


@frozen(kw_only=True)
class Attach:
    """This is how a node is attached to the overlay, instead of how it was before."""

    node: str
    network: Attachment


@frozen(kw_only=True)
class SetNetwork:
    """This is what holds for the whole overlay; None for none, and nobody has an address then."""

    network: Network | None


@frozen(kw_only=True)
class PutNode:
    """This is a node's whole entry, new or instead of the one before."""

    node: Node


@frozen(kw_only=True)
class DropNode:
    """This node is gone, with its assignments, reports and pins, and with every pin *at* it.

    Its address is retired.
    """

    node: str


def _sorted(report: Iterable[Capability]) -> tuple[Capability, ...]:
    return tuple(sorted(report, key=lambda capability: capability.name))


@frozen(kw_only=True)
class Report:
    """A machine said this of itself, instead of whatever it said before."""

    node: str
    capabilities: tuple[Capability, ...] = field(converter=_sorted)


NodeChange = Assign | Unassign | SetPin | Unpin | Report | Attach
ModuleChange = PutModule | DropModule | SetSource | DropSource
Change = NodeChange | ModuleChange | PutNode | DropNode | SetNetwork


class NoSuchNode(LookupError):
    """A change is said of a node that the mesh does not have; `node` is its name."""

    def __init__(self, node: str) -> None:
        self.node = node
        super().__init__(f"no node is called {node!r}")


def apply(mesh: Mesh, change: Change) -> Mesh:
    """The mesh after a change; an equal one where the change says what already holds.

    Raises `NoSuchNode` for a change of a node that is not there, `CatalogueError` for a manifest that
    cannot stand beside the others, `InvalidValue` for an address that cannot be a node's. Design, part 7.
    """
    return apply_all(mesh, (change,))


def apply_all(mesh: Mesh, changes: Iterable[Change]) -> Mesh:
    """The mesh after several changes, in their order.

    Manifests, and addresses, need only agree once all are made.

    Raises what `apply` raises.
    """
    modules = {module.name: module for module in mesh.catalogue}
    nodes = {node.name: node for node in mesh.nodes}
    sources = dict(mesh.sources)
    network = mesh.network
    catalogue_changed = False
    for change in changes:
        if isinstance(change, SetNetwork):
            network = _change_network(nodes, change)
        elif isinstance(change, ModuleChange):
            _change_modules(modules, sources, change)
            catalogue_changed |= isinstance(change, PutModule | DropModule)
        else:
            let_go = _change_nodes(nodes, change)
            network = network if network is None or let_go is None else retire(network, let_go)
    catalogue = Catalogue(modules=modules.values()) if catalogue_changed else mesh.catalogue
    return Mesh(catalogue=catalogue, nodes=nodes.values(), sources=sources, network=network)


def _change_network(nodes: dict[str, Node], change: SetNetwork) -> Network | None:
    if change.network is None:
        for node in nodes.values():
            nodes[node.name] = evolve(node, network=evolve(node.network, address=None))
    return change.network


def _change_modules(modules: dict[str, Module], sources: dict[str, Source], change: ModuleChange) -> None:
    match change:
        case PutModule(module=manifest):
            Catalogue(modules=(manifest,))  # what cannot stand alone cannot stand among others
            modules[manifest.name] = manifest
        case DropModule(module=name):
            modules.pop(name, None)
            sources.pop(name, None)
        case SetSource(module=name, source=source):
            sources[name] = source
        case DropSource(module=name):
            sources.pop(name, None)
        case _:
            assert_never(change)


def _change_nodes(nodes: dict[str, Node], change: NodeChange | PutNode | DropNode) -> str | None:
    """Change them; the address that was somebody's before, and is not that node's any more."""
    name = change.node.name if isinstance(change, PutNode) else change.node
    before = nodes[name].network.address if name in nodes else None
    _change_entries(nodes, name, change)
    after = nodes[name].network.address if name in nodes else None
    return before if before != after else None


def _change_entries(nodes: dict[str, Node], name: str, change: NodeChange | PutNode | DropNode) -> None:
    if isinstance(change, PutNode):
        nodes[name] = change.node
        return
    if name not in nodes:
        raise NoSuchNode(name)
    if isinstance(change, DropNode):
        del nodes[change.node]
        for node in nodes.values():
            if any(pin.node == change.node for pin in node.pins):
                kept = (pin for pin in node.pins if pin.node != change.node)
                nodes[node.name] = evolve(node, pins=kept)
    else:
        nodes[change.node] = apply_to_node(nodes[change.node], change)


def apply_to_node(node: Node, change: NodeChange) -> Node:
    """The node after a change that is said of it alone."""
    match change:
        case Assign(module=module):
            return evolve(node, assigned={*node.assigned, module})
        case Unassign(module=module):
            return evolve(node, assigned={*node.assigned} - {module})
        case SetPin(pin=pin):
            return evolve(node, pins=(*_pins_but(node, pin.provision), pin))
        case Unpin(provision=provision):
            return evolve(node, pins=_pins_but(node, provision))
        case Report(capabilities=report):
            return evolve(node, capabilities=report)
        case Attach(network=attachment):
            return evolve(node, network=attachment)
        case _:
            assert_never(change)


def _pins_but(node: Node, provision: str) -> tuple[Pin, ...]:
    return tuple(pin for pin in node.pins if pin.provision != provision)
