"""Strategies for changes to a mesh (design, part 7), such that `apply` takes them.

The names are those of the mesh and of the usual vocabulary, each with the scope that it has in the
mesh: so a change is of what is there, or adds what can stand beside it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from attrs import evolve
from hypothesis import strategies as st

from mesh_core.change import (
    Assign,
    Change,
    DropModule,
    DropNode,
    PutModule,
    PutNode,
    Report,
    SetPin,
    Unassign,
    Unpin,
    apply,
)
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Scope
from mesh_core.testing.strategies.of_meshes import nodes, pins, reports
from mesh_core.testing.strategies.of_modules import modules, one_of, up_to
from mesh_core.testing.strategies.of_names import USUAL, Vocabulary


def vocabulary_of(mesh: Mesh) -> Vocabulary:
    """The names of a mesh, and the usual ones that go with them.

    A name that no module provides yet has the scope that it has in the usual vocabulary, or scope
    mesh where that one does not have it or where a module requires it from every.
    """
    scopes = dict(USUAL.provisions)
    scopes |= {r.name: Scope.MESH for m in mesh.catalogue for r in m.requires if r.every}
    scopes |= {p.name: p.scope for m in mesh.catalogue for p in m.provides}
    claims = dict(USUAL.claims)
    claims |= {c.name: c.scope for m in mesh.catalogue for c in m.claims}
    return evolve(
        USUAL,
        modules=_with((m.name for m in mesh.catalogue), USUAL.modules),
        missing_modules=tuple(m for m in USUAL.missing_modules if m not in mesh.catalogue),
        nodes=_with((node.name for node in mesh.nodes), USUAL.nodes),
        missing_nodes=tuple(n for n in USUAL.missing_nodes if mesh.node(n) is None),
        provisions=tuple((n, s) for n, s in scopes.items() if n not in USUAL.unprovided),
        claims=tuple(claims.items()),
        capabilities=_with((c for m in mesh.catalogue for c in m.capabilities), ())[:3] or USUAL.capabilities,
    )


def _with(own: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*own, *others)))


_Made = Callable[[st.DrawFn, Vocabulary, Mesh], Change]


def _node(draw: st.DrawFn, mesh: Mesh) -> str:
    names = [node.name for node in mesh.nodes]
    return draw(one_of(*names))


def _assign(draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    known = [module.name for module in mesh.catalogue]
    names = one_of(*known, *known, *vocabulary.missing_modules)
    return Assign(node=_node(draw, mesh), module=draw(names))


def _unassign(draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    pairs = [(node.name, module) for node in mesh.nodes for module in node.assigned]
    if not pairs:
        return _assign(draw, vocabulary, mesh)
    node, module = draw(one_of(*pairs))
    return Unassign(node=node, module=module)


def _set_pin(draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    drawn = draw(pins(vocabulary, mesh).filter(bool))
    return SetPin(node=_node(draw, mesh), pin=drawn[0])


def _unpin(draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    pairs = [(node.name, pin.provision) for node in mesh.nodes for pin in node.pins]
    if not pairs:
        return _set_pin(draw, vocabulary, mesh)
    node, provision = draw(one_of(*pairs))
    return Unpin(node=node, provision=provision)


def _report(draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    said = draw(reports(vocabulary))
    return Report(node=_node(draw, mesh), capabilities=() if said is None else said)


def _put_node(draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    node = draw(nodes(vocabulary, mesh.catalogue))
    return PutNode(node=evolve(node, pins=draw(pins(vocabulary, mesh))))


def _drop_node(draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    return DropNode(node=_node(draw, mesh))


def _put_module(draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    return PutModule(module=draw(modules(vocabulary)))


def _upgrade(draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    """Another manifest of a module that provides what it did: for most nodes nothing happens."""
    if not mesh.catalogue.modules:
        return _put_module(draw, vocabulary, mesh)
    old = draw(one_of(*mesh.catalogue.modules))
    new = draw(modules(vocabulary, name=old.name))
    own = {provision.name for provision in old.provides}
    asked = [r for r in new.requires if r.every or r.name not in own]
    return PutModule(module=evolve(new, provides=old.provides, requires=asked))


def _drop_module(draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    return DropModule(module=draw(one_of(*vocabulary.modules)))


_OF_A_NODE: tuple[_Made, ...] = (
    _assign,
    _unassign,
    _set_pin,
    _unpin,
    _report,
    _put_node,
    _drop_node,
)
_OF_THE_CATALOGUE: tuple[_Made, ...] = (_put_module, _upgrade, _drop_module)
_IN_EMPTY: tuple[_Made, ...] = (_put_node, *_OF_THE_CATALOGUE)


@st.composite
def changes(draw: st.DrawFn, mesh: Mesh) -> Change:
    """One change of any kind that this mesh can have."""
    made = _IN_EMPTY if not mesh.nodes else (*_OF_A_NODE, *_OF_THE_CATALOGUE)
    make = draw(one_of(*made))
    return make(draw, vocabulary_of(mesh), mesh)


@st.composite
def changed_meshes(draw: st.DrawFn, mesh: Mesh, most: int = 4) -> tuple[tuple[Change, ...], Mesh]:
    """Up to `most` changes, each such that the mesh after those before can have it; and the mesh
    after them all.
    """
    drawn: list[Change] = []
    for _ in range(draw(up_to(most))):
        change = draw(changes(mesh))
        mesh = apply(mesh, change)
        drawn.append(change)
    return tuple(drawn), mesh
