"""What the catalogue alone decides, worked out once for all nodes.

Which module a requirement forces onto a node, what each module's closure is, and which modules a node can
have without a second look. Nothing here knows of any node.

Every module has a *place*: first those of the catalogue's own order, in that order, then those that are stuck
in it. And it has a *bit*, in the order of names: a set of modules is an int, so that what a node has in
common with a set is one operation, and two nodes that have the same in common share what follows from it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from functools import reduce
from operator import or_
from typing import NamedTuple

from attrs import frozen

from mesh_core.model.catalogue import Catalogue
from mesh_core.model.module import Module, Scope
from mesh_core.model.resolution import Dependent
from mesh_core.model.resource import Resource
from mesh_core.resolve.graph import closures, needs_graph, providers_first


class ModuleRules(NamedTuple):
    """One module's requirements, sorted out by how they are answered."""

    module: Module
    forced: tuple[tuple[Dependent, str], ...]
    """The node-scoped requirements that only one module provides, each with that module."""
    choices: tuple[tuple[Dependent, tuple[str, ...]], ...]
    """The node-scoped requirements that two or more modules provide, each with those modules."""
    from_one: tuple[str, ...]
    """Mesh-scoped names to be answered by one offer."""
    from_every: tuple[str, ...]
    """Mesh-scoped names to be answered by every offer."""
    unprovided: tuple[str, ...]
    """Names that no module in the catalogue provides."""
    mesh_provisions: tuple[str, ...]
    mesh_claims: tuple[str, ...]


class Choice(NamedTuple):
    """A node-scoped requirement that two or more modules provide. It never adds a module to a node."""

    asker: int
    """The place of the module that requires it."""
    providers: tuple[tuple[int, int, int], ...]
    """Each by its place, its bit, and the bit that says that the choice is bound to it; by place."""
    any_of: int
    """The bits of them all."""


class Seat(NamedTuple):
    """What decides how a module stands on a node: who has it pulled in, and which choices are bound to it."""

    name: str
    version: str
    assigned: int
    """The bit that says that the module itself is assigned."""
    mask: int
    """That bit, and the bits of everything in `dependents`."""
    chosen: int
    """Those of the bits that say that a choice is bound to it."""
    dependents: Mapping[int, tuple[int, tuple[Dependent, ...]]]
    """By the length of a bit: that bit, and the requirements that are bound to the module where it is set,
    from last to first.
    """


@frozen(kw_only=True)
class CatalogueRules:
    """The catalogue as resolution reads it."""

    modules: frozenset[str]
    names: tuple[str, ...]
    """The module at each place."""
    alphabet: tuple[str, ...]
    """The modules in the order of their bits."""
    bit_at: tuple[int, ...]
    """The bit of the module at each place."""
    ordered: int
    """How many modules the catalogue's own order has; at the places from here on, modules are stuck."""
    rules: Mapping[str, ModuleRules]
    providers: Mapping[str, tuple[str, ...]]
    """Every module that provides a name, sorted."""
    closures: Mapping[str, frozenset[str]]
    """A module and all that it forces onto its node, directly or not."""
    closure_places: Mapping[str, frozenset[int]]
    brings: Mapping[str, int]
    """The bits that an assignment of a module sets: that it is assigned, and its closure, shifted."""
    pulls: tuple[int, ...]
    """At each place, the modules that the one there forces onto its node by itself."""
    seats: tuple[Seat, ...]
    """At each place, how the module there stands on a node. The bits of members are shifted up by `shift`."""
    shift: int
    choices: Mapping[int, tuple[Choice, ...]]
    """The choices of each module that has some, by its place."""
    choosers: frozenset[int]
    """The places of those modules."""
    choosing: int
    asking: int
    """Modules with a mesh-scoped requirement."""
    offering: int
    """Modules with a mesh-scoped provision."""
    claiming_meshwide: int
    """Modules with a mesh-scoped claim."""
    needing: Mapping[int, frozenset[str]]
    """The capabilities that each module needs which needs some, by its bit."""
    claimants: Mapping[str, tuple[str, ...]]
    """Claims that two or more modules have, with those modules."""
    differing: Mapping[str, tuple[tuple[str, Resource], ...]]
    """Resource identities that modules declare with different content, with every declaration."""
    suspects: int
    """Modules that require what nobody provides, or that can be in conflict with another module."""

    def members(self, bits: int) -> tuple[str, ...]:
        """The names of a set of modules, sorted."""
        names = []
        while bits:
            lowest = bits & -bits
            names.append(self.alphabet[lowest.bit_length() - 1])
            bits ^= lowest
        return tuple(names)


