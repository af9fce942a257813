"""Strategies for modules and catalogues, as values.

A mesh in which everything goes wrong at once shows little, and one in which nothing does shows
nothing. So each draws which kinds of `Trouble` it may have, and keeps clear of the others.

What is drawn is drawn in few choices, each from a list that is made once: a law looks at hundreds
of meshes, and hypothesis takes its time for each choice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from functools import cache, lru_cache
from itertools import combinations, permutations, product
from math import gcd
from typing import Any, TypeVar

from attrs import frozen
from hypothesis import strategies as st

from mesh_core.model.catalogue import Catalogue
from mesh_core.model.module import Claim, Module, Provision, Requirement, Scope
from mesh_core.model.resource import Resource
from mesh_core.testing.strategies.of_names import Vocabulary

_T = TypeVar("_T")


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
_SELDOM = st.sampled_from((False, False, False, True))
# Chains for deep pulls, pairs for two cycles on one node: both are rare where it is left to chance.
_NEEDS = ((False, 0), (False, 0), (False, 4), (False, 4), (True, 0), (True, 2), (True, 3))
_TROUBLES = st.builds(
    lambda needs, **others: Trouble(cycles=needs[0], ring=needs[1], **others),
    needs=st.sampled_from(_NEEDS),
    rivals=st.booleans(),
    unprovided=_SELDOM,
    unknown=_SELDOM,
    capabilities=_SELDOM,
    claims=_SELDOM,
    resources=_SELDOM,
    missing_nodes=st.booleans(),
)


def troubles() -> st.SearchStrategy[Trouble]:
    """Some kinds of trouble, and few for many meshes."""
    return _TROUBLES


@lru_cache(maxsize=1000)
def _sampled(values: tuple[Any, ...]) -> st.SearchStrategy[Any]:
    return st.sampled_from(values)


def one_of(*values: _T) -> st.SearchStrategy[_T]:
    """One of the values, the first in the simplest case."""
    return _sampled(values)


def one_in(count: int) -> st.SearchStrategy[bool]:
    """True in about one of so many cases."""
    return _sampled((False,) * (count - 1) + (True,))


@cache
def _orders(count: int) -> st.SearchStrategy[tuple[int, ...]]:
    """All orders of a few; of more, those that begin somewhere and go on forwards or backwards."""
    if count <= _FEW:
        return st.sampled_from([*permutations(range(count))])
    turned = [tuple((first + place) % count for place in range(count)) for first in range(count)]
    return st.sampled_from([*turned, *(order[::-1] for order in turned)])


_FEW = 4


def shuffled(draw: st.DrawFn, values: Sequence[_T]) -> tuple[_T, ...]:
    """The values in some order."""
    if len(values) < 2:
        return tuple(values)
    return tuple(values[place] for place in draw(_orders(len(values))))


def _subsets(values: Iterable[_T], most: int) -> list[tuple[_T, ...]]:
    """Every choice of up to `most` of the values, the small ones first."""
    values = tuple(values)
    return [chosen for size in range(most + 1) for chosen in combinations(values, size)]


@lru_cache(maxsize=1000)
def _few(values: tuple[Any, ...], most: int) -> st.SearchStrategy[tuple[Any, ...]]:
    sizes = [list(combinations(values, size)) for size in range(1, most + 1)]
    longest = max((len(some) for some in sizes), default=0)
    weighted = [chosen for some in sizes if some for chosen in some * (longest // len(some))]
    return st.sampled_from([()] * (1 + longest // 3) + weighted)


def few(values: tuple[_T, ...], most: int) -> st.SearchStrategy[tuple[_T, ...]]:
    """Up to `most` of the values: each number of them about as often, but none of them seldom."""
    return _few(values, most)


_EXPORTS = one_of((), (), (("port", "5432"),), (("a", ""), ("é", "1")))


def _provisions(draw: st.DrawFn, vocabulary: Vocabulary) -> tuple[Provision, ...]:
    drawn = draw(few(vocabulary.provisions, 2))
    return tuple(Provision(name=name, scope=scope, exports=draw(_EXPORTS)) for name, scope in drawn)


@lru_cache(maxsize=1000)
def _asked(
    on_node: tuple[str, ...], in_mesh: tuple[str, ...], own: frozenset[str]
) -> st.SearchStrategy[tuple[Requirement, ...]]:
    """Up to two names of scope node and two of scope mesh; from every where they are its own."""
    ways = (False, False, False, True, True)
    meshed = [
        [Requirement(name=name, every=every) for every in ways if every or name not in own]
        for name in in_mesh
    ]
    asked = [(), (), *((one,) for some in meshed for one in some), *product(*meshed)]
    subsets = [*_subsets(on_node, 1), *_subsets(on_node, 2)[1:]]
    needed = [tuple(Requirement(name=name) for name in names) for names in subsets]
    return st.sampled_from([(*some, *others) for others in asked for some in needed])


def _requirements(
    draw: st.DrawFn,
    vocabulary: Vocabulary,
    trouble: Trouble,
    own: Collection[str],
    provided: Collection[str],
) -> tuple[Requirement, ...]:
    """Where there are to be no cycles, a module requires only what stands behind all it provides."""
    on_node = vocabulary.provisions_of(Scope.NODE)
    last = max((on_node.index(name) for name in own if name in on_node), default=-1)
    behind = on_node if trouble.cycles else on_node[last + 1 :]
    needed = tuple(name for name in behind if name in provided and name not in own)
    meshed = tuple(name for name in vocabulary.provisions_of(Scope.MESH) if name in provided)
    if trouble.ring and last >= 0 and not draw(one_in(4)):
        following = _next_in_ring(trouble.ring, on_node, last)
        drawn = draw(_asked((), meshed, frozenset(own)))
        drawn += tuple(Requirement(name=name) for name in needed if name == following)
    else:
        drawn = draw(_asked(needed, meshed, frozenset(own)))
    if trouble.unprovided and draw(one_in(2)):
        name = draw(one_of(*vocabulary.unprovided[:1], *vocabulary.unprovided))
        drawn = (*drawn, Requirement(name=name, every=draw(st.booleans())))
    return drawn


def _next_in_ring(size: int, names: tuple[str, ...], place: int) -> str:
    """The name behind one, where names stand in rings of `size`, in which the first follows the last."""
    ring = names[place - place % size :][:size]
    return ring[(place % size + 1) % len(ring)]


def _claims(draw: st.DrawFn, vocabulary: Vocabulary) -> tuple[Claim, ...]:
    return tuple(Claim(name=name, scope=scope) for name, scope in draw(few(vocabulary.claims, 2)))


_PLACES: tuple[dict[str, str], ...] = (
    {"kind": "file", "path": "/etc/motd"},
    {"kind": "directory", "path": "/etc/motd"},
    {"kind": "package", "name": "zsh"},
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


_RESOURCES = st.sampled_from(_resource_lists())
_EQUAL_RESOURCES = one_of((), (), (Resource(kind="package", name="zsh"),))


def resources() -> st.SearchStrategy[tuple[Resource, ...]]:
    """The resources of one module."""
    return _RESOURCES


def _module(
    draw: st.DrawFn,
    vocabulary: Vocabulary,
    trouble: Trouble,
    name: str,
    own: tuple[Provision, ...],
    provided: Collection[str],
) -> Module:
    asked = _requirements(draw, vocabulary, trouble, [p.name for p in own], provided)
    return Module(
        name=name,
        version=draw(one_of(*vocabulary.versions)),
        requires=asked,
        provides=own,
        claims=_claims(draw, vocabulary) if trouble.claims else (),
        capabilities=draw(few(vocabulary.capabilities, 1)) if trouble.capabilities else (),
        resources=draw(_RESOURCES if trouble.resources else _EQUAL_RESOURCES),
    )


@st.composite
def modules(
    draw: st.DrawFn, vocabulary: Vocabulary, trouble: Trouble = ANY_TROUBLE, name: str | None = None
) -> Module:
    """One module. Those of one vocabulary, of different names, can stand in one catalogue."""
    own_name = draw(one_of(*vocabulary.modules)) if name is None else name
    names = [provided for provided, _ in vocabulary.provisions]
    own = _provisions(draw, vocabulary)
    return _module(draw, vocabulary, trouble, own_name, own, names)


# hypothesis is fond of the first of a list, and of the last: an empty mesh is neither.
_SIZES = (1, 2, 2, 3, 3, 3, 0, 4, 4, 4, 5, 5, 5, 6, 6, 6, 7, 7, 7)


def up_to(most: int) -> st.SearchStrategy[int]:
    """A number up to `most`; seldom 0."""
    return one_of(*(size for size in _SIZES if size <= most))


@st.composite
def catalogues(
    draw: st.DrawFn, vocabulary: Vocabulary, trouble: Trouble = ANY_TROUBLE, most: int = 7
) -> Catalogue:
    """Catalogues of up to `most` modules, in which each name has one scope."""
    names = draw(_shuffled(vocabulary.modules))[: draw(up_to(most))]
    if trouble.rivals:
        provides = [_provisions(draw, vocabulary) for _ in names]
    else:
        provides = _without_rivals(draw, vocabulary, len(names))
    provided = frozenset(p.name for own in provides for p in own)
    return Catalogue(
        modules=[
            _module(draw, vocabulary, trouble, name, own, provided)
            for name, own in zip(names, provides, strict=True)
        ]
    )


@lru_cache(maxsize=100)
def _shuffled(names: tuple[str, ...]) -> st.SearchStrategy[tuple[str, ...]]:
    """Some orders of the names: as they stand, and with every third, every fifth one following."""
    count = len(names)
    steps = (step for step in range(1, count + 1) if gcd(step, count) == 1)
    return st.sampled_from([tuple(names[place * step % count] for place in range(count)) for step in steps])


def _without_rivals(draw: st.DrawFn, vocabulary: Vocabulary, count: int) -> list[tuple[Provision, ...]]:
    """A node-scoped name for each of the first modules, and a mesh-scoped one for some."""
    on_node = vocabulary.provisions_of(Scope.NODE)
    own: list[tuple[Provision, ...]] = [(Provision(name=name),) for name in on_node[:count]]
    own += [()] * (count - len(own))
    in_mesh = vocabulary.provisions_of(Scope.MESH)
    return [
        (*some, *(Provision(name=name, scope=Scope.MESH) for name in draw(few(in_mesh, 1))))
        if draw(st.booleans())
        else some
        for some in own
    ]
