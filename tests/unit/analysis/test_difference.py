"""How one mesh differs from another. The law is a property: `tests/property/test_changes.py`."""

from typing import Any

from mesh_core import (
    DropModule,
    DropNode,
    Mesh,
    Node,
    Pin,
    PutModule,
    PutNode,
    mesh_from_data,
    module_from_data,
)
from mesh_core.analysis.difference import difference
from mesh_core.change import SetNetwork, apply_all
from mesh_core.model.network import Attachment, Network
from tests.unit.analysis.builders import DATABASE, mesh, module, node

ZSH = module("zsh", "shell")


def test_none_between_equal_meshes() -> None:
    assert difference(Mesh(), Mesh()) == ()
    of = mesh([ZSH, module("a")], [node("pi", "zsh"), node("nas", pins={"p": "gone"})])
    assert (
        difference(of, mesh([module("a"), ZSH], [node("nas", pins={"p": "gone"}), node("pi", "zsh")])) == ()
    )


def test_only_what_differs_and_each_once() -> None:
    before = mesh([ZSH, module("a"), module("b")], [node("nas"), node("pi", "zsh"), node("vps")])
    after = mesh([ZSH, module("a", version="2"), module("c")], [node("nas"), node("pi"), node("x")])
    assert difference(before, after) == (
        DropNode(node="vps"),
        PutModule(module=module_from_data(module("a", version="2"))),
        PutModule(module=module_from_data(module("c"))),
        PutNode(node=Node(name="pi")),
        PutNode(node=Node(name="x")),
        DropModule(module="b"),
    )


def test_a_pin_at_a_node_that_is_dropped_is_put_again_where_it_stays() -> None:
    before = mesh([], [node("nas"), node("pi", pins={"p": "nas", "q": "pi"}), node("x", pins={"p": "nas"})])
    after = mesh([], [node("pi", pins={"p": "nas", "q": "pi"}), node("x")])
    pins = [Pin(provision="p", node="nas"), Pin(provision="q", node="pi")]
    assert difference(before, after) == (DropNode(node="nas"), PutNode(node=Node(name="pi", pins=pins)))
    assert apply_all(before, difference(before, after)) == after


def test_a_scope_that_changes_for_all_at_once() -> None:
    before = mesh([module("a", "database"), module("b", "database")], [])
    after = mesh([module("a", DATABASE), module("b", DATABASE)], [])
    assert apply_all(before, difference(before, after)) == after
    assert apply_all(after, difference(after, before)) == before
    assert len(difference(before, after)) == 2


def networked(*nodes: dict[str, Any], **network: Any) -> Mesh:
    said = {"range": "10.77.0.0/24", **network}
    return mesh_from_data({"format": 1, "network": said, "nodes": [*nodes]})


def at(name: str, address: str) -> dict[str, Any]:
    return node(name, network={"address": address})


def test_a_network_that_comes_is_said_behind_the_nodes_and_one_that_goes_before_them() -> None:
    """For with it everybody's address goes."""
    before, after = mesh([], [node("nas")]), networked(at("nas", "10.77.0.1"))
    attached = Attachment(address="10.77.0.1")
    puts = PutNode(node=Node(name="nas", network=attached))
    assert difference(before, after) == (puts, SetNetwork(network=Network(range="10.77.0.0/24")))
    assert difference(after, before) == (SetNetwork(network=None),)
    as_text = mesh([], [at("nas", "10.77.0.1")])
    assert difference(after, as_text) == (SetNetwork(network=None), puts)


def test_what_nodes_let_go_is_retired_by_itself_and_not_said() -> None:
    before = networked(at("nas", "10.77.0.1"), at("pi", "10.77.0.2"))
    after = networked(at("nas", "10.77.0.3"), retired=["10.77.0.2", "10.77.0.1"])
    changes = difference(before, after)
    assert [type(change) for change in changes] == [DropNode, PutNode]
    assert apply_all(before, changes) == after
    forgotten = networked(at("nas", "10.77.0.3"))
    assert [type(change) for change in difference(before, forgotten)] == [DropNode, PutNode, SetNetwork]


def test_two_that_change_addresses_do_so_at_once() -> None:
    before = networked(at("nas", "10.77.0.1"), at("pi", "10.77.0.2"))
    after = networked(at("nas", "10.77.0.2"), at("pi", "10.77.0.1"))
    changes = difference(before, after)
    assert [type(change) for change in changes] == [PutNode, PutNode]
    assert apply_all(before, changes) == after
