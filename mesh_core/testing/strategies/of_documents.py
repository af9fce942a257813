"""Strategies for mesh documents as people write them (design, part 4): plain data for one mesh.

A document says the same in many ways: entries in any order, short forms and long ones, what is
empty left out or written as empty. It is spelled here from the values, without `mesh_core.wire`,
so that it can be held against what that reads and writes.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hypothesis import strategies as st

from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Claim, Module, Provision, Requirement, Scope
from mesh_core.model.node import Capability, Node
from mesh_core.model.resource import Resource
from mesh_core.testing.strategies.of_meshes import meshes
from mesh_core.testing.strategies.of_modules import shuffled

_COIN = st.booleans()


@st.composite
def documents_of(draw: st.DrawFn, mesh: Mesh) -> dict[str, Any]:
    """Documents that describe this mesh."""
    modules = [_module(draw, module) for module in shuffled(draw, mesh.catalogue.modules)]
    nodes = [_node(draw, node) for node in shuffled(draw, mesh.nodes)]
    return _object(draw, {"format": 1}, {"modules": modules, "nodes": nodes})


@st.composite
def documents(draw: st.DrawFn) -> dict[str, Any]:
    """Documents of all meshes that `meshes` makes."""
    return draw(documents_of(draw(meshes())))


@st.composite
def meshes_and_documents(draw: st.DrawFn) -> tuple[Mesh, dict[str, Any]]:
    """A mesh, and one document that describes it."""
    mesh = draw(meshes())
    return mesh, draw(documents_of(mesh))


def _object(draw: st.DrawFn, needed: Mapping[str, Any], optional: Mapping[str, Any]) -> dict[str, Any]:
    """An object with its keys in some order; what is optional and empty is left out or not."""
    kept = {key: value for key, value in optional.items() if value or draw(_COIN)}
    items = [*needed.items(), *kept.items()]
    return dict(reversed(items) if draw(_COIN) else items)


def _module(draw: st.DrawFn, module: Module) -> dict[str, Any]:
    return _object(
        draw,
        {"name": module.name, "version": module.version},
        {
            "requires": [_requirement(draw, r) for r in shuffled(draw, module.requires)],
            "provides": [_provision(draw, p) for p in shuffled(draw, module.provides)],
            "claims": [_claim(draw, c) for c in shuffled(draw, module.claims)],
            "capabilities": [*shuffled(draw, module.capabilities)],
            # Their order is the manifest's, and says in which order they are applied.
            "resources": [_resource(draw, resource) for resource in module.resources],
        },
    )


def _requirement(draw: st.DrawFn, requirement: Requirement) -> str | dict[str, Any]:
    if requirement.every:
        return {"name": requirement.name, "from": "every"}
    if draw(_COIN):
        return requirement.name
    return {"name": requirement.name} | ({"from": "one"} if draw(_COIN) else {})


def _provision(draw: st.DrawFn, provision: Provision) -> str | dict[str, Any]:
    if not provision.exports:
        return _scoped(draw, provision)
    scope = provision.scope.value if provision.scope is Scope.MESH or draw(_COIN) else ""
    exports = {"exports": dict(provision.exports)}
    return _object(draw, {"name": provision.name} | exports, {"scope": scope} if scope else {})


def _claim(draw: st.DrawFn, claim: Claim) -> str | dict[str, Any]:
    return _scoped(draw, claim)


def _scoped(draw: st.DrawFn, said: Provision | Claim) -> str | dict[str, Any]:
    if said.scope is Scope.MESH:
        return {"name": said.name, "scope": "mesh"}
    if draw(_COIN):
        return said.name
    return {"name": said.name} | ({"scope": "node"} if draw(_COIN) else {})


def _resource(draw: st.DrawFn, resource: Resource) -> dict[str, Any]:
    place = {"name": resource.name} if resource.path is None else {"path": resource.path}
    return _object(draw, {"kind": resource.kind, **place} | resource.attributes, {})


def _node(draw: st.DrawFn, node: Node) -> dict[str, Any]:
    reported = shuffled(draw, node.capabilities or ())
    said = {capability.name: _verdict(draw, capability) for capability in reported}
    pins = {pin.provision: pin.target for pin in shuffled(draw, node.pins)}
    needed: dict[str, Any] = {"name": node.name}
    if node.capabilities is not None:
        needed["capabilities"] = said
    return _object(draw, needed, {"assign": [*shuffled(draw, node.assigned)], "pins": pins})


def _verdict(draw: st.DrawFn, capability: Capability) -> bool | dict[str, Any]:
    if capability.detail is not None:
        return {"present": capability.present, "detail": capability.detail}
    return {"present": capability.present} if draw(_COIN) else capability.present
