"""The details below a headline: what one needs to know to believe it, and to see where it comes from."""

from __future__ import annotations

from typing import Any, assert_never

from mesh_core.canonical import canonical_json
from mesh_core.explain.chain import chain_to
from mesh_core.explain.words import both, near, offer, some, verb
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Module, Scope
from mesh_core.model.resolution import Resolution
from mesh_core.problems import (
    AmbiguousInMesh,
    AmbiguousOnNode,
    ClaimedElsewhere,
    ClaimedTwice,
    Cycle,
    MissingCapability,
    NoProvider,
    Offer,
    PinUnsatisfied,
    Problem,
    ResourceConflict,
    UnknownModule,
)


def details(problem: Problem, mesh: Mesh, resolution: Resolution) -> list[str]:  # noqa: C901, PLR0912 - a case for each problem
    """The lines below a headline, without the fixes."""
    match problem:
        case UnknownModule():
            return _no_such_module(problem.module, mesh)
        case NoProvider():
            chain = _chain(problem, mesh, resolution)
            if problem.scope is None:
                return [chain, *_no_such_provision(problem.provision, mesh)]
            return [chain, f"modules that provide it: {some(problem.candidates)}"]
        case AmbiguousOnNode():
            return [_chain(problem, mesh, resolution), "the mesh does not choose between modules"]
        case AmbiguousInMesh():
            found = _chain_if_pulled_in(problem, mesh, resolution)
            return [*found, "the mesh does not choose where data lives"]
        case PinUnsatisfied():
            return [*_chain_if_pulled_in(problem, mesh, resolution), *_elsewhere(problem, mesh, resolution)]
        case MissingCapability():
            return _chain_if_pulled_in(problem, mesh, resolution)
        case ClaimedTwice():
            where = "on a node" if problem.scope is Scope.NODE else "in the whole mesh"
            chains = _chains(problem.modules, problem.node, mesh, resolution)
            return [*chains, f"only one module {where} may hold it"]
        case ClaimedElsewhere():
            chains = _chains((problem.module,), problem.node, mesh, resolution)
            return [*chains, "only one module in the whole mesh may hold it"]
        case ResourceConflict():
            chains = _chains(problem.modules, problem.node, mesh, resolution)
            return [*chains, _differing(problem, mesh)]
        case Cycle():
            chains = _chains(problem.modules, problem.node, mesh, resolution)
            nobody_assigned = len(chains) == len(problem.modules)
            return [*([min(chains, key=len)] if nobody_assigned else []), *_waits(problem, mesh)]
        case _:
            assert_never(problem)


_Need = NoProvider | AmbiguousOnNode | AmbiguousInMesh | PinUnsatisfied | MissingCapability


def _chain(problem: _Need, mesh: Mesh, resolution: Resolution) -> str:
    """How the need came onto the node."""
    if isinstance(problem, MissingCapability):
        module, need = problem.module, f"needs {problem.capability}"
    else:
        module, need = problem.required_by[0], f"requires {problem.provision}"
    return chain_to(module, resolution.nodes[problem.node], need, mesh.catalogue)


def _chain_if_pulled_in(problem: _Need, mesh: Mesh, resolution: Resolution) -> list[str]:
    """How the need came onto the node, where that is not plain from the headline."""
    chain = _chain(problem, mesh, resolution)
    return [] if chain.count(" -> ") == 2 else [chain]


def _chains(modules: tuple[str, ...], node: str, mesh: Mesh, resolution: Resolution) -> list[str]:
    """Where each module comes from, for those that nobody assigned."""
    outcome = resolution.nodes[node]
    chains = [chain_to(module, outcome, catalogue=mesh.catalogue) for module in modules]
    return [chain for chain in chains if chain.count(" -> ") > 1]


def _elsewhere(problem: PinUnsatisfied, mesh: Mesh, resolution: Resolution) -> list[str]:
    """Who provides what a pin does not find, and which node may have been meant."""
    found = _offering(problem, mesh, resolution)
    if found:
        provides = verb(found, "provides", "provide")
        lines = [f"{both(found)} {provides} it, and the mesh does not fall back"]
    else:
        providing = [m.name for m in mesh.catalogue if _provides(m, problem.provision)]
        lines = [f"no node provides it; modules that do: {some(providing)}"]
    if not problem.exists:
        meant = near(problem.pin.node, [node.name for node in mesh.nodes])
        lines += [f"the nearest name is {meant[0]}"] if meant else []
    return lines


def _offering(problem: PinUnsatisfied, mesh: Mesh, resolution: Resolution) -> list[str]:
    """The nodes that provide a name; with their modules where the pin names one."""
    providing = {m.name for m in mesh.catalogue if _provides(m, problem.provision)}
    offers = [
        Offer(node=outcome.node, module=module)
        for outcome in resolution.outcomes
        for module in sorted(providing & outcome.members)
    ]
    if problem.pin.module is not None:
        return [offer(offered) for offered in offers]
    return list(dict.fromkeys(offered.node for offered in offers))


def _provides(module: Module, provision: str) -> bool:
    return any(provided.name == provision for provided in module.provides)


def _no_such_module(module: str, mesh: Mesh) -> list[str]:
    providers = [m.name for m in mesh.catalogue if _provides(m, module)]
    if providers:
        return [f"{module!r} is a provision; modules that provide it: {some(providers)}"]
    if mesh.source(module) is not None:
        return [f"it has a source, and was never built: mesh build {module}"]
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
    # As canonical JSON, like the resources: 1 and true differ, and null is not the same as nothing.
    return f"they differ in {both([key for key in keys if len({_written(a, key) for a in declared}) > 1])}"


def _written(attributes: dict[str, Any], key: str) -> str:
    return canonical_json(attributes[key]) if key in attributes else ""


def _waits(problem: Cycle, mesh: Mesh) -> list[str]:
    """What each module of a cycle waits for, among the others."""
    lines = []
    for name in problem.modules:
        module = mesh.catalogue.get(name)
        for requirement in module.requires if module else ():
            providers = [
                other
                for other in problem.modules
                if (m := mesh.catalogue.get(other)) is not None and _provides(m, requirement.name)
            ]
            if providers:
                lines.append(f"{name} requires {requirement.name} -> {both(providers)}")
    return lines
