"""Laws 1 and 2: the same mesh has the same resolution, however it is written and whenever asked."""

from __future__ import annotations

import json

import hypothesis
from attrs import evolve

from mesh_core.model.catalogue import Catalogue
from mesh_core.model.mesh import Mesh
from mesh_core.testing.laws.law import Law, Resolver, broken, keep, whole
from mesh_core.testing.strategies.dice import Dice
from mesh_core.testing.strategies.of_documents import any_document
from mesh_core.testing.strategies.of_meshes import any_mesh
from mesh_core.wire.data import mesh_to_data
from mesh_core.wire.document import mesh_from_data


def check_order(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Design, part 3, law 1:

    > *Order*: permuting modules, nodes, assignments, pins or reports changes nothing.

    Permuted in the document, and in what the values are made from. Raises `AssertionError`.
    """
    resolved = whole(Law.ORDER, resolve)

    def order(mesh: Mesh, dice: Dice) -> None:
        before = resolved(mesh)
        if resolved(_permuted(dice, mesh)) != before:
            broken(Law.ORDER, "permuting what a mesh is made of changes its resolution", mesh)
        document = any_document(dice, mesh)
        if resolved(mesh_from_data(document)) != before:
            broken(Law.ORDER, f"so does permuting the document, as in {document}", mesh)

    keep(Law.ORDER, order, settings)


def _permuted(dice: Dice, mesh: Mesh) -> Mesh:
    nodes = [
        evolve(
            node,
            assigned=dice.shuffled(node.assigned),
            pins=dice.shuffled(node.pins),
            capabilities=None if node.capabilities is None else dice.shuffled(node.capabilities),
        )
        for node in dice.shuffled(mesh.nodes)
    ]
    return Mesh(catalogue=Catalogue(modules=dice.shuffled(mesh.catalogue)), nodes=nodes)


def check_determinism(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Design, part 3, law 2:

    > *Determinism*: equal meshes give equal resolutions, in any process, under any hash seed.

    Equal meshes that were made apart, and the same one again after another was resolved; all in this
    process, so run it under several hash seeds. Raises `AssertionError`.
    """
    resolved = whole(Law.DETERMINISM, resolve)

    def determinism(mesh: Mesh, dice: Dice) -> None:
        first = resolved(mesh)
        resolved(any_mesh(dice))
        for twin in (mesh, _made_apart(mesh)):
            again = resolved(twin)
            # Values that are equal and look different would give different documents.
            if again != first or repr(again) != repr(first):
                broken(Law.DETERMINISM, "equal meshes are resolved differently", mesh)

    keep(Law.DETERMINISM, determinism, settings)


def _made_apart(mesh: Mesh) -> Mesh:
    """An equal mesh that shares no value with this one, not even a text."""
    return mesh_from_data(json.loads(json.dumps(mesh_to_data(mesh))))
