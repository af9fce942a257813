"""How one mesh differs from another. The law is a property: `tests/property/test_changes.py`."""

from mesh_core import DropModule, DropNode, Mesh, Node, Pin, PutModule, PutNode, module_from_data
from mesh_core.analysis.difference import difference
from mesh_core.change import apply_all
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
