"""Strategies for modules and catalogues, as values.

A mesh in which everything goes wrong at once shows little, and one in which nothing does shows
nothing. So each draws which kinds of `Trouble` it may have, and keeps clear of the others.
"""

from __future__ import annotations

from collections.abc import Collection
from itertools import combinations, product
from typing import Any

from attrs import frozen
from hypothesis import strategies as st

from mesh_core.model.catalogue import Catalogue
from mesh_core.model.module import Claim, Module, Provision, Requirement, Scope
from mesh_core.model.resource import Resource
from mesh_core.testing.strategies.dice import Dice, thrown
from mesh_core.testing.strategies.of_names import Vocabulary
from mesh_core.testing.strategies.of_sources import any_recipe


@frozen(kw_only=True)
class Trouble:
    """Which kinds of trouble a mesh may have. Without any, a name can still want for a provider.

    `rivals`: two modules may provide one node-scoped name, so that it forces nothing. `ring`:
    modules need each other in rings of so many names (0: as it comes); where there are to be no
    cycles, in chains.
    """

    rivals: bool = True
    cycles: bool = True
    ring: int = 0
    unprovided: bool = True
    unknown: bool = True
    capabilities: bool = True
    claims: bool = True
    resources: bool = True
    missing_nodes: bool = True


ANY_TROUBLE = Trouble()
# Chains for deep pulls, pairs for two cycles on one node: both are rare where it is left to chance.
_NEEDS = ((False, 0), (False, 0), (False, 4), (False, 4), (True, 0), (True, 2), (True, 2), (True, 3))


def any_trouble(dice: Dice) -> Trouble:
    """Some kinds of trouble, and few for many meshes."""
    cycles, ring = dice.one_of(_NEEDS)
    return Trouble(
        rivals=dice.one_in(2),
        cycles=cycles,
        ring=ring,
        unprovided=dice.one_in(4),
        unknown=dice.one_in(4),
        capabilities=dice.one_in(3),
        claims=dice.one_in(3),
        resources=dice.one_in(4),
        missing_nodes=dice.one_in(2),
    )


_EXPORTS = ((), (), (("port", "5432"),), (("a", ""), ("é", "1")))


def any_provisions(dice: Dice, vocabulary: Vocabulary) -> list[Provision]:
    """What one module provides: up to two names."""
    return [
        Provision(name=name, scope=scope, exports=dice.one_of(_EXPORTS))
        for name, scope in dice.some(vocabulary.provisions, 2)
    ]


def _requirements(
    dice: Dice,
    vocabulary: Vocabulary,
    trouble: Trouble,
    own: Collection[str],
    provided: Collection[str],
) -> list[Requirement]:
    """Where there are to be no cycles, a module requires only what stands behind all it provides."""
    on_node = vocabulary.provisions_of(Scope.NODE)
    last = max((on_node.index(name) for name in own if name in on_node), default=-1)
    behind = on_node if trouble.cycles else on_node[last + 1 :]
    if trouble.ring and last >= 0 and not dice.one_in(4):
        following = _next_in_ring(trouble.ring, on_node, last)
        needed = [name for name in behind if name == following and name in provided]
    else:
        needed = dice.some((name for name in behind if name in provided), 2)
    required = [Requirement(name=name) for name in needed if name not in own]
    in_mesh = (name for name in vocabulary.provisions_of(Scope.MESH) if name in provided)
    for name in dice.some(in_mesh, 2):
        required.append(Requirement(name=name, every=dice.below(5) > 2 or name in own))
    if trouble.unprovided and dice.one_in(2):
        missing = dice.one_of((*vocabulary.unprovided[:1], *vocabulary.unprovided))
        required.append(Requirement(name=missing, every=dice.one_in(2)))
    return required


def _next_in_ring(size: int, names: tuple[str, ...], place: int) -> str:
    """The name behind one, where names stand in rings of `size`, in which the first follows the last."""
    ring = names[place - place % size :][:size]
    return ring[(place % size + 1) % len(ring)]


# Kinds that nobody knows: the core takes any, and a program checks the attributes of those that it knows.
_PLACES: tuple[dict[str, str], ...] = (
    {"kind": "a-file", "path": "/etc/motd"},
    {"kind": "a-directory", "path": "/etc/motd"},
    {"kind": "a-package", "name": "zsh"},
)
_ATTRIBUTES: tuple[dict[str, Any], ...] = (
    {},
    {},
    {"mode": 1},
    {"mode": 1.0},
    {"mode": True},
    {"text": "é", "of": [1, {"b": None, "a": "x"}]},
)


