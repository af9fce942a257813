"""Strategies for nodes, their reports and pins, and for whole meshes, as values."""

from __future__ import annotations

from attrs import evolve
from hypothesis import strategies as st

from mesh_core.model.catalogue import Catalogue
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Scope
from mesh_core.model.node import Capability, Node, Pin
from mesh_core.model.source import Source
from mesh_core.testing.strategies.dice import Dice, thrown
from mesh_core.testing.strategies.of_modules import (
    ANY_TROUBLE,
    CATALOGUE_THROWS,
    Trouble,
    any_catalogue,
    any_number,
    any_trouble,
)
from mesh_core.testing.strategies.of_names import NAMES_THROWS, Vocabulary, any_vocabulary
from mesh_core.testing.strategies.of_networks import ATTACHED_THROWS, any_attached
from mesh_core.testing.strategies.of_sources import any_source

_SAID = ((True, None), (True, None), (True, "a detail"), (False, None), (False, "no device"))


def any_report(dice: Dice, vocabulary: Vocabulary) -> list[Capability] | None:
    """What a machine may have said of itself; None where it never reported."""
    if dice.one_in(5):
        return None
    drawn = [(name, dice.one_of(_SAID)) for name in dice.some(vocabulary.capabilities, 2)]
    return [Capability(name=name, present=present, detail=detail) for name, (present, detail) in drawn]


def reports(vocabulary: Vocabulary) -> st.SearchStrategy[list[Capability] | None]:
    """What a machine may have said of itself; None where it never reported."""
    return thrown(8, lambda dice: any_report(dice, vocabulary))


def any_node(
    dice: Dice,
    vocabulary: Vocabulary,
    catalogue: Catalogue,
    trouble: Trouble = ANY_TROUBLE,
    name: str | None = None,
    shelf: int = 0,
) -> Node:
    """One node without pins. The first modules, as many as `shelf` says, are not assigned by themselves."""
    names = [module.name for module in catalogue][shelf:]
    assigned = {*dice.some(names, 3, least=not dice.one_in(8))}
    if dice.one_in(2):
        assigned |= _providers_for(catalogue, min(assigned, default=""))
    if trouble.unknown and vocabulary.missing_modules and dice.one_in(4):
        assigned.add(dice.one_of(vocabulary.missing_modules))
    return Node(
        name=dice.one_of(vocabulary.nodes) if name is None else name,
        assigned=assigned,
        capabilities=any_report(dice, vocabulary),
    )


def _providers_for(catalogue: Catalogue, name: str) -> set[str]:
    """All that provide, with scope node, what a module requires: more than one, and a choice."""
    module = catalogue.get(name)
    needed = {requirement.name for requirement in module.requires} if module else set()
    return {
        other.name
        for other in catalogue
        for provision in other.provides
        if provision.name in needed and provision.scope is Scope.NODE
    }


def nodes(
    vocabulary: Vocabulary, catalogue: Catalogue, trouble: Trouble = ANY_TROUBLE, name: str | None = None
) -> st.SearchStrategy[Node]:
    """One node without pins, given some of the modules of a catalogue."""
    return thrown(24, lambda dice: any_node(dice, vocabulary, catalogue, trouble, name))


def any_pins(dice: Dice, vocabulary: Vocabulary, mesh: Mesh, trouble: Trouble = ANY_TROUBLE) -> list[Pin]:
    """The pins of one node. Most are at a node of the mesh that is given such a provider."""
    names = dice.some(vocabulary.provisions_of(Scope.MESH), 2)
    drawn = [any_pin(dice, vocabulary, mesh, trouble, name) for name in names]
    if dice.one_in(8):
        others = (*vocabulary.provisions_of(Scope.NODE), *vocabulary.unprovided)
        drawn.append(Pin(provision=dice.one_of(others), node=vocabulary.nodes[0]))
    return drawn


def any_pin(dice: Dice, vocabulary: Vocabulary, mesh: Mesh, trouble: Trouble, name: str) -> Pin:
    """A pin of one name."""
    offers = [
        (node.name, module)
        for node in mesh.nodes
        for module in node.assigned
        if name in _provided(mesh, module)
    ]
    if offers and not dice.one_in(5):
        node, module = dice.one_of(offers)
    else:
        beyond = vocabulary.missing_nodes if trouble.missing_nodes or not mesh.nodes else ()
        node = dice.one_of([*(node.name for node in mesh.nodes), *beyond])
        module = dice.one_of(vocabulary.modules)
    return Pin(provision=name, node=node, module=module if dice.one_in(3) else None)


def _provided(mesh: Mesh, name: str) -> frozenset[str]:
    module = mesh.catalogue.get(name)
    return frozenset(p.name for p in module.provides) if module else frozenset()


def pins(vocabulary: Vocabulary, mesh: Mesh, trouble: Trouble = ANY_TROUBLE) -> st.SearchStrategy[list[Pin]]:
    """The pins of one node. Most are at a node of the mesh that is given such a provider."""
    return thrown(12, lambda dice: any_pins(dice, vocabulary, mesh, trouble))


SOURCES_THROWS = 3 + 2 * 3


def any_sources(dice: Dice, vocabulary: Vocabulary) -> dict[str, Source]:
    """Sources of some modules, which need not be there."""
    return {name: any_source(dice.part(3)) for name in dice.part(3).some(vocabulary.modules, 2)}


THROWS = 10 + CATALOGUE_THROWS + 7 + 5 * (14 + 12) + NAMES_THROWS + SOURCES_THROWS + ATTACHED_THROWS
"""As many as a mesh may take."""


def any_mesh(dice: Dice, most_modules: int = 7, most_nodes: int = 5) -> Mesh:
    """A mesh of up to that many modules and nodes."""
    trouble = any_trouble(dice.part(10))
    of_modules, of_nodes = dice.part(CATALOGUE_THROWS), dice.part(7 + 5 * (14 + 12))
    vocabulary = any_vocabulary(dice.part(NAMES_THROWS))
    catalogue = any_catalogue(of_modules, vocabulary, trouble, most_modules)
    count, shelf, unpinned = (
        any_number(of_nodes, most_nodes),
        of_nodes.one_of((0, 0, 2, 3)),
        of_nodes.one_in(4),
    )
    names = of_nodes.part(4).shuffled(vocabulary.nodes)[:count]
    nodes = [any_node(of_nodes.part(14), vocabulary, catalogue, trouble, name, shelf) for name in names]
    sources = any_sources(dice.part(SOURCES_THROWS), vocabulary)
    mesh = any_attached(dice.part(ATTACHED_THROWS), Mesh(catalogue=catalogue, nodes=nodes, sources=sources))
    if unpinned:
        return mesh
    return evolve(
        mesh,
        nodes=[
            evolve(node, pins=any_pins(of_nodes.part(12), vocabulary, mesh, trouble)) for node in mesh.nodes
        ],
    )


def meshes(most_modules: int = 7, most_nodes: int = 5) -> st.SearchStrategy[Mesh]:
    """Meshes of up to that many modules and nodes, at most 7 and 5.

    Every kind of problem and of plan is among them, none of them seldom.
    """
    return thrown(THROWS, lambda dice: any_mesh(dice, most_modules, most_nodes))
