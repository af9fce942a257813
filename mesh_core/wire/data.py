"""Values -> plain data, in the canonical form of the documents (design, parts 4 and 5).

Canonical: lists sorted, the short form where it says everything, what is empty left out, but for the
`assign` and `pins` of a node, which say that there are none.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from mesh_core.model.check import Check
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Claim, Module, Provision, Requirement, Scope
from mesh_core.model.node import Capability, Node
from mesh_core.model.recipe import SECONDS, Container, Files, Recipe, Shell
from mesh_core.model.resolution import Answer, Plan, PlannedModule, Refusal, Resolution
from mesh_core.model.resource import Resource
from mesh_core.model.source import HEAD, Source
from mesh_core.problems import facts
from mesh_core.wire.document import FORMAT
from mesh_core.wire.network import attachment_to_data, network_to_data


def mesh_to_data(mesh: Mesh) -> dict[str, Any]:
    """The mesh document as plain data; `mesh_from_data` of it is an equal mesh. Design, part 4."""
    data = {
        "format": FORMAT,
        "modules": [module_to_data(module) for module in mesh.catalogue],
        "nodes": [node_to_data(node) for node in mesh.nodes],
    }
    sources = {name: source_to_data(source) for name, source in mesh.sources}
    data |= {"sources": sources} if sources else {}
    return data | {"network": network_to_data(mesh.network)} if mesh.network is not None else data


def source_to_data(source: Source) -> str | dict[str, Any]:
    """Where a module's code lives: an address where that says all."""
    said: dict[str, Any] = {"repository": source.repository}
    if source.paths != (".",):
        said["paths"] = list(source.paths)
    if source.ref != HEAD:
        said["ref"] = source.ref
    return said if len(said) > 1 else source.repository


def module_to_data(module: Module) -> dict[str, Any]:
    """A module's manifest as plain data."""
    lists = {
        "requires": [_requirement(requirement) for requirement in module.requires],
        "provides": [_provision(provision) for provision in module.provides],
        "claims": [_claim(claim) for claim in module.claims],
        "capabilities": list(module.capabilities),
        "resources": [resource_to_data(resource) for resource in module.resources],
        "checks": [check_to_data(check) for check in module.checks],
    }
    given: dict[str, Any] = {key: entries for key, entries in lists.items() if entries}
    if module.build is not None:
        given["build"] = recipe_to_data(module.build)
    return {"name": module.name, "version": module.version, **given}


def recipe_to_data(recipe: Recipe) -> str | dict[str, Any]:
    """How a module is built: the kind alone where that says all."""
    if isinstance(recipe, Files):
        return "files"
    data: dict[str, Any]
    if isinstance(recipe, Shell):
        plain = Shell(commands=recipe.commands)
        data = {"kind": "shell", "commands": list(recipe.commands)}
        data |= {} if recipe.output == plain.output else {"output": recipe.output}
    else:
        data = {"kind": "container"}
        data |= {} if recipe.file == Container().file else {"file": recipe.file}
    data |= {"network": True} if recipe.network else {}
    data |= {} if recipe.seconds == SECONDS else {"seconds": recipe.seconds}
    return data if len(data) > 1 else "container"


def node_to_data(node: Node) -> dict[str, Any]:
    """A node's entry as plain data; one that never reported has no `capabilities`."""
    data: dict[str, Any] = {"name": node.name, "assign": list(node.assigned)}
    if node.capabilities is not None:
        data["capabilities"] = report_to_data(node.capabilities)
    data["pins"] = {pin.provision: pin.target for pin in node.pins}
    attachment = attachment_to_data(node.network)
    return data | {"network": attachment} if attachment else data


def report_to_data(report: Iterable[Capability]) -> dict[str, Any]:
    """What a machine said of itself as plain data."""
    return {capability.name: _verdict(capability) for capability in report}


def _requirement(requirement: Requirement) -> str | dict[str, Any]:
    if requirement.every:
        return {"name": requirement.name, "from": "every"}
    return requirement.name


def _provision(provision: Provision) -> str | dict[str, Any]:
    exports = dict(provision.exports)
    if provision.scope is Scope.NODE and not exports:
        return provision.name
    data: dict[str, Any] = {"name": provision.name, "scope": provision.scope.value}
    return data | {"exports": exports} if exports else data


def _claim(claim: Claim) -> str | dict[str, Any]:
    if claim.scope is Scope.NODE:
        return claim.name
    return {"name": claim.name, "scope": claim.scope.value}


def check_to_data(check: Check) -> dict[str, Any]:
    """A check as it stands in a manifest."""
    return {"kind": check.kind, **check.attributes}


def resource_to_data(resource: Resource) -> dict[str, Any]:
    """A resource as it stands in a manifest."""
    place = {"name": resource.name} if resource.path is None else {"path": resource.path}
    return {"kind": resource.kind, **place, **resource.attributes}


def _verdict(capability: Capability) -> bool | dict[str, Any]:
    if capability.detail is None:
        return capability.present
    return {"present": capability.present, "detail": capability.detail}


def resolution_to_data(resolution: Resolution) -> dict[str, Any]:
    """The resolution document as plain data. Design, part 5."""
    nodes = {outcome.node: outcome_to_data(outcome) for outcome in resolution.outcomes}
    return {"format": FORMAT, "nodes": nodes}


def outcome_to_data(outcome: Plan | Refusal) -> dict[str, Any]:
    """One node's plan or refusal as it stands in the resolution document."""
    if isinstance(outcome, Refusal):
        return {"status": "refused", "problems": [facts(problem) for problem in outcome.problems]}
    return {
        "status": "planned",
        "modules": [_planned(module) for module in outcome.modules],
        "answers": [_answer(answer) for answer in outcome.answers],
        "takes": [_answer(answer) for answer in outcome.takes],
        "unsettled": [_answer(answer) for answer in outcome.unsettled],
    }


def _planned(module: PlannedModule) -> dict[str, Any]:
    return {
        "name": module.name,
        "version": module.version,
        "reason": module.reason.value,
        "by": [{"module": d.module, "requires": d.requires} for d in module.by],
    }


def _answer(answer: Answer) -> dict[str, Any]:
    return {
        "provision": answer.provision,
        "every": answer.every,
        "node": answer.node,
        "module": answer.module,
        "required_by": list(answer.required_by),
    }