def read_catalogue(catalogue: Catalogue) -> CatalogueRules:
    """Everything that the catalogue alone decides. Costs its modules times their closures."""
    providers = _providers(catalogue)
    scopes = {p.name: p.scope for module in catalogue for p in module.provides}
    rules = {module.name: _rules(module, providers, scopes) for module in catalogue}
    pulls = {name: tuple(dict.fromkeys(p for _, p in r.forced)) for name, r in rules.items()}
    graph = needs_graph(rules, ((p, name) for name, pulled in pulls.items() for p in pulled))
    order = providers_first(graph)
    names = (*order, *sorted(rules.keys() - set(order)))
    place = {name: at for at, name in enumerate(names)}
    bit = {name: 1 << at for at, name in enumerate(sorted(names))}
    closure = closures(graph, pulls)
    claimants, differing = _claimants(catalogue), _differing(catalogue)
    choices = _choices(rules, place, bit)
    wrong = {m for modules in claimants.values() for m in modules}
    wrong |= {m for entries in differing.values() for m, _ in entries}

    def bits(modules: Iterable[str]) -> int:
        return _any(map(bit.__getitem__, modules))

    return CatalogueRules(
        modules=frozenset(rules),
        names=names,
        alphabet=tuple(bit),
        bit_at=tuple(bit[name] for name in names),
        ordered=len(order),
        rules=rules,
        providers=providers,
        closures=closure,
        closure_places={name: frozenset(map(place.__getitem__, c)) for name, c in closure.items()},
        brings={name: bit[name] | bits(members) << len(names) for name, members in closure.items()},
        pulls=tuple(bits(pulls[name]) for name in names),
        seats=_seats(rules, place, bit, choices),
        shift=len(names),
        choices=choices,
        choosers=frozenset(choices),
        choosing=bits(name for name, r in rules.items() if r.choices),
        asking=bits(name for name, r in rules.items() if r.from_one or r.from_every),
        offering=bits(name for name, r in rules.items() if r.mesh_provisions),
        claiming_meshwide=bits(name for name, r in rules.items() if r.mesh_claims),
        needing={bit[m.name]: frozenset(m.capabilities) for m in catalogue if m.capabilities},
        claimants=claimants,
        differing=differing,
        suspects=bits(wrong | {name for name, r in rules.items() if r.unprovided}),
    )


def _any(bits: Iterable[int]) -> int:
    return reduce(or_, bits, 0)


def _providers(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    providers: dict[str, list[str]] = defaultdict(list)
    for module in catalogue:
        for provision in module.provides:
            providers[provision.name].append(module.name)
    return {name: tuple(modules) for name, modules in providers.items()}


def _rules(
    module: Module, providers: Mapping[str, tuple[str, ...]], scopes: Mapping[str, Scope]
) -> ModuleRules:
    forced: list[tuple[Dependent, str]] = []
    choices: list[tuple[Dependent, tuple[str, ...]]] = []
    asked: dict[bool, list[str]] = {False: [], True: []}
    unprovided: list[str] = []
    for requirement in module.requires:
        name = requirement.name
        found = providers.get(name, ())
        if not found:
            unprovided.append(name)
        elif scopes[name] is Scope.MESH:
            asked[requirement.every].append(name)
        elif len(found) == 1:
            forced.append((Dependent(module=module.name, requires=name), found[0]))
        else:
            choices.append((Dependent(module=module.name, requires=name), found))
    return ModuleRules(
        module=module,
        forced=tuple(forced),
        choices=tuple(choices),
        from_one=tuple(asked[False]),
        from_every=tuple(asked[True]),
        unprovided=tuple(unprovided),
        mesh_provisions=tuple([p.name for p in module.provides if p.scope is Scope.MESH]),
        mesh_claims=tuple([c.name for c in module.claims if c.scope is Scope.MESH]),
    )


def _choices(
    rules: Mapping[str, ModuleRules], place: Mapping[str, int], bit: Mapping[str, int]
) -> dict[int, tuple[Choice, ...]]:
    """The choices of each module that has some; the bits that bind them come after twice the modules."""
    choices: dict[int, tuple[Choice, ...]] = {}
    bound = 1 << 2 * len(place)
    for name in sorted(rules):
        of_module: list[Choice] = []
        for _, found in rules[name].choices:
            providers = []
            for provider in sorted(found, key=place.__getitem__):
                providers.append((place[provider], bit[provider], bound))
                bound <<= 1
            any_of = _any(bit[provider] for provider in found)
            of_module.append(Choice(asker=place[name], providers=tuple(providers), any_of=any_of))
        if of_module:
            choices[place[name]] = tuple(of_module)
    return choices


def _seats(
    rules: Mapping[str, ModuleRules],
    place: Mapping[str, int],
    bit: Mapping[str, int],
    choices: Mapping[int, tuple[Choice, ...]],
) -> tuple[Seat, ...]:
    dependents: list[dict[int, tuple[Dependent, ...]]] = [{} for _ in place]
    chosen = [0] * len(place)
    for name, r in rules.items():
        present = bit[name] << len(place)
        for dependent, provider in r.forced:
            by = dependents[place[provider]]
            by[present] = (*by[present], dependent) if present in by else (dependent,)
        for (dependent, _), choice in zip(r.choices, choices.get(place[name], ()), strict=True):
            for at, _, bound in choice.providers:
                dependents[at][bound] = (dependent,)
                chosen[at] |= bound
    return tuple(
        Seat(
            name=name,
            version=rules[name].module.version,
            assigned=bit[name],
            mask=_any(by) | bit[name],
            chosen=of_choices,
            dependents={b.bit_length(): (b, who[::-1]) for b, who in by.items()},
        )
        for name, by, of_choices in zip(place, dependents, chosen, strict=True)
    )


def _claimants(catalogue: Catalogue) -> dict[str, tuple[str, ...]]:
    claimants: dict[str, list[str]] = defaultdict(list)
    for module in catalogue:
        for claim in module.claims:
            claimants[claim.name].append(module.name)
    return {claim: tuple(names) for claim, names in claimants.items() if len(names) > 1}


def _differing(catalogue: Catalogue) -> dict[str, tuple[tuple[str, Resource], ...]]:
    declared: dict[str, list[tuple[str, Resource]]] = defaultdict(list)
    for module in catalogue:
        for resource in module.resources:
            declared[resource.identity].append((module.name, resource))
    return {
        identity: tuple(entries)
        for identity, entries in declared.items()
        if len(entries) > 1 and len({resource for _, resource in entries}) > 1
    }