def _resource_lists() -> list[tuple[Resource, ...]]:
    """None, one or two; some equal, some that differ by the type of a number only."""
    each = [
        Resource(**place, attributes_json=attributes) for attributes, place in product(_ATTRIBUTES, _PLACES)
    ]
    pairs = [pair for pair in combinations(each, 2) if pair[0].identity != pair[1].identity]
    return [(), *((one,) for one in (*each[:3], *each)), *pairs[:5]]


_RESOURCES = _resource_lists()
_EQUAL_RESOURCES = ((), (), (Resource(kind="a-package", name="zsh"),))


def resources() -> st.SearchStrategy[tuple[Resource, ...]]:
    """The resources of one module."""
    return st.sampled_from(_RESOURCES)


def _module(
    dice: Dice,
    vocabulary: Vocabulary,
    trouble: Trouble,
    name: str,
    own: Collection[Provision],
    provided: Collection[str],
) -> Module:
    return Module(
        name=name,
        version=dice.one_of(vocabulary.versions),
        requires=_requirements(dice, vocabulary, trouble, [p.name for p in own], provided),
        provides=own,
        claims=_claims(dice, vocabulary) if trouble.claims else (),
        capabilities=dice.some(vocabulary.capabilities, 1) if trouble.capabilities else (),
        resources=dice.one_of(_RESOURCES if trouble.resources else _EQUAL_RESOURCES),
        build=any_recipe(dice),
    )


def _claims(dice: Dice, vocabulary: Vocabulary) -> list[Claim]:
    return [Claim(name=name, scope=scope) for name, scope in dice.some(vocabulary.claims, 2)]


def any_module(
    dice: Dice, vocabulary: Vocabulary, trouble: Trouble = ANY_TROUBLE, name: str | None = None
) -> Module:
    """One module, of a name of the vocabulary if none is given."""
    own_name = dice.one_of(vocabulary.modules) if name is None else name
    names = [provided for provided, _ in vocabulary.provisions]
    return _module(dice, vocabulary, trouble, own_name, any_provisions(dice, vocabulary), names)


def modules(
    vocabulary: Vocabulary, trouble: Trouble = ANY_TROUBLE, name: str | None = None
) -> st.SearchStrategy[Module]:
    """One module. Those of one vocabulary, of different names, can stand in one catalogue."""
    return thrown(33, lambda dice: any_module(dice, vocabulary, trouble, name))


def any_number(dice: Dice, most: int) -> int:
    """A number up to `most`; the greater ones more often, for much happens there, and seldom 0."""
    sizes = (1, 2, 2, 3, 3, 3, 0, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7)
    return dice.one_of([size for size in sizes if size <= most])


CATALOGUE_THROWS = 1 + 6 + 7 * (5 + 17)


def any_catalogue(
    dice: Dice, vocabulary: Vocabulary, trouble: Trouble = ANY_TROUBLE, most: int = 7
) -> Catalogue:
    """A catalogue of up to `most` modules."""
    count = any_number(dice, most)
    names = dice.part(6).shuffled(vocabulary.modules)[:count]
    provides = [
        any_provisions(part, vocabulary) if trouble.rivals else _by_itself(part, vocabulary, place)
        for place, part in enumerate(dice.part(5) for _ in names)
    ]
    provided = {provision.name for own in provides for provision in own}
    return Catalogue(
        modules=[
            _module(dice.part(17), vocabulary, trouble, name, own, provided)
            for name, own in zip(names, provides, strict=True)
        ]
    )


def _by_itself(dice: Dice, vocabulary: Vocabulary, place: int) -> list[Provision]:
    """A node-scoped name for each of the first modules, and a mesh-scoped one for some."""
    own = [Provision(name=name) for name in vocabulary.provisions_of(Scope.NODE)[place : place + 1]]
    if dice.one_in(2):
        in_mesh = dice.some(vocabulary.provisions_of(Scope.MESH), 1)
        own += [Provision(name=name, scope=Scope.MESH) for name in in_mesh]
    return own


def catalogues(
    vocabulary: Vocabulary, trouble: Trouble = ANY_TROUBLE, most: int = 7
) -> st.SearchStrategy[Catalogue]:
    """Catalogues of up to `most` modules, in which each name has one scope."""
    return thrown(CATALOGUE_THROWS, lambda dice: any_catalogue(dice, vocabulary, trouble, most))
