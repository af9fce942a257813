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
    Attach,
    Change,
    DropModule,
    DropNode,
    DropSource,
    PutModule,
    PutNode,
    Report,
    SetNetwork,
    SetPin,
    SetSource,
    Unassign,
    Unpin,
    apply,
)
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Scope
from mesh_core.testing.strategies.dice import Dice, thrown
from mesh_core.testing.strategies.of_meshes import any_node, any_pin, any_pins, any_report
from mesh_core.testing.strategies.of_modules import ANY_TROUBLE, any_module, any_number
from mesh_core.testing.strategies.of_names import USUAL, Vocabulary
from mesh_core.testing.strategies.of_networks import any_other_network, any_reattachment
from mesh_core.testing.strategies.of_sources import any_origin, any_source


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
        capabilities=_with((c for m in mesh.catalogue for c in m.capabilities), USUAL.capabilities),
    )


def _with(own: Iterable[str], others: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys((*own, *others)))


_Made = Callable[[Dice, Vocabulary, Mesh], Change]


def _node(dice: Dice, mesh: Mesh) -> str:
    return dice.one_of([node.name for node in mesh.nodes])


def _assign(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    known = [module.name for module in mesh.catalogue]
    return Assign(node=_node(dice, mesh), module=dice.one_of([*known, *known, *vocabulary.missing_modules]))


def _unassign(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    pairs = [(node.name, module) for node in mesh.nodes for module in node.assigned]
    if not pairs:
        return _assign(dice, vocabulary, mesh)
    node, module = dice.one_of(pairs)
    return Unassign(node=node, module=module)


def _set_pin(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    name = dice.one_of(vocabulary.provisions_of(Scope.MESH))
    return SetPin(node=_node(dice, mesh), pin=any_pin(dice, vocabulary, mesh, ANY_TROUBLE, name))


def _unpin(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    pairs = [(node.name, pin.provision) for node in mesh.nodes for pin in node.pins]
    if not pairs:
        return _set_pin(dice, vocabulary, mesh)
    node, provision = dice.one_of(pairs)
    return Unpin(node=node, provision=provision)


def _report(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    return Report(node=_node(dice, mesh), capabilities=any_report(dice, vocabulary) or ())


def _put_node(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    node = any_node(dice, vocabulary, mesh.catalogue)
    pins = any_pins(dice, vocabulary, mesh)
    return PutNode(node=evolve(node, pins=pins, network=any_reattachment(dice, mesh, node.name)))


def _attach(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    name = _node(dice, mesh)
    return Attach(node=name, network=any_reattachment(dice, mesh, name))


def _set_network(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    return SetNetwork(network=any_other_network(dice, mesh))


def _drop_node(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    return DropNode(node=_node(dice, mesh))


def _put_module(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    return PutModule(module=any_module(dice, vocabulary))


def _upgrade(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    """Another manifest of a module that provides what it did: for most nodes nothing happens."""
    if not mesh.catalogue.modules:
        return _put_module(dice, vocabulary, mesh)
    old = dice.one_of(mesh.catalogue.modules)
    new = any_module(dice, vocabulary, name=old.name)
    own = {provision.name for provision in old.provides}
    asked = [r for r in new.requires if r.every or r.name not in own]
    return PutModule(module=evolve(new, provides=old.provides, requires=asked))


def _put_from_somewhere(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    """A manifest that is there, or another, from anywhere."""
    known = [*mesh.catalogue.modules, any_module(dice, vocabulary)]
    return PutModule(module=dice.one_of(known), origin=any_origin(dice))


def _set_source(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    return SetSource(module=dice.one_of(vocabulary.modules), source=any_source(dice))


def _drop_source(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    return DropSource(module=dice.one_of([*(name for name, _ in mesh.sources), *vocabulary.modules]))


def _drop_module(dice: Dice, vocabulary: Vocabulary, mesh: Mesh) -> Change:
    return DropModule(module=dice.one_of(vocabulary.modules))


_OF_A_NODE: tuple[_Made, ...] = (
    _assign,
    _unassign,
    _set_pin,
    _unpin,
    _report,
    _put_node,
    _drop_node,
    _attach,
)
_OF_THE_MESH: tuple[_Made, ...] = (
    _put_module,
    _upgrade,
    _drop_module,
    _put_from_somewhere,
    _set_source,
    _drop_source,
    _set_network,
)


CHANGE_THROWS = 50


def any_change(dice: Dice, mesh: Mesh) -> Change:
    """One change of any kind that this mesh can have."""
    of_nodes = _OF_A_NODE if mesh.nodes else (_put_node,)
    made = dice.one_of((*of_nodes, *_OF_THE_MESH))
    return made(dice, vocabulary_of(mesh), mesh)


def changes(mesh: Mesh) -> st.SearchStrategy[Change]:
    """One change of any kind that this mesh can have."""
    return thrown(CHANGE_THROWS, lambda dice: any_change(dice, mesh))


def any_changed_mesh(dice: Dice, mesh: Mesh, most: int = 4) -> tuple[tuple[Change, ...], Mesh]:
    """Up to `most` changes, one after the other, and the mesh after them all."""
    drawn: list[Change] = []
    for _ in range(any_number(dice, most)):
        drawn.append(any_change(dice, mesh))
        mesh = apply(mesh, drawn[-1])
    return tuple(drawn), mesh


def changed_meshes(mesh: Mesh, most: int = 4) -> st.SearchStrategy[tuple[tuple[Change, ...], Mesh]]:
    """Up to `most` changes, each such that the mesh after those before can have it; and the mesh
    after them all.
    """
    return thrown(CHANGE_THROWS * most, lambda dice: any_changed_mesh(dice, mesh, most))
