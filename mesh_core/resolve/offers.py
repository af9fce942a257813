"""Pass one: what each node offers (design, part 3). It looks at no other node, and at no verdict.

> **S(n)**, the modules of node n, is the least set that holds every module assigned to n that the catalogue
> has, and, for each module m in S(n) and each node-scoped name r that m requires, the module c whenever c is
> the **only** module in the catalogue that provides r.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial, reduce
from itertools import repeat
from operator import or_

from attrs import frozen

from mesh_core.model.resolution import Dependent, PlannedModule, Reason
from mesh_core.resolve.catalogue_rules import CatalogueRules
from mesh_core.resolve.order import Order, Orders


@frozen(kw_only=True)
class Footing:
    """What a node is by its assignments alone: S(n), its order, and what it offers, holds and asks for."""

    members: frozenset[str]
    modules: tuple[PlannedModule, ...]
    """Those of S(n) in the order of n."""
    stuck: tuple[PlannedModule, ...]
    """Those of S(n) that can never be appended, by name."""
    offers: tuple[tuple[str, str], ...]
    """Pairs (provision, module) of scope mesh."""
    holds: tuple[tuple[str, str], ...]
    """Pairs (claim, module) of scope mesh."""
    asks: tuple[Ask, ...]
    """The mesh-scoped names that S(n) requires, sorted by name, from one before from every."""


@frozen(kw_only=True)
class Ask:
    """A mesh-scoped name, and the modules of S(n) that require it in this way."""

    provision: str
    every: bool
    required_by: tuple[str, ...]


class PassOne:
    """Pass one over one catalogue. What two nodes have in common they share."""

    def __init__(self, catalogue: CatalogueRules) -> None:
        self._catalogue = catalogue
        self._footings: dict[frozenset[str], Footing] = {}
        self._orders = Orders(catalogue)
        self._placed = _Placed(catalogue)
        self._offers = cache(partial(_offers, catalogue))
        self._holds = cache(partial(_holds, catalogue))
        self._asks = cache(partial(_asks, catalogue))

    def footing(self, assigned: Iterable[str]) -> Footing:
        """The footing of a node with these assignments; those that the catalogue lacks add nothing."""
        known = frozenset(assigned) & self._catalogue.modules
        footing = self._footings.get(known)
        if footing is None:
            footing = self._footings[known] = self._work_out(known)
        return footing

    def _work_out(self, assigned: frozenset[str]) -> Footing:
        catalogue = self._catalogue
        members = frozenset().union(*map(catalogue.closures.__getitem__, assigned))
        order = self._orders.order_of(members)
        return Footing(
            members=members,
            modules=self._place(order, assigned),
            stuck=tuple(_placed(catalogue, name, name in assigned, 0, 0) for name in order.stuck),
            offers=self._offers(members & catalogue.offering),
            holds=self._holds(members & catalogue.claiming_meshwide),
            asks=self._asks(members & catalogue.asking),
        )

    def _place(self, order: Order, assigned: frozenset[str]) -> tuple[PlannedModule, ...]:
        """The modules in their order, each with every requirement of the node that is bound to it."""
        catalogue, names = self._catalogue, order.appended
        members = reduce(or_, map(catalogue.closure_bits.__getitem__, assigned), 0)
        pulled_by = map(members.__and__, map(catalogue.pulled_by.__getitem__, names))
        chosen_by = map(order.chosen.get, names, repeat(0))
        keys = zip(names, map(assigned.__contains__, names), pulled_by, chosen_by, strict=False)
        return tuple(map(self._placed.__getitem__, keys))


class _Placed(dict[tuple[str, bool, int, int], PlannedModule]):
    """Modules as they stand on nodes; equal ones are one value, made when it is first asked for."""

    def __init__(self, catalogue: CatalogueRules) -> None:
        self._catalogue = catalogue

    def __missing__(self, key: tuple[str, bool, int, int]) -> PlannedModule:
        placed = self[key] = _placed(self._catalogue, *key)
        return placed


def _placed(
    catalogue: CatalogueRules, name: str, assigned: bool, pulled_by: int, chosen_by: int
) -> PlannedModule:
    """A module on a node, with all that is bound to it there: what forces it on, and what chose it."""
    by: list[Dependent] = []
    dependents = catalogue.forced_dependents[name]
    while pulled_by:
        lowest = pulled_by & -pulled_by  # the alphabetically first module that is left
        by += dependents[lowest]
        pulled_by ^= lowest
    if chosen_by:
        choices = catalogue.choice_dependents[name]
        by += [dependent for bit, dependent in choices if bit & chosen_by]
        by.sort(key=lambda dependent: (dependent.module, dependent.requires))
    return PlannedModule(
        name=name,
        version=catalogue.rules[name].module.version,
        reason=Reason.ASSIGNED if assigned else Reason.PULLED_IN,
        by=tuple(by),
    )


def _offers(catalogue: CatalogueRules, offering: frozenset[str]) -> tuple[tuple[str, str], ...]:
    rules = catalogue.rules
    return tuple(sorted((name, m) for m in offering for name in rules[m].mesh_provisions))


def _holds(catalogue: CatalogueRules, claiming: frozenset[str]) -> tuple[tuple[str, str], ...]:
    rules = catalogue.rules
    return tuple(sorted((claim, m) for m in claiming for claim in rules[m].mesh_claims))


def _asks(catalogue: CatalogueRules, asking: frozenset[str]) -> tuple[Ask, ...]:
    required_by: dict[tuple[str, bool], list[str]] = {}
    for module in sorted(asking):
        rules = catalogue.rules[module]
        ways = [(name, False) for name in rules.from_one]
        ways += [(name, True) for name in rules.from_every]
        for way in ways:
            required_by.setdefault(way, []).append(module)
    return tuple(
        Ask(provision=name, every=every, required_by=tuple(modules))
        for (name, every), modules in sorted(required_by.items())
    )
