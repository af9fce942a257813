"""What the catalogue alone decides, worked out once for all nodes.

Which module a requirement forces onto a node, what each module's closure is, and which modules a node
can have without a second look. Nothing here knows of any node.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_

from attrs import frozen

from mesh_core.model.catalogue import Catalogue
from mesh_core.model.module import Module, Scope
from mesh_core.model.resolution import Dependent
from mesh_core.model.resource import Resource
from mesh_core.resolve.graph import closures, needs_graph, providers_first


@frozen(kw_only=True, eq=False)
class Choice:
    """A node-scoped requirement that two or more modules in the catalogue provide.

    It never adds a module to a node. `bit` is its own among all choices of the catalogue.
    """

    dependent: Dependent
    providers: tuple[str, ...]
    bit: int


@frozen(kw_only=True)
class ModuleRules:
    """One module's requirements, sorted out by how they are answered."""

    module: Module
    bit: int
    """Its own among all modules of the catalogue, in the order of their names."""
    forced: tuple[tuple[Dependent, str], ...]
    """The node-scoped requirements that only one module provides, each with that module."""
    choices: tuple[Choice, ...]
    """The node-scoped requirements that two or more modules provide."""
    from_one: tuple[str, ...]
    """Mesh-scoped names to be answered by one offer."""
    from_every: tuple[str, ...]
    """Mesh-scoped names to be answered by every offer."""
    unprovided: tuple[str, ...]
    """Names that no module in the catalogue provides."""
    mesh_provisions: tuple[str, ...]
    mesh_claims: tuple[str, ...]


@frozen(kw_only=True)
class CatalogueRules:
    """The catalogue as resolution reads it; sets of modules are kept as bits where nodes share by them."""

    modules: frozenset[str]
    rules: Mapping[str, ModuleRules]
    providers: Mapping[str, tuple[str, ...]]
    """Every module that provides a name, sorted."""
    closures: Mapping[str, frozenset[str]]
    """A module and all that it forces onto its node, directly or not."""
    closure_bits: Mapping[str, int]
    pulls: Mapping[str, tuple[str, ...]]
    """The modules that a module forces onto its node by itself, each once."""
    pulled_by: Mapping[str, int]
    """The modules that force a module onto their node by themselves."""
    forced_dependents: Mapping[str, Mapping[int, tuple[Dependent, ...]]]
    """The requirements by which they do, by the bit of the module that has them, sorted."""
    choice_dependents: Mapping[str, tuple[tuple[int, Dependent], ...]]
    """The choices that a module could answer, each with its bit."""
    rank: Mapping[str, int]
    """The place in the order of the whole catalogue, of each module that is not stuck in it."""
    stuck: frozenset[str]
    """Modules that have no place in the order of the whole catalogue: on a cycle, or behind one."""
    in_choices: frozenset[str]
    """Modules that have a choice, or are one."""
    asking: frozenset[str]
    """Modules with a mesh-scoped requirement."""
    offering: frozenset[str]
    """Modules with a mesh-scoped provision."""
    claiming_meshwide: frozenset[str]
    """Modules with a mesh-scoped claim."""
    needing: frozenset[str]
    """Modules that need a capability of the machine."""
    unprovided: frozenset[str]
    """Modules with a requirement that no module provides."""
    choosing: frozenset[str]
    """Modules that have a choice."""
    claimants: Mapping[str, tuple[str, ...]]
    """Claims that two or more modules have, with those modules."""
    contending: frozenset[str]
    """Modules that have such a claim."""
    differing: Mapping[str, tuple[tuple[str, Resource], ...]]
    """Resource identities that modules declare with different content, with every declaration."""
    declaring: frozenset[str]
    """Modules that declare such a resource."""
    suspects: frozenset[str]
    """Those of the last kinds: modules that can be wrong on a node whatever the rest of the mesh is."""


