"""The details below a headline: what one needs to know to believe it, and to see where it comes from."""

from __future__ import annotations

from typing import assert_never

from mesh_core.explain.chain import chain_to
from mesh_core.explain.words import both, near, some, verb
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Scope
from mesh_core.model.resolution import Resolution
from mesh_core.problems import (
    AmbiguousInMesh,
    AmbiguousOnNode,
    ClaimedElsewhere,
    ClaimedTwice,
    Cycle,
    MissingCapability,
    NoProvider,
    PinUnsatisfied,
    Problem,
    ResourceConflict,
    UnknownModule,
)


def details(problem: Problem, mesh: Mesh, resolution: Resolution) -> list[str]:  # noqa: C901, PLR0912 - a case for each problem
    """The lines below a headline, without the fixes."""
    outcome = resolution.nodes[problem.node]
    match problem:
        case UnknownModule():
            return _no_such_module(problem.module, mesh)
        case NoProvider():
            chain = chain_to(problem.required_by[0], outcome, f"requires {problem.provision}")
            if problem.scope is None:
                return [chain, *_no_such_provision(problem.provision, mesh)]
            return [chain, f"modules that provide it: {some(problem.candidates)}"]
        case AmbiguousOnNode():
            chain = chain_to(problem.required_by[0], outcome, f"requires {problem.provision}")
            return [chain, "the mesh does not choose between modules"]
        case AmbiguousInMesh():
            found = _chain_if_pulled_in(problem, resolution)
            return [*found, "the mesh does not choose where data lives"]
        case PinUnsatisfied():
            return [*_chain_if_pulled_in(problem, resolution), *_elsewhere(problem, mesh, resolution)]
        case MissingCapability():
            chain = chain_to(problem.module, outcome, f"needs {problem.capability}")
            return [] if chain.count(" -> ") == 2 else [chain]
        case ClaimedTwice():
            where = "on a node" if problem.scope is Scope.NODE else "in the whole mesh"
            return [
                *_chains(problem.modules, resolution, problem.node),
                f"only one module {where} may hold it",
            ]
        case ClaimedElsewhere():
            return ["only one module in the whole mesh may hold it"]
        case ResourceConflict():
            return [*_chains(problem.modules, resolution, problem.node), _differing(problem, mesh)]
        case Cycle():
            return _waits(problem, mesh)
        case _:
            assert_never(problem)


def _chain_if_pulled_in(problem: AmbiguousInMesh | PinUnsatisfied, resolution: Resolution) -> list[str]:
    """How the need came onto the node, where that is not plain from the headline."""
    outcome = resolution.nodes[problem.node]
    chain = chain_to(problem.required_by[0], outcome, f"requires {problem.provision}")
    return [] if chain.count(" -> ") == 2 else [chain]


def _chains(modules: tuple[str, ...], resolution: Resolution, node: str) -> list[str]:
    """Where each module comes from, for those that nobody assigned."""
    chains = [chain_to(module, resolution.nodes[node]) for module in modules]
    return [chain for chain in chains if chain.count(" -> ") > 1]


def _elsewhere(problem: PinUnsatisfied, mesh: Mesh, resolution: Resolution) -> list[str]:
    """Who provides what a pin does not find."""
    catalogue = mesh.catalogue
    providing = {m.name for m in catalogue if any(p.name == problem.provision for p in m.provides)}
    nodes = [o.node for o in resolution.outcomes if not providing.isdisjoint(o.members)]
    if not nodes:
        return [f"no node provides it; modules that do: {some(sorted(providing))}"]
    provides = verb(nodes, "provides", "provide")
    lines = [f"{both(nodes)} {provides} it, and the mesh does not fall back"]
    if not problem.exists:
        meant = near(problem.pin.node, [node.name for node in mesh.nodes])
        lines += [f"the nearest name is {meant[0]}"] if meant else []
    return lines


def _no_such_module(module: str, mesh: Mesh) -> list[str]:
    providers = [m.name for m in mesh.catalogue if any(p.name == module for p in m.provides)]
    if providers:
        return [f"{module!r} is a provision; modules that provide it: {some(providers)}"]
    meant = near(module, [m.name for m in mesh.catalogue])
    return [f"near names: {', '.join(meant)}"] if meant else []


def _no_such_provision(provision: str, mesh: Mesh) -> list[str]:
    module = mesh.catalogue.get(provision)
    if module is not None:
        provides = some([p.name for p in module.provides]) or "nothing"
        return [f"{provision!r} is a module; it provides {provides}"]
    meant = near(provision, {p.name for m in mesh.catalogue for p in m.provides})
    return [f"near names: {', '.join(meant)}"] if meant else []


def _differing(problem: ResourceConflict, mesh: Mesh) -> str:
    """Which attributes of a resource its modules do not agree on."""
    declared = [
        {"kind": resource.kind, **resource.attributes}
        for name in problem.modules
        if (module := mesh.catalogue.get(name)) is not None
        for resource in module.resources
        if resource.identity == problem.resource
    ]
    keys = sorted({key for attributes in declared for key in attributes})
    differing = [key for key in keys if any(d.get(key) != declared[0].get(key) for d in declared)]
    return f"they differ in {both(differing)}" if differing else "they differ in how a value is written"


def _waits(problem: Cycle, mesh: Mesh) -> list[str]:
    """What each module of a cycle waits for, among the others."""
    lines = []
    for name in problem.modules:
        module = mesh.catalogue.get(name)
        for requirement in module.requires if module else ():
            providers = [
                other
                for other in problem.modules
                if (m := mesh.catalogue.get(other)) is not None
                and any(p.name == requirement.name for p in m.provides)
            ]
            if providers:
                lines.append(f"{name} requires {requirement.name} -> {both(providers)}")
    return lines
