"""Networks that differ: the changes that lead from one to the other, and documents laid over them.

> the changes that make `after` of `before`
> an address once given stays a node's; addresses that were let go stay so
"""

from __future__ import annotations

from typing import Any

from attrs import evolve
from hypothesis import event, given, settings
from hypothesis import strategies as st

from mesh_core import InvalidValue, Mesh, apply_all, mesh_to_data
from mesh_core.analysis.difference import difference
from mesh_core.analysis.merge import merged
from mesh_core.model.network_text import is_machines
from mesh_core.testing import meshes
from mesh_core.testing.strategies.dice import Dice, thrown
from mesh_core.testing.strategies.of_documents import DOCUMENT_THROWS, any_document
from mesh_core.testing.strategies.of_networks import (
    NETWORKED_THROWS,
    OTHER_THROWS,
    any_networked_mesh,
    any_other_mesh,
    networked_meshes,
)
from mesh_core.wire.document import MeshDocument, mesh_document_from_data

EXAMPLES = settings(max_examples=5 * settings().max_examples, deadline=None)


def _two(dice: Dice) -> tuple[Mesh, Mesh]:
    mesh = any_networked_mesh(dice.part(NETWORKED_THROWS))
    return mesh, any_other_mesh(dice, mesh)


TWO = thrown(NETWORKED_THROWS + OTHER_THROWS, _two)


@given(two=TWO)
@EXAMPLES
def test_a_difference_leads_from_the_one_to_the_other(two: tuple[Mesh, Mesh]) -> None:
    """> The changes that make `after` of `before`, none that changes nothing."""
    for before, after in (two, two[::-1], (two[0], Mesh()), (Mesh(), two[0])):
        found = difference(before, after)
        assert apply_all(before, found) == after
        assert (found == ()) is (before == after)
        for place in range(len(found)):
            try:
                assert apply_all(before, found[:place] + found[place + 1 :]) != after
            except InvalidValue:
                event("a change that addresses depend on")


@given(mesh=meshes() | networked_meshes())
@EXAMPLES
def test_what_was_exported_is_imported_without_a_change(mesh: Mesh) -> None:
    read = mesh_document_from_data(mesh_to_data(mesh))
    assert merged(mesh, read) == merged(mesh, read, replace=True) == mesh
    assert merged(Mesh(), read) == mesh


def _standing_and_document(dice: Dice) -> tuple[Mesh, dict[str, Any]]:
    """A mesh, and a document of another one that leaves out some of how nodes are attached."""
    mesh, other = _two(dice.part(NETWORKED_THROWS + OTHER_THROWS))
    document = any_document(dice.part(DOCUMENT_THROWS), other)
    for node in document.get("nodes", []):
        if dice.one_in(3):
            node.pop("network", None)
    if dice.one_in(4):
        document.pop("network", None)
    return mesh, document


@given(
    drawn=thrown(NETWORKED_THROWS + OTHER_THROWS + DOCUMENT_THROWS + 10, _standing_and_document),
    replace=st.booleans(),
)
@EXAMPLES
def test_a_document_of_a_mesh_laid_over_another(drawn: tuple[Mesh, dict[str, Any]], replace: bool) -> None:
    """> So is the network, but that an address once given stays a node's."""
    standing, document = drawn
    try:
        read = mesh_document_from_data(document)
        after = merged(standing, read, replace=replace)
    except ValueError:
        event("addresses do not agree")
        return
    check_nodes_laid_over(standing, read, after)
    check_network_laid_over(standing, read, after)
    assert merged(after, read, replace=replace) == after
    assert apply_all(standing, difference(standing, after)) == after


def check_nodes_laid_over(standing: Mesh, read: MeshDocument, after: Mesh) -> None:
    for entry in read.nodes:
        old, said, new = (of.node(entry.name) for of in (standing, read.mesh, after))
        assert said is not None
        assert new is not None
        if old is None:
            assert new == said
        elif entry.network is None:
            assert new.network == old.network
        else:
            key, address = old.network.key or said.network.key, said.network.address or old.network.address
            assert new.network == evolve(said.network, key=key, address=address)


def check_network_laid_over(standing: Mesh, read: MeshDocument, after: Mesh) -> None:
    """A network that the document speaks of is the mesh's, and what was let go is not forgotten."""
    was, said, now = standing.network, read.mesh.network, after.network
    if said is None or was is None:
        assert (now is None) is (said is None and was is None)
    if now is None:
        return
    meant = said or was
    assert meant is not None
    assert evolve(now, retired=()) == evolve(meant, retired=())
    held = {node.network.address for node in after.nodes}
    before = {node.network.address for node in standing.nodes} if was is not None else set()
    let_go = {*(was.retired if was else ()), *(said.retired if said else ()), *before} - {None}
    assert {*now.retired} == {a for a in let_go - held if a is not None and is_machines(now.range, a)}
    if was is not None:
        first = [address for address in was.retired if address in now.retired]
        assert [*now.retired[: len(first)]] == first
