"""Pass one: what each node offers (design, part 3). It looks at no other node, and at no verdict.

> **S(n)**, the modules of node n, is the least set that holds every module assigned to n that the catalogue
> has, and, for each module m in S(n) and each node-scoped name r that m requires, the module c whenever c is
> the **only** module in the catalogue that provides r.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, partial, reduce
from operator import or_
from typing import NamedTuple

from mesh_core.model.resolution import Dependent, PlannedModule, Reason
from mesh_core.resolve.catalogue_rules import CatalogueRules, Seat
from mesh_core.resolve.order import order_of


class Ask(NamedTuple):
    """A mesh-scoped name, and the modules of S(n) that require it in this way."""

    provision: str
    every: bool
    required_by: tuple[str, ...]


class Footing(NamedTuple):
    """What a node is by its assignments alone: S(n), its order, and what it offers, holds and asks for."""

    bits: int
    """S(n) as bits (`catalogue_rules`)."""
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

    unanswered: bool
    """Whether a node-scoped name that several modules provide is required, and none of them is in S(n)."""

    @property
    def members(self) -> frozenset[str]:
        """S(n), by name."""
        return frozenset(module.name for module in (*self.modules, *self.stuck))


class PassOne:
    """Pass one over one catalogue. What two nodes have in common they share."""

    def __init__(self, catalogue: CatalogueRules) -> None:
        self._catalogue = catalogue
        self._footings: dict[tuple[str, ...], Footing] = {}
        self._seated = [(seat.mask, _Seated(seat)) for seat in catalogue.seats]
        self._offers = cache(partial(_offers, catalogue))
        self._holds = cache(partial(_holds, catalogue))
        self._asks = cache(partial(_asks, catalogue))

    def footing(self, assigned: tuple[str, ...]) -> Footing:
        """The footing of a node with these assignments; those that the catalogue lacks add nothing."""
        footing = self._footings.get(assigned)
        if footing is None:
            footing = self._footings[assigned] = self._work_out(assigned)
        return footing

    def _work_out(self, assigned: tuple[str, ...]) -> Footing:
        catalogue = self._catalogue
        known = [name for name in assigned if name in catalogue.modules]
        brought = reduce(or_, map(catalogue.brings.__getitem__, known), 0)
        members = brought >> catalogue.shift
        places = _NONE.union(*map(catalogue.closure_places.__getitem__, known))
        appended, bound, unanswered = order_of(catalogue, members, places)
        decides = brought | bound
        stuck = () if len(appended) == len(places) else self._stuck(places.difference(appended), decides)
        return Footing(
            bits=members,
            modules=self._place(appended, decides),
            stuck=stuck,
            offers=self._offers(members & catalogue.offering),
            holds=self._holds(members & catalogue.claiming_meshwide),
            asks=self._asks(members & catalogue.asking),
            unanswered=unanswered,
        )

    def _place(self, places: list[int], decides: int) -> tuple[PlannedModule, ...]:
        """The modules at these places, each with every requirement of the node that is bound to it."""
        seated = map(self._seated.__getitem__, places)
        return tuple([known[mask & decides] for mask, known in seated])

    def _stuck(self, places: Iterable[int], decides: int) -> tuple[PlannedModule, ...]:
        """The modules at these places, to which nothing is bound, by name."""
        seats = self._catalogue.seats
        modules = [_placed(seats[place], seats[place].assigned & decides) for place in places]
        return tuple(sorted(modules, key=lambda module: module.name))


_NONE: frozenset[int] = frozenset()


class _Seated(dict[int, PlannedModule]):
    """A module as it stands on nodes, by those of the bits of its seat that are set there."""

    def __init__(self, seat: Seat) -> None:
        self._seat = seat

    def __missing__(self, decided: int) -> PlannedModule:
        module = self[decided] = _placed(self._seat, decided)
        return module


def _placed(seat: Seat, decided: int) -> PlannedModule:
    """A module as it stands on a node, by those of the bits of its seat that are set there."""
    by: list[Dependent] = []
    reason, left, dependents = _PULLED_IN, decided, seat.dependents
    if decided & seat.assigned:
        reason, left = _ASSIGNED, decided ^ seat.assigned
    while left:  # from the alphabetically last module on
        bit, bound = dependents[left.bit_length()]
        by += bound
        left ^= bit
    by.reverse()
    if decided & seat.chosen:
        by.sort(key=lambda dependent: (dependent.module, dependent.requires))
    return PlannedModule(name=seat.name, version=seat.version, reason=reason, by=tuple(by))


# An enum's members cost a look-up each time, and this is asked for every module of every node.
_ASSIGNED, _PULLED_IN = Reason.ASSIGNED, Reason.PULLED_IN


def _offers(catalogue: CatalogueRules, offering: int) -> tuple[tuple[str, str], ...]:
    modules, rules = catalogue.members(offering), catalogue.rules
    return tuple(sorted((name, m) for m in modules for name in rules[m].mesh_provisions))


def _holds(catalogue: CatalogueRules, claiming: int) -> tuple[tuple[str, str], ...]:
    modules, rules = catalogue.members(claiming), catalogue.rules
    return tuple(sorted((claim, m) for m in modules for claim in rules[m].mesh_claims))


def _asks(catalogue: CatalogueRules, asking: int) -> tuple[Ask, ...]:
    required_by: dict[tuple[str, bool], list[str]] = {}
    for module in catalogue.members(asking):
        rules = catalogue.rules[module]
        ways = [(name, False) for name in rules.from_one]
        ways += [(name, True) for name in rules.from_every]
        for way in ways:
            required_by.setdefault(way, []).append(module)
    return tuple(
        Ask(provision=name, every=every, required_by=tuple(modules))
        for (name, every), modules in sorted(required_by.items())
    )
