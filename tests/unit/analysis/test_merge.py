"""A mesh document laid over a mesh.

> `import` leaves what a node's entry does not mention (no `assign` key) and empties what it gives empty.
> (design, part 11)
"""

from typing import Any

import pytest

from mesh_core import Capability, CatalogueError, Mesh, Node, Pin, mesh_from_data, mesh_to_data
from mesh_core.analysis.difference import difference
from mesh_core.analysis.merge import merged
from mesh_core.analysis.proposal import propose
from mesh_core.wire.document import mesh_document_from_data
from tests.unit.analysis.builders import DATABASE, POSTGRES, mesh, module, node

STANDING = mesh(
    [module("zsh", "shell"), module("bash", "shell")],
    [
        node("nas", "zsh", pins={"p": "pi"}, capabilities={"g": True}),
        node("pi", "bash"),
    ],
)


def laid(document: dict[str, Any], over: Mesh = STANDING, *, replace: bool = False) -> Mesh:
    return merged(over, mesh_document_from_data({"format": 1, **document}), replace=replace)


def the_node(document: dict[str, Any], name: str = "nas", *, replace: bool = False) -> Node:
    found = laid({"nodes": [{"name": name, **document}]}, replace=replace).node(name)
    assert found is not None
    return found


NAS, PI = STANDING.nodes


def test_a_document_that_says_nothing() -> None:
    assert laid({}) == STANDING
    assert laid({"nodes": [{"name": "nas"}], "modules": []}) == STANDING
    assert laid({}, replace=True) == Mesh()
    assert merged(STANDING, mesh_document_from_data({"format": 1})) == STANDING


def test_modules_take_the_place_of_those_of_their_name() -> None:
    newer = module("zsh", "shell", version="2")
    assert laid({"modules": [newer]}) == mesh(
        [newer, module("bash", "shell")], mesh_to_data(STANDING)["nodes"]
    )
    assert [m.name for m in laid({"modules": [newer]}, replace=True).catalogue] == ["zsh"]


@pytest.mark.parametrize("replace", [False, True])
def test_what_an_entry_does_not_mention_is_left_and_what_it_gives_empty_is_emptied(replace: bool) -> None:
    report = [Capability(name="g")]
    pins = [Pin(provision="p", node="pi")]
    assert the_node({}, replace=replace) == NAS
    assert the_node({"assign": []}, replace=replace) == Node(name="nas", pins=pins, capabilities=report)
    assert the_node({"assign": ["a"]}, replace=replace).assigned == ("a",)
    assert the_node({"pins": {}}, replace=replace) == Node(name="nas", assigned=["zsh"], capabilities=report)
    assert the_node({"pins": {"q": "nas"}}, replace=replace).pins == (Pin(provision="q", node="nas"),)


def test_nodes_that_it_does_not_name_stay_unless_it_replaces() -> None:
    document = {"nodes": [{"name": "nas", "assign": ["bash"]}, {"name": "vps", "assign": ["zsh"]}]}
    assert [n.name for n in laid(document).nodes] == ["nas", "pi", "vps"]
    assert laid(document).node("pi") == PI
    assert [n.name for n in laid(document, replace=True).nodes] == ["nas", "vps"]
    vps = laid(document).node("vps")
    assert vps == Node(name="vps", assigned=["zsh"])


def test_a_pin_at_what_is_replaced_away_is_left_unless_the_entry_mentions_its_pins() -> None:
    """> a pin to a missing node is `pin-unsatisfied` (design, part 3): never dropped without a word"""
    asking = module("web", requires=["database"])
    pinned = node("pi", "web", pins={"database": "nas"})
    standing = mesh([POSTGRES, asking], [node("nas", "postgres"), node("vps", "postgres"), pinned])
    kept = (Pin(provision="database", node="nas"),)
    without_nas = {"modules": [POSTGRES, asking], "nodes": [node("vps", "postgres"), {"name": "pi"}]}
    without_postgres = {"modules": [asking], "nodes": [node("nas"), {"name": "pi"}]}
    for document, code, lost in (
        (without_nas, "pin-unsatisfied", ()),
        (without_postgres, "no-provider", ()),
        ({**without_nas, "nodes": [node("vps", "postgres"), {"name": "pi", "pins": {}}]}, "", kept),
    ):
        after = laid(document, standing, replace=True)
        pi = after.node("pi")
        assert pi is not None
        assert pi.pins == (() if lost else kept)
        proposal = propose(standing, difference(standing, after))
        assert proposal.after == after
        assert [pin.pin for pin in proposal.consequences.lost_pins] == [*lost]
        codes = [p.code for refusal in proposal.consequences.refused for p in refusal.problems]
        assert codes == ([code] if code else [])
        assert proposal.consequences.harmful


def test_what_a_machine_reported_is_never_overwritten() -> None:
    """> what machines reported is never overwritten by an import"""
    for said in ({}, {"g": False}, {"h": True}):
        assert the_node({"capabilities": said}).capabilities == (Capability(name="g"),)
    assert the_node({"capabilities": {"h": True}}, "pi").capabilities == (Capability(name="h"),)
    assert the_node({"capabilities": {}}, "pi").capabilities == ()
    assert the_node({}, "pi").capabilities is None
    assert the_node({"capabilities": {"h": True}}, "new").capabilities == (Capability(name="h"),)


def test_what_cannot_stand_beside_the_rest() -> None:
    database = module("own", DATABASE)
    standing = mesh([module("other", "database")], [])
    with pytest.raises(CatalogueError):
        laid({"modules": [database]}, standing)
    assert laid({"modules": [database]}, standing, replace=True) == mesh([database], [])


def test_an_exported_mesh_laid_over_nothing_is_the_mesh() -> None:
    """> `export` then `import` into an empty store loses only history."""
    assert laid(mesh_to_data(STANDING), Mesh()) == STANDING
    assert laid(mesh_to_data(STANDING)) == STANDING
    assert mesh_from_data(mesh_to_data(STANDING)) == STANDING
