"""Pass two: which offer answers each mesh-scoped requirement (design, part 3, *Pass two*).

> - with a pin (n, r) at node p, or at module q on p: the candidates are p's offers of r, or those by q;
> - without one: the candidates are all offers of r in the mesh, n's own included.
>
> Exactly one candidate is the **answer** for every module of n that requires r from one provider [...]
> A requirement *from every* is answered by all offers of r in the mesh, n's own included [...]
"""

from __future__ import annotations

from collections.abc import Container, Mapping

from attrs import frozen

from mesh_core.model.module import Scope
from mesh_core.model.node import Node, Pin
from mesh_core.model.resolution import Answer
from mesh_core.problems import AmbiguousInMesh, NoProvider, Offer, PinUnsatisfied, Problem
from mesh_core.resolve.catalogue_rules import CatalogueRules
from mesh_core.resolve.offers import Ask, Footing


class Lacking(dict[frozenset[str], int]):
    """By the capabilities that a node has, the modules that need another one, as bits."""

    def __init__(self, catalogue: CatalogueRules) -> None:
        self._needing = catalogue.needing

    def __missing__(self, present: frozenset[str]) -> int:
        lacking = sum(bit for bit, needed in self._needing.items() if not needed <= present)
        self[present] = lacking
        return lacking


def present(node: Node) -> frozenset[str]:
    """The capabilities that a node has: those it reported present."""
    return frozenset([c.name for c in node.capabilities or () if c.present])


@frozen(kw_only=True)
class World:
    """What pass two may know of the other nodes: which exist, what they offer, what they hold."""

    catalogue: CatalogueRules
    nodes: Container[str]
    offers: Mapping[str, tuple[Offer, ...]]
    """The offers of each provision, sorted by node, then module."""
    holders: Mapping[str, tuple[Offer, ...]]
    """Who holds each mesh-scoped claim, sorted by node, then module."""
    lacking: Lacking


def answers_of(node: Node, footing: Footing, world: World) -> tuple[tuple[Answer, ...], list[Problem]]:
    """The answers of a node, sorted, and a problem for each name that has none where it needs one."""
    if not footing.asks:
        return (), []
    answers: list[Answer] = []
    problems: list[Problem] = []
    for ask in footing.asks:
        if ask.every:
            answers += [_answer(ask, offer) for offer in world.offers.get(ask.provision, ())]
            continue
        pin = node.pin(ask.provision)
        candidates = _candidates(ask.provision, pin, world)
        if len(candidates) == 1:
            answers.append(_answer(ask, candidates[0]))
        else:
            problems.append(_unanswered(node.name, ask, pin, candidates, world))
    return tuple(answers), problems


def _candidates(provision: str, pin: Pin | None, world: World) -> tuple[Offer, ...]:
    offers = world.offers.get(provision, ())
    if pin is None:
        return offers
    at, module = pin.node, pin.module
    return tuple([o for o in offers if o.node == at and (module is None or o.module == module)])


def _answer(ask: Ask, offer: Offer) -> Answer:
    return Answer(
        provision=ask.provision,
        every=ask.every,
        node=offer.node,
        module=offer.module,
        required_by=ask.required_by,
    )


def _unanswered(node: str, ask: Ask, pin: Pin | None, candidates: tuple[Offer, ...], world: World) -> Problem:
    name, by = ask.provision, ask.required_by
    if candidates:
        return AmbiguousInMesh(node=node, provision=name, required_by=by, candidates=candidates, pin=pin)
    if pin is not None:
        exists = pin.node in world.nodes
        return PinUnsatisfied(node=node, provision=name, required_by=by, pin=pin, exists=exists)
    providers = world.catalogue.providers[name]
    return NoProvider(node=node, provision=name, required_by=by, scope=Scope.MESH, candidates=providers)
