"""Strategies for names of each grammar (design, part 2), and for the names that one mesh is made of.

A mesh is interesting where names meet: where two modules provide one name, a pin is at a node that
exists, an assignment is of a module that the catalogue has. So a mesh is made of the few names of a
`Vocabulary`. The usual ones are close to each other on purpose: `-` and `.` stand before `/`, and
`:` and `_` behind it, so code that sorts pairs where it should sort spelled names is found out.
"""

from __future__ import annotations

from attrs import evolve, frozen
from hypothesis import strategies as st

from mesh_core.model.module import Scope
from mesh_core.testing.strategies.dice import Dice, thrown

_EDGE = "abcdefghijklmnopqrstuvwxyz0123456789"


def _named(inside: str, longest: int) -> st.SearchStrategy[str]:
    edge = st.sampled_from(_EDGE)
    middle = st.text(st.sampled_from(_EDGE + inside), max_size=longest - 2)
    return edge | st.builds(lambda first, rest, last: first + rest + last, edge, middle, edge)


_NODE_NAMES = _named("-", 63)
_MODULE_NAMES = _named("-._", 63)
_LONG_NAMES = _named("-._:/", 128)


def node_names() -> st.SearchStrategy[str]:
    """Names of nodes: one DNS label."""
    return _NODE_NAMES


def module_names() -> st.SearchStrategy[str]:
    """Names of modules."""
    return _MODULE_NAMES


def provision_names() -> st.SearchStrategy[str]:
    """Names of provisions."""
    return _LONG_NAMES


def claim_names() -> st.SearchStrategy[str]:
    """Names of claims."""
    return _LONG_NAMES


def capability_names() -> st.SearchStrategy[str]:
    """Names of capabilities."""
    return _LONG_NAMES


def versions() -> st.SearchStrategy[str]:
    """Versions: printable text without white space, some that look like numbers."""
    printable = st.characters(exclude_categories=("C", "Z"))
    anything = st.text(printable, min_size=1, max_size=128)
    return st.sampled_from(("1", "1.0", "true", "16.2", "é")) | anything


@frozen(kw_only=True)
class Vocabulary:
    """The names that one mesh is made of, and the one scope of each provision and claim.

    `missing_modules` are never in the catalogue, `missing_nodes` never in the mesh, and no module
    provides what is `unprovided`: so each of the three stays what it is when the mesh changes.
    """

    modules: tuple[str, ...]
    missing_modules: tuple[str, ...]
    nodes: tuple[str, ...]
    missing_nodes: tuple[str, ...]
    provisions: tuple[tuple[str, Scope], ...]
    unprovided: tuple[str, ...]
    claims: tuple[tuple[str, Scope], ...]
    capabilities: tuple[str, ...]
    versions: tuple[str, ...]

    def provisions_of(self, scope: Scope) -> tuple[str, ...]:
        """The names of the provisions of one scope."""
        return tuple(name for name, own in self.provisions if own is scope)


USUAL = Vocabulary(
    modules=("a", "a-b", "a.b", "a0", "a_b", "b", "c"),
    missing_modules=("a-z", "zoo"),
    nodes=("n", "n-m", "n0", "m", "x"),
    missing_nodes=("n-z",),
    provisions=(
        ("p", Scope.NODE),
        ("p:0", Scope.NODE),
        ("p-q", Scope.NODE),
        ("p_q", Scope.NODE),
        ("q", Scope.MESH),
        ("p/q", Scope.MESH),
    ),
    unprovided=("p0", "no:where"),
    claims=(("l", Scope.NODE), ("l/m", Scope.MESH)),
    capabilities=("g", "g:1"),
    versions=("1", "1.0", "true"),
)
_VERSIONS = (*USUAL.versions, "16.2", "é", "~!" * 64)


NAMES_THROWS = 80


def any_vocabulary(dice: Dice) -> Vocabulary:
    """The usual vocabulary for most meshes; for some with any names in the place of two of each kind."""
    if not dice.one_in(10):
        return USUAL
    modules = _two(dice, "-._", 63, USUAL.modules + USUAL.missing_modules)
    nodes = _two(dice, "-", 63, USUAL.nodes + USUAL.missing_nodes)
    long = (*(name for name, _ in USUAL.provisions), *USUAL.unprovided)
    on_node, in_mesh = _two(dice, "-._:/", 128, long)
    claim, capability = _two(dice, "-._:/", 128, ("l/m", "g:1"))
    return evolve(
        USUAL,
        modules=(*modules, *USUAL.modules[2:]),
        nodes=(*nodes, *USUAL.nodes[2:]),
        provisions=((on_node, Scope.NODE), *USUAL.provisions[1:-1], (in_mesh, Scope.MESH)),
        claims=((claim, Scope.NODE), USUAL.claims[1]),
        capabilities=(capability, "g:1"),
        versions=tuple(dice.some(_VERSIONS, 2, least=2)),
    )


def _two(dice: Dice, inside: str, longest: int, taken: tuple[str, ...]) -> list[str]:
    """Two names of a grammar, other than those that are taken."""
    names: list[str] = []
    while len(names) < 2:
        length = dice.one_of((1, 2, 3, 4, 8, longest))
        middle = "".join(dice.one_of(_EDGE + inside) for _ in range(min(length, 6)))
        name = dice.one_of(_EDGE) + (middle * length)[: max(length - 2, 0)]
        name += dice.one_of(_EDGE) if length > 1 else ""
        # Where the dice are used up every name is the same: then it is made another by counting.
        if name in taken or name in names:
            name = next(n for n in map(str, range(100)) if n not in taken and n not in names)
        names.append(name)
    return names


def vocabularies() -> st.SearchStrategy[Vocabulary]:
    """Vocabularies for small meshes: the usual one for most, any names for some."""
    return thrown(NAMES_THROWS, any_vocabulary)
