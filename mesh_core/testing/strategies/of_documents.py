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
from mesh_core.model.network import Attachment, Endpoint, Network, Peers
from mesh_core.model.network_text import PORT
from mesh_core.model.node import Capability, Node
from mesh_core.model.recipe import Container, Files, Recipe, Shell
from mesh_core.model.resource import Resource
from mesh_core.model.source import Source
from mesh_core.testing.strategies.dice import Dice, thrown
from mesh_core.testing.strategies.of_meshes import THROWS, any_mesh

DOCUMENT_THROWS = 380
"""As many as a document of a small mesh may take."""


def any_document(dice: Dice, mesh: Mesh) -> dict[str, Any]:
    """A document that describes this mesh."""
    modules = [_module(dice, module) for module in dice.shuffled(mesh.catalogue)]
    nodes = [_node(dice, node) for node in dice.shuffled(mesh.nodes)]
    sources = {name: _source(dice, source) for name, source in dice.shuffled(mesh.sources)}
    needed: dict[str, Any] = {"format": 1}
    if mesh.network is not None:
        needed["network"] = _network(dice, mesh.network)
    return _object(dice, needed, {"modules": modules, "nodes": nodes, "sources": sources})


def documents_of(mesh: Mesh) -> st.SearchStrategy[dict[str, Any]]:
    """Documents that describe this mesh."""
    return thrown(DOCUMENT_THROWS, lambda dice: any_document(dice, mesh))


def _mesh_and_document(dice: Dice) -> tuple[Mesh, dict[str, Any]]:
    mesh = any_mesh(dice)
    return mesh, any_document(dice, mesh)


def meshes_and_documents() -> st.SearchStrategy[tuple[Mesh, dict[str, Any]]]:
    """A mesh, and one document that describes it."""
    return thrown(THROWS + DOCUMENT_THROWS, _mesh_and_document)


def documents() -> st.SearchStrategy[dict[str, Any]]:
    """Documents of all meshes that `meshes` makes."""
    return meshes_and_documents().map(lambda drawn: drawn[1])


def _object(dice: Dice, needed: Mapping[str, Any], optional: Mapping[str, Any]) -> dict[str, Any]:
    """An object with its keys in some order; what is optional and empty is left out or not."""
    kept = {key: value for key, value in optional.items() if value or dice.one_in(2)}
    items = [*needed.items(), *kept.items()]
    return dict(reversed(items) if dice.one_in(2) else items)


def _module(dice: Dice, module: Module) -> dict[str, Any]:
    return _object(
        dice,
        {"name": module.name, "version": module.version},
        {
            "requires": [_requirement(dice, r) for r in dice.shuffled(module.requires)],
            "provides": [_provision(dice, p) for p in dice.shuffled(module.provides)],
            "claims": [_claim(dice, c) for c in dice.shuffled(module.claims)],
            "capabilities": dice.shuffled(module.capabilities),
            # Their order is the manifest's, and says in which order they are applied.
            "resources": [_resource(dice, resource) for resource in module.resources],
        }
        | ({} if module.build is None else {"build": _recipe(dice, module.build)}),
    )


def _recipe(dice: Dice, recipe: Recipe) -> str | dict[str, Any]:
    kind = {"kind": type(recipe).__name__.lower()}
    if isinstance(recipe, Files):
        return kind if dice.one_in(2) else "files"
    said = {"network": recipe.network, "seconds": recipe.seconds}
    if isinstance(recipe, Shell):
        return kind | {"commands": list(recipe.commands), "output": recipe.output} | said
    return "container" if recipe == Container() and dice.one_in(2) else kind | {"file": recipe.file} | said


def _source(dice: Dice, source: Source) -> str | dict[str, Any]:
    if source == Source(repository=source.repository) and dice.one_in(2):
        return source.repository
    needed = {"repository": source.repository, "ref": source.ref, "paths": list(source.paths)}
    return _object(dice, needed, {})


def _requirement(dice: Dice, requirement: Requirement) -> str | dict[str, Any]:
    if requirement.every:
        return {"name": requirement.name, "from": "every"}
    if dice.one_in(2):
        return requirement.name
    return {"name": requirement.name} | ({"from": "one"} if dice.one_in(2) else {})


def _provision(dice: Dice, provision: Provision) -> str | dict[str, Any]:
    if not provision.exports:
        return _scoped(dice, provision)
    scope = provision.scope.value if provision.scope is Scope.MESH or dice.one_in(2) else ""
    exports = {"exports": dict(provision.exports)}
    return _object(dice, {"name": provision.name} | exports, {"scope": scope} if scope else {})


def _claim(dice: Dice, claim: Claim) -> str | dict[str, Any]:
    return _scoped(dice, claim)


def _scoped(dice: Dice, said: Provision | Claim) -> str | dict[str, Any]:
    if said.scope is Scope.MESH:
        return {"name": said.name, "scope": "mesh"}
    if dice.one_in(2):
        return said.name
    return {"name": said.name} | ({"scope": "node"} if dice.one_in(2) else {})


def _resource(dice: Dice, resource: Resource) -> dict[str, Any]:
    place = {"name": resource.name} if resource.path is None else {"path": resource.path}
    return _object(dice, {"kind": resource.kind, **place} | resource.attributes, {})


def _node(dice: Dice, node: Node) -> dict[str, Any]:
    reported = dice.shuffled(node.capabilities or ())
    said = {capability.name: _verdict(dice, capability) for capability in reported}
    pins = {pin.provision: pin.target for pin in dice.shuffled(node.pins)}
    needed: dict[str, Any] = {"name": node.name}
    if node.capabilities is not None:
        needed["capabilities"] = said
    network = _attachment(dice, node.network)
    return _object(dice, needed, {"assign": dice.shuffled(node.assigned), "pins": pins, "network": network})


def _network(dice: Dice, network: Network) -> str | dict[str, Any]:
    if network == Network(range=network.range) and dice.one_in(2):
        return network.range
    said: dict[str, Any] = {"retired": list(network.retired)}
    needed: dict[str, Any] = {"range": network.range}
    if network.peers is not Peers.TAKES or dice.one_in(2):
        needed["peers"] = network.peers.value
    if network.port != PORT or dice.one_in(2):
        needed["port"] = network.port
    return _object(dice, needed, said)


def _attachment(dice: Dice, attachment: Attachment) -> dict[str, Any]:
    said = {"address": attachment.address, "key": attachment.key, "site": attachment.site}
    # In the order in which they are preferred.
    endpoints = [_endpoint(dice, endpoint) for endpoint in attachment.endpoints]
    needed: dict[str, Any] = {key: value for key, value in said.items() if value is not None}
    if attachment.relay or (needed and dice.one_in(4)):
        needed["relay"] = attachment.relay
    if endpoints or (needed and dice.one_in(4)):
        needed["endpoints"] = endpoints
    return _object(dice, needed, {})


def _endpoint(dice: Dice, endpoint: Endpoint) -> str | dict[str, str]:
    if endpoint.site is not None:
        return {"at": endpoint.at, "site": endpoint.site}
    return {"at": endpoint.at} if dice.one_in(2) else endpoint.at


def _verdict(dice: Dice, capability: Capability) -> bool | dict[str, Any]:
    if capability.detail is not None:
        return {"present": capability.present, "detail": capability.detail}
    return {"present": capability.present} if dice.one_in(2) else capability.present
