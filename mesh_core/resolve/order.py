"""The order of n, and what each requirement is bound to (design, part 3, *Pass one*).

> begin with nothing; again and again append the alphabetically first module of S(n) that is not there yet
> and each of whose answered node-scoped requirements has a provider that is. Each answered requirement is
> bound to the provider that stands first.

The catalogue has one order of its own, worked out once, in which a module waits only for the providers that
are forced: a requirement with several providers, a *choice*, holds nobody up there. Restricted to S(n) it is
the order that S(n) would have without choices: S(n) holds every forced provider of its members, so a module
outside it is never what a member waits for, and whenever the first of all that can be appended is a member,
it is the first member that can be. So a node costs a sort - and, from the first module on that stands before
every provider of a choice of its, a walk, in which such a module is passed over until it can be appended.

Modules are known by their places and their bits here (`catalogue_rules`).
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from heapq import heappop, heappush
from typing import NamedTuple

from mesh_core.resolve.catalogue_rules import CatalogueRules, Choice


class Order(NamedTuple):
    """The order of a node's modules; what is stuck is not in it."""

    appended: list[int]
    bound: int = 0
    """The bits of what the choices are bound to. A forced requirement is bound to its only provider."""
    unanswered: bool = False
    """Whether there is a choice that nothing in S(n) answers."""


def order_of(catalogue: CatalogueRules, members: int, places: frozenset[int]) -> Order:
    """The order of S(n), which is given as bits and as places."""
    by_place = sorted(places)
    if by_place and by_place[-1] >= catalogue.ordered:
        del by_place[bisect_left(by_place, catalogue.ordered) :]
    if not members & catalogue.choosing:
        return Order(by_place)
    held_up, bound, unanswered = catalogue.ordered, 0, False
    choices = [c for place in places & catalogue.choosers for c in catalogue.choices[place]]
    for choice in choices:
        first = _first(choice, members)
        if first is None:
            unanswered = True
        elif first[0] > choice.asker:
            held_up = min(held_up, choice.asker)
        elif first[0] < catalogue.ordered:
            bound |= first[2]
    if held_up == catalogue.ordered:
        return Order(by_place, bound, unanswered)
    start = bisect_left(by_place, held_up)
    walk = _Walk(catalogue, members, choices, by_place[:start])
    walk.through(by_place[start:])
    return Order(walk.appended, _bind(choices, walk.there, walk.appended), unanswered)


def _first(choice: Choice, members: int) -> tuple[int, int, int] | None:
    """The provider of a choice that stands first in the catalogue's order, of those in S(n)."""
    for provider in choice.providers:
        if members & provider[1]:
            return provider
    return None


def _bind(choices: Iterable[Choice], there: int, appended: list[int]) -> int:
    """Each answered choice is bound to the one of its providers that stands first, if one stands."""
    bound = 0
    for choice in choices:
        standing = [provider for provider in choice.providers if provider[1] & there]
        if len(standing) > 1:
            bound |= min(standing, key=lambda provider: appended.index(provider[0]))[2]
        elif standing:
            bound |= standing[0][2]
    return bound


class _Walk:
    """The order where choices hold modules up: the rule as it is written, along the catalogue's order.

    A module that is reached before it can be appended is passed over; it is released when the last that it
    waited for is appended, and is appended as soon as it is the first of those that can be.
    """

    def __init__(
        self, catalogue: CatalogueRules, members: int, choices: Iterable[Choice], appended: list[int]
    ) -> None:
        self.appended = appended
        """The places of the modules that stand, in their order; and the same as bits:"""
        self._bit_at = catalogue.bit_at
        self.there = sum(map(catalogue.bit_at.__getitem__, appended))
        self._names = catalogue.names
        self._pulls = catalogue.pulls
        self._choices: dict[int, list[int]] = defaultdict(list)
        for choice in choices:
            answering = choice.any_of & members
            if answering:
                self._choices[choice.asker].append(answering)
        self._released: list[tuple[str, int]] = []
        self._passed_over: dict[int, list[int]] = {}
        self._held_up = 0
        """The modules that were passed over at some time, as bits."""
        self._awaited = 0
        """Everything that a module passed over waits for, as bits."""

    def through(self, by_place: Iterable[int]) -> None:
        """Append the modules, which come in the catalogue's order; some may never be appended."""
        names, pulls, choices, released = self._names, self._pulls, self._choices, self._released
        for place in by_place:
            while released and released[0][0] < names[place]:
                self._append(heappop(released)[1])
            if (place in choices or pulls[place] & self._held_up) and self._passes_over(place):
                continue
            self._append(place)
        while released:
            self._append(heappop(released)[1])

    def _passes_over(self, place: int) -> bool:
        """Whether the module waits for something; then it is remembered with what it waits for."""
        waits = self._waits(place)
        if not waits:
            return False
        self._passed_over[place] = waits
        self._held_up |= self._bit_at[place]
        for answering in waits:
            self._awaited |= answering
        return True

    def _waits(self, place: int) -> list[int]:
        """For each requirement without a provider that is there, the providers of which one will do."""
        there = self.there
        missing = self._pulls[place] & ~there
        waits = [answering for answering in self._choices.get(place, ()) if not answering & there]
        while missing:
            lowest = missing & -missing
            waits.append(lowest)
            missing ^= lowest
        return waits

    def _append(self, place: int) -> None:
        bit = self._bit_at[place]
        self.appended.append(place)
        self.there |= bit
        if self._awaited & bit:
            self._release()

    def _release(self) -> None:
        """Let go of the modules that wait for nothing any more."""
        there = self.there
        for waiting, waits in [*self._passed_over.items()]:
            for answering in waits:
                if not answering & there:
                    break
            else:
                del self._passed_over[waiting]
                heappush(self._released, (self._names[waiting], waiting))
