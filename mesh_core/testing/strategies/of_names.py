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


def _two_but(taken: tuple[str, ...], names: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    others = names.filter(lambda name: name not in taken)
    return st.lists(others, min_size=2, max_size=2, unique=True)


@st.composite
def _other_vocabularies(draw: st.DrawFn) -> Vocabulary:
    """The usual vocabulary, with any names in the place of two of each kind."""
    long = (*(name for name, _ in USUAL.provisions), *USUAL.unprovided)
    modules = draw(_two_but(USUAL.modules + USUAL.missing_modules, _MODULE_NAMES))
    nodes = draw(_two_but(USUAL.nodes + USUAL.missing_nodes, _NODE_NAMES))
    on_node, in_mesh = draw(_two_but(long, _LONG_NAMES))
    claim, capability = draw(_two_but(("l/m", "g:1"), _LONG_NAMES))
    provisions = ((on_node, Scope.NODE), *USUAL.provisions[1:-1], (in_mesh, Scope.MESH))
    return evolve(
        USUAL,
        modules=(*modules, *USUAL.modules[2:]),
        nodes=(*nodes, *USUAL.nodes[2:]),
        provisions=provisions,
        claims=((claim, Scope.NODE), USUAL.claims[1]),
        capabilities=(capability, "g:1"),
        versions=(draw(versions()), "1"),
    )


_OTHERS = _other_vocabularies()
_DICE = st.integers(0, 9)


@st.composite
def vocabularies(draw: st.DrawFn) -> Vocabulary:
    """Vocabularies for small meshes: the usual one for most, any names for some."""
    return draw(_OTHERS) if draw(_DICE) == 9 else USUAL
