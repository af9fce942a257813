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
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from heapq import heappop, heappush
from math import inf

from attrs import frozen

from mesh_core.resolve.catalogue_rules import CatalogueRules, Choice


@frozen(kw_only=True)
class Order:
    """The order of a node's modules, and those that can never be appended, by name.

    `chosen` gives, by provider, the choices that are bound to it, as bits. A forced requirement is bound to
    its only provider, if that stands in the order.
    """

    appended: tuple[str, ...]
    stuck: tuple[str, ...]
    chosen: Mapping[str, int]


@frozen(kw_only=True)
class _Choices:
    """The answered choices of a node's modules: with each, those of its providers that are in S(n)."""

    answered: tuple[tuple[Choice, tuple[str, ...]], ...]
    held_up: float
    """The place in the catalogue's order of the first module that stands before every provider of one of
    its choices; infinite where none does."""
    chosen: Mapping[str, int]
    """What the choices are bound to in the catalogue's order."""


class Orders:
    """The orders of nodes over one catalogue. Equal choices are looked at once."""

    def __init__(self, catalogue: CatalogueRules) -> None:
        self._catalogue = catalogue
        self._choices: dict[frozenset[str], _Choices] = {}

    def order_of(self, members: frozenset[str]) -> Order:
        """The order of the modules `members`, which are S(n) of some node, and what choices are bound to."""
        catalogue = self._catalogue
        stuck = members & catalogue.stuck
        by_rank = sorted(members - stuck if stuck else members, key=catalogue.rank.__getitem__)
        choices = self._choices_of(members & catalogue.in_choices)
        if choices.held_up == inf:
            return Order(appended=tuple(by_rank), stuck=tuple(sorted(stuck)), chosen=choices.chosen)
        held_up = bisect_left(by_rank, choices.held_up, key=catalogue.rank.__getitem__)
        walk = _Walk(catalogue, choices, by_rank[:held_up])
        walk.through(by_rank[held_up:])
        appended = walk.appended
        return Order(
            appended=tuple(appended),
            stuck=tuple(sorted(members.difference(appended))),
            chosen=_bind(choices.answered, {module: at for at, module in enumerate(appended)}),
        )

    def _choices_of(self, involved: frozenset[str]) -> _Choices:
        choices = self._choices.get(involved)
        if choices is None:
            choices = self._choices[involved] = _look_at_choices(self._catalogue, involved)
        return choices


def _look_at_choices(catalogue: CatalogueRules, involved: frozenset[str]) -> _Choices:
    rank = catalogue.rank
    answered = []
    held_up = inf
    for module in involved:
        for choice in catalogue.rules[module].choices:
            answering = tuple(p for p in choice.providers if p in involved)
            if answering:
                answered.append((choice, answering))
                place = rank.get(module, inf)
                if place < min(rank.get(provider, inf) for provider in answering):
                    held_up = min(held_up, place)
    return _Choices(answered=tuple(answered), held_up=held_up, chosen=_bind(answered, rank))


def _bind(answered: Iterable[tuple[Choice, tuple[str, ...]]], place: Mapping[str, int]) -> dict[str, int]:
    """Each answered choice is bound to the one of its providers that stands first, if one stands."""
    chosen: dict[str, int] = {}
    for choice, answering in answered:
        standing = [provider for provider in answering if provider in place]
        if standing:
            first = min(standing, key=place.__getitem__)
            chosen[first] = chosen.get(first, 0) | choice.bit
    return chosen


class _Walk:
    """The order where choices hold modules up: the rule as it is written, along the catalogue's order.

    A module that is reached before it can be appended is passed over; it is released when the last that it
    waited for is appended, and is appended as soon as it is the first of those that can be.
    """

    def __init__(self, catalogue: CatalogueRules, choices: _Choices, appended: list[str]) -> None:
        self.appended = appended
        self._there = set(appended)
        self._pulls = catalogue.pulls
        self._choices: dict[str, list[tuple[str, ...]]] = defaultdict(list)
        for choice, answering in choices.answered:
            self._choices[choice.dependent.module].append(answering)
        self._released: list[str] = []
        self._waits: dict[str, int] = {}
        self._held_by: dict[str, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)

    def through(self, by_rank: Iterable[str]) -> None:
        """Append the modules, which come in the catalogue's order; some may never be appended."""
        there, pulls, choices, released = self._there, self._pulls, self._choices, self._released
        for module in by_rank:
            while released and released[0] < module:
                self._append(heappop(released))
            if module in choices or not there.issuperset(pulls[module]):
                self._reach(module)
            else:
                self._append(module)
        while released:
            self._append(heappop(released))

    def _reach(self, module: str) -> None:
        """Append a module, or pass it over if a requirement of it has no provider that is there."""
        there = self._there
        waits: list[tuple[str, ...]] = [
            (provider,) for provider in self._pulls[module] if provider not in there
        ]
        waits += [answering for answering in self._choices.get(module, ()) if there.isdisjoint(answering)]
        if not waits:
            self._append(module)
            return
        self._waits[module] = len(waits)
        for answering in waits:
            for provider in answering:
                self._held_by[provider].append((module, answering))

    def _append(self, provider: str) -> None:
        self.appended.append(provider)
        if provider in self._held_by:
            self._release(provider)
        self._there.add(provider)

    def _release(self, provider: str) -> None:
        for module, answering in self._held_by[provider]:
            if self._there.isdisjoint(answering):  # the first of several to come is what counts
                self._waits[module] -= 1
                if not self._waits[module]:
                    heappush(self._released, module)
