"""Laws 1 and 2: the same mesh has the same resolution, however it is written and whenever asked."""

from __future__ import annotations

import json

import hypothesis
from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from mesh_core.model.catalogue import Catalogue
from mesh_core.model.mesh import Mesh
from mesh_core.testing.laws.law import Law, Resolver, broken, run, whole
from mesh_core.testing.strategies import documents_of, meshes
from mesh_core.testing.strategies.of_modules import shuffled
from mesh_core.wire.data import mesh_to_data
from mesh_core.wire.document import mesh_from_data


def check_order(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Design, part 3, law 1:

    > *Order*: permuting modules, nodes, assignments, pins or reports changes nothing.

    Permuted in the document, and in what the values are made from. Raises `AssertionError`.
    """
    resolved = whole(Law.ORDER, resolve)

    @given(mesh=meshes(), data=st.data())
    def order(mesh: Mesh, data: st.DataObject) -> None:
        before = resolved(mesh)
        if resolved(data.draw(_permuted(mesh))) != before:
            broken(Law.ORDER, "permuting what a mesh is made of changes its resolution", mesh)
        document = data.draw(documents_of(mesh))
        if resolved(mesh_from_data(document)) != before:
            broken(Law.ORDER, f"so does permuting the document, as in {document}", mesh)

    run(Law.ORDER, order, settings)


@st.composite
def _permuted(draw: st.DrawFn, mesh: Mesh) -> Mesh:
    nodes = [
        evolve(
            node,
            assigned=shuffled(draw, node.assigned),
            pins=shuffled(draw, node.pins),
            capabilities=None if node.capabilities is None else shuffled(draw, node.capabilities),
        )
        for node in shuffled(draw, mesh.nodes)
    ]
    modules = shuffled(draw, mesh.catalogue.modules)
    return Mesh(catalogue=Catalogue(modules=modules), nodes=nodes)


def check_determinism(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Design, part 3, law 2:

    > *Determinism*: equal meshes give equal resolutions, in any process, under any hash seed.

    Equal meshes that were made apart, and the same one again after another was resolved; all in this
    process, so run it under several hash seeds. Raises `AssertionError`.
    """
    resolved = whole(Law.DETERMINISM, resolve)

    @given(mesh=meshes(), other=meshes())
    def determinism(mesh: Mesh, other: Mesh) -> None:
        first = resolved(mesh)
        resolved(other)
        for twin in (mesh, _made_apart(mesh)):
            again = resolved(twin)
            # Values that are equal and look different would give different documents.
            if again != first or repr(again) != repr(first):
                broken(Law.DETERMINISM, "equal meshes are resolved differently", mesh)

    run(Law.DETERMINISM, determinism, settings)


def _made_apart(mesh: Mesh) -> Mesh:
    """An equal mesh that shares no value with this one, not even a text."""
    return mesh_from_data(json.loads(json.dumps(mesh_to_data(mesh))))
