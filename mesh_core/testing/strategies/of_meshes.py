"""Strategies for nodes, their reports and pins, and for whole meshes, as values."""

from __future__ import annotations

from functools import lru_cache
from itertools import product

from attrs import evolve
from hypothesis import strategies as st

from mesh_core.model.catalogue import Catalogue
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Scope
from mesh_core.model.node import Capability, Node, Pin
from mesh_core.testing.strategies.of_modules import (
    ANY_TROUBLE,
    Trouble,
    catalogues,
    few,
    one_in,
    one_of,
    troubles,
    up_to,
)
from mesh_core.testing.strategies.of_names import Vocabulary, vocabularies


@lru_cache(maxsize=100)
def _reports(names: tuple[str, ...]) -> st.SearchStrategy[tuple[Capability, ...] | None]:
    said = ((True, None), (True, None), (True, "a detail"), (False, None), (False, "no device"))
    each = [[None, *(Capability(name=name, present=p, detail=d) for p, d in said)] for name in names]
    reports = [tuple(c for c in chosen if c is not None) for chosen in product(*each)]
    return st.sampled_from([*reports, *[None] * (len(reports) // 4)])


def reports(vocabulary: Vocabulary) -> st.SearchStrategy[tuple[Capability, ...] | None]:
    """What a machine may have said of itself; None where it never reported."""
    return _reports(vocabulary.capabilities)


def _node(
    draw: st.DrawFn,
    vocabulary: Vocabulary,
    catalogue: Catalogue,
    trouble: Trouble,
    name: str,
    shelf: int = 0,
) -> Node:
    """The first modules of the catalogue, as many as `shelf` says, are not assigned by themselves."""
    assigned = {*draw(few(tuple(module.name for module in catalogue)[shelf:], 3))}
    if draw(one_in(2)):
        assigned |= _providers_for(catalogue, min(assigned, default=""))
    if trouble.unknown and vocabulary.missing_modules and draw(one_in(4)):
        assigned.add(draw(one_of(*vocabulary.missing_modules)))
    return Node(name=name, assigned=assigned, capabilities=draw(reports(vocabulary)))


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


@st.composite
def nodes(
    draw: st.DrawFn,
    vocabulary: Vocabulary,
    catalogue: Catalogue,
    trouble: Trouble = ANY_TROUBLE,
    name: str | None = None,
) -> Node:
    """One node without pins, given some of the modules of a catalogue."""
    own = draw(one_of(*vocabulary.nodes)) if name is None else name
    return _node(draw, vocabulary, catalogue, trouble, own)


def _pins(draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh, trouble: Trouble) -> tuple[Pin, ...]:
    names = draw(few(vocabulary.provisions_of(Scope.MESH), 2))
    drawn = [_pin(draw, vocabulary, mesh, trouble, name) for name in names]
    if draw(one_in(8)):
        others = (*vocabulary.provisions_of(Scope.NODE), *vocabulary.unprovided)
        drawn.append(Pin(provision=draw(one_of(*others)), node=vocabulary.nodes[0]))
    return tuple(drawn)


@st.composite
def pins(
    draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh, trouble: Trouble = ANY_TROUBLE
) -> tuple[Pin, ...]:
    """The pins of one node. Most are at a node of the mesh that is given such a provider."""
    return _pins(draw, vocabulary, mesh, trouble)


def _pin(draw: st.DrawFn, vocabulary: Vocabulary, mesh: Mesh, trouble: Trouble, name: str) -> Pin:
    offers = [
        (node.name, module)
        for node in mesh.nodes
        for module in node.assigned
        if name in _provided(mesh, module)
    ]
    if offers and not draw(one_in(5)):
        node, module = draw(one_of(*offers))
    else:
        beyond = vocabulary.missing_nodes if trouble.missing_nodes or not mesh.nodes else ()
        node = draw(one_of(*(node.name for node in mesh.nodes), *beyond))
        module = draw(one_of(*vocabulary.modules))
    return Pin(provision=name, node=node, module=module if draw(one_in(3)) else None)


def _provided(mesh: Mesh, name: str) -> frozenset[str]:
    module = mesh.catalogue.get(name)
    return frozenset(p.name for p in module.provides) if module else frozenset()


@st.composite
def meshes(draw: st.DrawFn, most_modules: int = 7, most_nodes: int = 5) -> Mesh:
    """Meshes of up to that many modules and nodes, at most 7 and 5.

    Every kind of problem and of plan is among them, none of them seldom.
    """
    vocabulary = draw(vocabularies())
    trouble = draw(troubles())
    catalogue = draw(catalogues(vocabulary, trouble, most_modules))
    names = vocabulary.nodes[: draw(up_to(most_nodes))]
    shelf = draw(one_of(0, 0, 2, 3))
    unpinned = Mesh(
        catalogue=catalogue,
        nodes=[_node(draw, vocabulary, catalogue, trouble, name, shelf) for name in names],
    )
    if draw(one_in(4)):
        return unpinned
    return evolve(
        unpinned,
        nodes=[evolve(node, pins=_pins(draw, vocabulary, unpinned, trouble)) for node in unpinned.nodes],
    )
