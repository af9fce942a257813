"""Changes as values, and `apply` (design, part 7)."""

from typing import Any

import pytest

from mesh_core import (
    Assign,
    Capability,
    Catalogue,
    CatalogueError,
    Change,
    DropModule,
    DropNode,
    Mesh,
    Module,
    Node,
    NoSuchNode,
    Pin,
    Provision,
    PutModule,
    PutNode,
    Report,
    Scope,
    SetPin,
    Unassign,
    Unpin,
    apply,
    apply_all,
)

PIN = Pin(provision="p", node="n")
A = Module(name="a", version="1")
NODE = Node(name="n", assigned=["a"], capabilities=[Capability(name="g")], pins=[PIN])
MESH = Mesh(catalogue=Catalogue(modules=[A]), nodes=[NODE, Node(name="m", pins=[PIN])])


def node(**parts: Any) -> Node:
    given: dict[str, Any] = {"assigned": ["a"], "capabilities": [Capability(name="g")], "pins": [PIN]} | parts
    return Node(name="n", **given)


@pytest.mark.parametrize(
    ("change", "after"),
    [
        (Assign(node="n", module="b"), node(assigned=["a", "b"])),
        (Assign(node="n", module="a"), NODE),
        (Unassign(node="n", module="a"), node(assigned=[])),
        (Unassign(node="n", module="b"), NODE),
        (SetPin(node="n", pin=PIN), NODE),
        (SetPin(node="n", pin=Pin(provision="q", node="x")), node(pins=[PIN, Pin(provision="q", node="x")])),
        (
            SetPin(node="n", pin=Pin(provision="p", node="m", module="a")),
            node(pins=[Pin(provision="p", node="m", module="a")]),
        ),
        (Unpin(node="n", provision="p"), node(pins=[])),
        (Unpin(node="n", provision="q"), NODE),
        (Report(node="n", capabilities=[]), node(capabilities=[])),
        (
            Report(node="n", capabilities=[Capability(name="z"), Capability(name="h", present=False)]),
            node(capabilities=[Capability(name="h", present=False), Capability(name="z")]),
        ),
        (PutNode(node=Node(name="n")), Node(name="n")),
    ],
)
def test_a_change_of_one_node_changes_that_node_alone(change: Change, after: Node) -> None:
    changed = apply(MESH, change)
    assert changed.node("n") == after
    assert changed.node("m") == MESH.node("m")
    assert changed.catalogue == MESH.catalogue
    assert apply(changed, change) == changed


def test_a_node_is_put_and_dropped() -> None:
    more = apply(MESH, PutNode(node=Node(name="x", assigned=["b"])))
    assert [n.name for n in more.nodes] == ["m", "n", "x"]
    assert apply(more, DropNode(node="x")) == MESH


def test_a_node_that_is_dropped_takes_every_pin_at_it_along() -> None:
    """> removing a node takes its assignments, reports and pins with it, pins *at* it included"""
    other = Pin(provision="q", node="m")
    mesh = apply(MESH, SetPin(node="m", pin=other))
    left = apply(mesh, DropNode(node="n"))
    assert left.nodes == (Node(name="m", pins=[other]),)


def test_a_manifest_is_put_and_dropped() -> None:
    newer = Module(name="a", version="2")
    assert apply(MESH, PutModule(module=newer)).catalogue == Catalogue(modules=[newer])
    assert apply(MESH, PutModule(module=Module(name="b", version="1"))).catalogue.get("a") == A
    dropped = apply(MESH, DropModule(module="a"))
    assert dropped.catalogue == Catalogue()
    assert dropped.nodes == MESH.nodes, "assignments stay, and are unknown then"
    assert apply(MESH, DropModule(module="z")) == MESH


@pytest.mark.parametrize(
    "change",
    [
        Assign(node="z", module="a"),
        Unassign(node="z", module="a"),
        SetPin(node="z", pin=PIN),
        Unpin(node="z", provision="p"),
        Report(node="z", capabilities=[]),
        DropNode(node="z"),
    ],
)
def test_a_change_of_no_node(change: Change) -> None:
    with pytest.raises(NoSuchNode) as raised:
        apply(MESH, change)
    assert raised.value.node == "z"
    assert str(raised.value) == "no node is called 'z'"


def provider(name: str, scope: Scope) -> Module:
    return Module(name=name, version="1", provides=[Provision(name="p", scope=scope)])


def test_manifests_need_only_agree_once_all_changes_are_made() -> None:
    node, mesh = Scope.NODE, Scope.MESH
    before = apply_all(Mesh(), [PutModule(module=provider(name, node)) for name in "ab"])
    changes = [PutModule(module=provider(name, mesh)) for name in "ab"]
    assert {p.scope for m in apply_all(before, changes).catalogue for p in m.provides} == {mesh}
    with pytest.raises(CatalogueError):
        apply(before, changes[0])
    with pytest.raises(CatalogueError):
        apply_all(before, changes[:1])


def test_changes_are_made_in_their_order() -> None:
    there = PutNode(node=Node(name="x"))
    assign = Assign(node="x", module="a")
    assert apply_all(MESH, [there, assign]).node("x") == Node(name="x", assigned=["a"])
    assert apply_all(MESH, [there, assign, there]).node("x") == Node(name="x")
    assert apply_all(MESH, []) == MESH
    with pytest.raises(NoSuchNode):
        apply_all(MESH, [assign, there])