def read_catalogue(catalogue: Catalogue) -> CatalogueRules:
    """Everything that the catalogue alone decides. Costs its modules times their closures."""
    providers = _providers(catalogue)
    rules = _all_rules(catalogue, providers)
    choices = [choice for r in rules.values() for choice in r.choices]
    forced = _forced_dependents(rules)
    pulls = {name: tuple(dict.fromkeys(p for _, p in r.forced)) for name, r in rules.items()}
    graph = needs_graph(rules, ((p, name) for name, pulled in pulls.items() for p in pulled))
    closure = closures(graph)
    rank = {module: place for place, module in enumerate(providers_first(graph))}
    claimants = _claimants(catalogue)
    differing = _differing(catalogue)
    unprovided = frozenset(name for name, r in rules.items() if r.unprovided)
    choosing = frozenset(name for name, r in rules.items() if r.choices)
    contending = frozenset(module for modules in claimants.values() for module in modules)
    declaring = frozenset(module for entries in differing.values() for module, _ in entries)
    return CatalogueRules(
        modules=frozenset(rules),
        rules=rules,
        providers=providers,
        closures=closure,
        closure_bits={name: _any(rules[m].bit for m in whole) for name, whole in closure.items()},
        pulls=pulls,
        pulled_by={name: _any(by) for name, by in forced.items()},
        forced_dependents=forced,
        choice_dependents=_choice_dependents(choices),
        rank=rank,
        stuck=frozenset(rules.keys() - rank.keys()),
        in_choices=frozenset(m for c in choices for m in (c.dependent.module, *c.providers)),
        asking=frozenset(name for name, r in rules.items() if r.from_one or r.from_every),
        offering=frozenset(name for name, r in rules.items() if r.mesh_provisions),
        claiming_meshwide=frozenset(name for name, r in rules.items() if r.mesh_claims),
        needing=frozenset(module.name for module in catalogue if module.capabilities),
        unprovided=unprovided,
        choosing=choosing,
        claimants=claimants,
        contending=contending,
        differing=differing,
        declaring=declaring,
        suspects=unprovided | choosing | contending | declaring,
    )


def _any(bits: Iterable[int]) -> int:
    return reduce(or_, bits, 0)


def _forced_dependents(
    rules: Mapping[str, ModuleRules],
) -> dict[str, dict[int, tuple[Dependent, ...]]]:
    dependents: dict[str, dict[int, tuple[Dependent, ...]]] = {name: {} for name in rules}
    for r in rules.values():
        for dependent, provider in r.forced:
            by = dependents[provider]
            by[r.bit] = (*by.get(r.bit, ()), dependent)
    return dependents


def _choice_dependents(
    choices: Iterable[Choice],
) -> dict[str, tuple[tuple[int, Dependent], ...]]:
    dependents: dict[str, list[tuple[int, Dependent]]] = defaultdict(list)
    for choice in choices:
        for provider in choice.providers:
            dependents[provider].append((choice.bit, choice.dependent))
    return {provider: tuple(by) for provider, by in dependents.items()}


def _providers(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    providers: dict[str, list[str]] = defaultdict(list)
    for module in catalogue:
        for provision in module.provides:
            providers[provision.name].append(module.name)
    return {name: tuple(sorted(modules)) for name, modules in providers.items()}


def _all_rules(catalogue: Catalogue, providers: Mapping[str, tuple[str, ...]]) -> dict[str, ModuleRules]:
    scopes = {p.name: p.scope for module in catalogue for p in module.provides}
    rules: dict[str, ModuleRules] = {}
    choices = 0
    for place, module in enumerate(catalogue):
        rules[module.name] = _rules(module, 1 << place, choices, providers, scopes)
        choices += len(rules[module.name].choices)
    return rules


def _rules(
    module: Module,
    bit: int,
    choices_before: int,
    providers: Mapping[str, tuple[str, ...]],
    scopes: Mapping[str, Scope],
) -> ModuleRules:
    forced: list[tuple[Dependent, str]] = []
    choices: list[Choice] = []
    asked: dict[bool, list[str]] = {False: [], True: []}
    unprovided: list[str] = []
    for requirement in module.requires:
        name = requirement.name
        if name not in providers:
            unprovided.append(name)
        elif scopes[name] is Scope.MESH:
            asked[requirement.every].append(name)
        else:
            dependent, found = Dependent(module=module.name, requires=name), providers[name]
            if len(found) == 1:
                forced.append((dependent, found[0]))
            else:
                choice_bit = 1 << (choices_before + len(choices))
                choices.append(Choice(dependent=dependent, providers=found, bit=choice_bit))
    return ModuleRules(
        module=module,
        bit=bit,
        forced=tuple(forced),
        choices=tuple(choices),
        from_one=tuple(asked[False]),
        from_every=tuple(asked[True]),
        unprovided=tuple(unprovided),
        mesh_provisions=tuple(p.name for p in module.provides if p.scope is Scope.MESH),
        mesh_claims=tuple(c.name for c in module.claims if c.scope is Scope.MESH),
    )


def _claimants(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    claimants: dict[str, list[str]] = defaultdict(list)
    for module in catalogue:
        for claim in module.claims:
            claimants[claim.name].append(module.name)
    return {claim: tuple(sorted(names)) for claim, names in claimants.items() if len(names) > 1}


def _differing(catalogue: Catalogue) -> dict[str, tuple[tuple[str, Resource], ...]]:
    declared: dict[str, list[tuple[str, Resource]]] = defaultdict(list)
    for module in catalogue:
        for resource in module.resources:
            declared[resource.identity].append((module.name, resource))
    return {
        identity: tuple(entries)
        for identity, entries in declared.items()
        if len({resource for _, resource in entries}) > 1
    }
