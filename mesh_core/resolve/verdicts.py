"""Everything that refuses a node and chooses nothing (design, part 3, *Problems*; law 6).

Each function gives the problems of one code. Verdicts never change S(n), the order, bindings or answers.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from mesh_core.model.node import Node
from mesh_core.problems import (
    AmbiguousOnNode,
    ClaimedElsewhere,
    ClaimedTwice,
    Cycle,
    MissingCapability,
    NoProvider,
    Problem,
    ResourceConflict,
    UnknownModule,
)
from mesh_core.resolve.answers import World, present
from mesh_core.resolve.catalogue_rules import CatalogueRules
from mesh_core.resolve.graph import cycles, needs_graph
from mesh_core.resolve.offers import Footing


def verdicts(node: Node, footing: Footing, world: World) -> list[Problem]:
    """Every problem of a node that is not one of its mesh-scoped answers."""
    catalogue, members = world.catalogue, footing.bits
    problems: list[Problem] = []
    if not catalogue.modules.issuperset(node.assigned):
        problems += unknown_modules(node, catalogue)
    if members & world.lacking[present(node)]:
        problems += missing_capabilities(node, footing, catalogue)
    if members & catalogue.suspects:
        problems += unprovided_names(node, footing, catalogue)
        problems += claims_twice(node, footing, catalogue)
        problems += resource_conflicts(node, footing, catalogue)
    if footing.unanswered:
        problems += ambiguous_names(node, footing, catalogue)
    if footing.holds:
        problems += claims_elsewhere(node, footing, world)
    if footing.stuck:
        problems += cycles_of(node, footing, catalogue)
    return problems


def unknown_modules(node: Node, catalogue: CatalogueRules) -> Iterator[UnknownModule]:
    """> a module assigned to n is not in the catalogue"""
    for module in node.assigned:
        if module not in catalogue.rules:
            yield UnknownModule(node=node.name, module=module)


def unprovided_names(node: Node, footing: Footing, catalogue: CatalogueRules) -> Iterator[NoProvider]:
    """> m in S(n) requires a name (from one or from every) that no module in the catalogue provides"""
    required_by: dict[str, list[str]] = defaultdict(list)
    for module in sorted(footing.members):
        for name in catalogue.rules[module].unprovided:
            required_by[name].append(module)
    for name, modules in required_by.items():
        yield NoProvider(node=node.name, provision=name, required_by=tuple(modules))


def ambiguous_names(node: Node, footing: Footing, catalogue: CatalogueRules) -> Iterator[AmbiguousOnNode]:
    """> m in S(n) requires a node-scoped name that two or more modules in the catalogue provide and none
    > in S(n) does
    """
    required_by: dict[str, list[str]] = defaultdict(list)
    members = footing.members
    for module in sorted(members):
        for dependent, providers in catalogue.rules[module].choices:
            if members.isdisjoint(providers):
                required_by[dependent.requires].append(module)
    for name, modules in required_by.items():
        yield AmbiguousOnNode(
            node=node.name,
            provision=name,
            required_by=tuple(modules),
            candidates=catalogue.providers[name],
        )


def missing_capabilities(
    node: Node, footing: Footing, catalogue: CatalogueRules
) -> Iterator[MissingCapability]:
    """> m in S(n) needs a capability that n has not reported present"""
    for module in footing.members:
        for capability in catalogue.rules[module].module.capabilities:
            verdict = node.lacks(capability)
            if verdict is not None:
                yield MissingCapability(node=node.name, module=module, capability=capability, verdict=verdict)


def claims_twice(node: Node, footing: Footing, catalogue: CatalogueRules) -> Iterator[ClaimedTwice]:
    """> two or more modules in S(n) have the same claim, whatever its scope"""
    claims = {
        claim
        for module in footing.members
        for claim in catalogue.rules[module].module.claims
        if claim.name in catalogue.claimants
    }
    members = footing.members
    for claim in claims:
        here = tuple(module for module in catalogue.claimants[claim.name] if module in members)
        if len(here) > 1:
            yield ClaimedTwice(node=node.name, claim=claim.name, scope=claim.scope, modules=here)


def claims_elsewhere(node: Node, footing: Footing, world: World) -> Iterator[ClaimedElsewhere]:
    """> a module in S(n) has a mesh-scoped claim that another node holds"""
    for claim, module in footing.holds:
        others = tuple(holder for holder in world.holders[claim] if holder.node != node.name)
        if others:
            yield ClaimedElsewhere(node=node.name, claim=claim, module=module, candidates=others)


def resource_conflicts(node: Node, footing: Footing, catalogue: CatalogueRules) -> Iterator[ResourceConflict]:
    """> two or more modules in S(n) declare the same resource identity with different content"""
    identities = {
        resource.identity
        for module in footing.members
        for resource in catalogue.rules[module].module.resources
        if resource.identity in catalogue.differing
    }
    members = footing.members
    for identity in identities:
        declared = catalogue.differing[identity]
        here = [(module, content) for module, content in declared if module in members]
        if len({content for _, content in here}) > 1:
            modules = tuple(sorted(module for module, _ in here))
            yield ResourceConflict(node=node.name, resource=identity, modules=modules)


def cycles_of(node: Node, footing: Footing, catalogue: CatalogueRules) -> Iterator[Cycle]:
    """> one problem for each strongly connected component of two or more in the graph from each stuck
    > module to every provider in S(n) of those of its answered requirements that have no provider in the
    > order
    """
    members, appended = footing.members, {module.name for module in footing.modules}
    waits: list[tuple[str, str]] = []
    for module in (module.name for module in footing.stuck):
        rules = catalogue.rules[module]
        waits += [(provider, module) for _, provider in rules.forced if provider not in appended]
        for _, providers in rules.choices:
            if appended.isdisjoint(providers):
                waits += [(provider, module) for provider in members.intersection(providers)]
    for modules in cycles(needs_graph((), waits)):
        yield Cycle(node=node.name, modules=modules)
