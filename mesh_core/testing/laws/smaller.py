"""Making a mesh smaller: taking away one thing after the other, as long as what is wrong with it stays."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from attrs import evolve

from mesh_core.change import DropModule, DropNode, PutModule, PutNode, SetNetwork, Unassign, apply, apply_all
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Module
from mesh_core.model.network import UNATTACHED
from mesh_core.model.node import Node

MOST_TRIED = 3_000
"""So many meshes are looked at, and no more."""
_LISTS = ("requires", "provides", "claims", "capabilities", "resources")


def smallest(mesh: Mesh, is_wrong: Callable[[Mesh], bool]) -> Mesh:
    """A mesh with which the same is wrong, and from which nothing more can be taken away; or as near to
    it as `MOST_TRIED` leads.
    """
    tried = 0
    found: Mesh | None = mesh
    while found is not None:
        mesh, found = found, None
        for smaller in _smaller(mesh):
            tried += 1
            if tried > MOST_TRIED:
                break
            if is_wrong(smaller):
                found = smaller
                break
    return mesh


def _smaller(mesh: Mesh) -> Iterator[Mesh]:
    """The mesh without one thing of it, the great things first."""
    if mesh.network is not None:
        yield apply(mesh, SetNetwork(network=None))
        if mesh.network.retired:
            yield evolve(mesh, network=evolve(mesh.network, retired=()))
    for node in mesh.nodes:
        yield apply(mesh, DropNode(node=node.name))
    for module in mesh.catalogue:
        given = [Unassign(node=node.name, module=module.name) for node in mesh.nodes]
        yield apply_all(mesh, [*given, DropModule(module=module.name)])
    for node in mesh.nodes:
        yield from (apply(mesh, PutNode(node=less)) for less in _less_of_node(node))
    for module in mesh.catalogue:
        yield from (apply(mesh, PutModule(module=less)) for less in _less_of_module(module))


def _less_of_node(node: Node) -> Iterator[Node]:
    if node.network != UNATTACHED:
        yield evolve(node, network=UNATTACHED)
    for name in node.assigned:
        yield evolve(node, assigned=[other for other in node.assigned if other != name])
    for pin in node.pins:
        yield evolve(node, pins=[other for other in node.pins if other != pin])
        if pin.module is not None:
            yield evolve(node, pins=[evolve(p, module=None) if p == pin else p for p in node.pins])
    for said in node.capabilities or ():
        yield evolve(node, capabilities=[other for other in node.capabilities or () if other != said])
    if node.capabilities == ():
        yield evolve(node, capabilities=None)


def _less_of_module(module: Module) -> Iterator[Module]:
    for field in _LISTS:
        entries = getattr(module, field)
        for entry in entries:
            less: dict[str, Any] = {field: [other for other in entries if other != entry]}
            yield evolve(module, **less)
    if any(provision.exports for provision in module.provides):
        yield evolve(module, provides=[evolve(p, exports=()) for p in module.provides])
