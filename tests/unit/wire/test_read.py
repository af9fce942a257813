"""What a document says: short and long forms, what is left out, missing or empty (design, part 4)."""

import json
from typing import Any

import pytest

from mesh_core import (
    Capability,
    Catalogue,
    Claim,
    Mesh,
    Module,
    Node,
    Pin,
    Provision,
    Requirement,
    Resource,
    Scope,
    mesh_from_data,
    mesh_to_data,
)
from mesh_core.wire.document import mesh_document_from_data, read_mesh
from mesh_core.wire.text import Syntax

PART_4 = """
{
  "format": 1,
  "modules": [
    {"name": "zsh", "version": "5.9", "provides": ["shell"], "resources": [{"kind": "package", "name": "zsh"}]},
    {"name": "postgres", "version": "16.2", "provides": [{"name": "database", "scope": "mesh", "exports": {"port": "5432"}}],
     "claims": ["port:5432"], "capabilities": ["systemd"]},
    {"name": "web", "version": "1.4.0", "requires": ["shell", "database"]}
  ],
  "nodes": [
    {"name": "nas", "assign": ["postgres"], "capabilities": {"systemd": true, "gpu": {"present": false, "detail": "no device"}}},
    {"name": "pi", "assign": ["web"], "pins": {"database": "nas"}}
  ]
}
"""  # noqa: E501 - verbatim


def test_the_example_of_the_design() -> None:
    zsh = Module(
        name="zsh",
        version="5.9",
        provides=[Provision(name="shell")],
        resources=[Resource(kind="package", name="zsh")],
    )
    postgres = Module(
        name="postgres",
        version="16.2",
        provides=[Provision(name="database", scope=Scope.MESH, exports={"port": "5432"})],
        claims=[Claim(name="port:5432")],
        capabilities=["systemd"],
    )
    web = Module(
        name="web", version="1.4.0", requires=[Requirement(name="shell"), Requirement(name="database")]
    )
    gpu = Capability(name="gpu", present=False, detail="no device")
    nas = Node(name="nas", assigned=["postgres"], capabilities=[Capability(name="systemd"), gpu])
    pi = Node(name="pi", assigned=["web"], pins=[Pin(provision="database", node="nas")])
    expected = Mesh(catalogue=Catalogue(modules=[zsh, postgres, web]), nodes=[nas, pi])
    assert mesh_from_data(json.loads(PART_4)) == expected
    assert read_mesh(PART_4.encode(), Syntax.JSON).mesh == expected


def test_the_least_document() -> None:
    """> every other list or table may be left out and is then empty"""
    assert mesh_from_data({"format": 1}) == Mesh()
    least = {"format": 1, "modules": [{"name": "a", "version": "1"}], "nodes": [{"name": "n"}]}
    empty = {
        "format": 1,
        "modules": [
            {
                "name": "a",
                "version": "1",
                "requires": [],
                "provides": [],
                "claims": [],
                "capabilities": [],
                "resources": [],
            }
        ],
        "nodes": [{"name": "n", "assign": [], "pins": {}}],
    }
    assert mesh_from_data(least) == mesh_from_data(empty)
    assert mesh_from_data(least) == Mesh(
        catalogue=Catalogue(modules=[Module(name="a", version="1")]), nodes=[Node(name="n")]
    )


def test_a_node_without_capabilities_never_reported() -> None:
    """> a node without it never reported, with `{}` it reported and has none"""
    never = mesh_from_data({"format": 1, "nodes": [{"name": "n"}]}).nodes[0]
    nothing = mesh_from_data({"format": 1, "nodes": [{"name": "n", "capabilities": {}}]}).nodes[0]
    assert (never.capabilities, nothing.capabilities) == (None, ())


def one(module: dict[str, Any]) -> Module:
    document = {"format": 1, "modules": [{"name": "a", "version": "1", **module}]}
    return mesh_from_data(document).catalogue.modules[0]


@pytest.mark.parametrize(
    ("short", "long"),
    [
        ({"provides": ["p"]}, {"provides": [{"name": "p"}]}),
        ({"provides": ["p"]}, {"provides": [{"name": "p", "scope": "node"}]}),
        ({"provides": ["p"]}, {"provides": [{"name": "p", "exports": {}}]}),
        ({"claims": ["p"]}, {"claims": [{"name": "p"}]}),
        ({"claims": ["p"]}, {"claims": [{"name": "p", "scope": "node"}]}),
        ({"requires": ["p"]}, {"requires": [{"name": "p"}]}),
        ({"requires": ["p"]}, {"requires": [{"name": "p", "from": "one"}]}),
    ],
)
def test_short_and_long(short: dict[str, Any], long: dict[str, Any]) -> None:
    """> A long form without `scope` means `node`. [...] a long requirement may leave out `from`, or say
    > `"one"`
    """
    assert one(short) == one(long)


def test_what_only_the_long_form_says() -> None:
    assert one({"provides": [{"name": "p", "scope": "mesh"}]}).provides == (
        Provision(name="p", scope=Scope.MESH),
    )
    assert one({"claims": [{"name": "p", "scope": "mesh"}]}).claims == (Claim(name="p", scope=Scope.MESH),)
    assert one({"requires": [{"name": "p", "from": "every"}]}).requires == (
        Requirement(name="p", every=True),
    )
    exports = {"b": "", "a": "é", "Any Key": "1"}
    assert dict(one({"provides": [{"name": "p", "exports": exports}]}).provides[0].exports) == exports


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        (True, Capability(name="g", present=True)),
        (False, Capability(name="g", present=False)),
        ({"present": True}, Capability(name="g", present=True)),
        ({"present": False, "detail": ""}, Capability(name="g", present=False, detail="")),
    ],
)
def test_verdicts(said: Any, heard: Capability) -> None:
    mesh = mesh_from_data({"format": 1, "nodes": [{"name": "n", "capabilities": {"g": said}}]})
    assert mesh.nodes[0].capabilities == (heard,)


def test_pins() -> None:
    mesh = mesh_from_data({"format": 1, "nodes": [{"name": "n", "pins": {"p/q": "x", "b:1": "y/a.b"}}]})
    assert mesh.nodes[0].pins == (
        Pin(provision="b:1", node="y", module="a.b"),
        Pin(provision="p/q", node="x"),
    )


def test_a_document_may_name_what_it_does_not_have() -> None:
    """An assignment of an unknown module, or a pin at no node, is a problem of the mesh: no fault."""
    mesh = mesh_from_data({"format": 1, "nodes": [{"name": "n", "assign": ["zzz"], "pins": {"p": "x/y"}}]})
    assert mesh.nodes[0].assigned == ("zzz",)


def test_the_reader_tells_a_key_that_is_missing_from_an_empty_one() -> None:
    """> The reader of documents tells a key that is missing from an empty one, which the values do not.
    > (part 11)
    """
    document = mesh_document_from_data(
        {
            "format": 1,
            "nodes": [
                {"name": "missing"},
                {"name": "empty", "assign": [], "pins": {}, "capabilities": {}},
                {"name": "assigned", "assign": ["a"]},
            ],
        }
    )
    missing, empty, assigned = document.nodes
    assert (missing.assign, missing.pins, missing.capabilities) == (None, None, None)
    assert (empty.assign, empty.pins, empty.capabilities) == ((), (), ())
    assert (assigned.assign, assigned.pins) == (("a",), None)
    assert [node.name for node in document.nodes] == ["missing", "empty", "assigned"], "as written"
    assert [node.name for node in document.mesh.nodes] == ["assigned", "empty", "missing"], "sorted"
    by_bytes = read_mesh(b'{"format": 1, "nodes": [{"name": "n", "assign": []}]}', Syntax.JSON)
    assert (by_bytes.nodes[0].assign, by_bytes.nodes[0].pins) == ((), None)


def test_the_canonical_form() -> None:
    """> `mesh_to_data(mesh_from_data(d))` is `d` in canonical form (part 7)

    Sorted, the short form where it says everything, what is empty left out, but for the `assign` and `pins`
    of a node.
    """
    written = {
        "nodes": [
            {"name": "z", "pins": {"q": "b/c", "p": "a"}, "assign": ["m", "b"]},
            {"capabilities": {"h": {"present": True}, "g": {"present": False, "detail": ""}}, "name": "a"},
            {"name": "b", "capabilities": {}},
        ],
        "modules": [
            {
                "version": "1",
                "name": "b",
                "resources": [
                    {"name": "z", "kind": "package"},
                    {"kind": "file", "of": {"b": 1, "a": 2}, "path": "/a"},
                ],
                "capabilities": ["h", "g"],
                "claims": [{"name": "l", "scope": "mesh"}, {"name": "k", "scope": "node"}],
                "provides": [
                    {"name": "t", "exports": {"b": "1", "a": "2"}},
                    {"name": "s", "scope": "mesh", "exports": {}},
                    {"name": "r", "scope": "node", "exports": {}},
                ],
                "requires": [{"name": "q", "from": "every"}, {"name": "p", "from": "one"}, "o"],
            },
            {"name": "a", "version": "2", "requires": []},
        ],
        "format": 1,
    }
    canonical = {
        "format": 1,
        "modules": [
            {"name": "a", "version": "2"},
            {
                "name": "b",
                "version": "1",
                "requires": ["o", "p", {"name": "q", "from": "every"}],
                "provides": [
                    "r",
                    {"name": "s", "scope": "mesh"},
                    {"name": "t", "scope": "node", "exports": {"a": "2", "b": "1"}},
                ],
                "claims": ["k", {"name": "l", "scope": "mesh"}],
                "capabilities": ["g", "h"],
                "resources": [
                    {"kind": "package", "name": "z"},
                    {"kind": "file", "path": "/a", "of": {"a": 2, "b": 1}},
                ],
            },
        ],
        "nodes": [
            {
                "name": "a",
                "assign": [],
                "capabilities": {"g": {"present": False, "detail": ""}, "h": True},
                "pins": {},
            },
            {"name": "b", "assign": [], "capabilities": {}, "pins": {}},
            {"name": "z", "assign": ["b", "m"], "pins": {"p": "a", "q": "b/c"}},
        ],
    }
    found = mesh_to_data(mesh_from_data(written))
    # As text: also the order of keys is the same for every document of one mesh.
    assert json.dumps(found) == json.dumps(canonical)
    assert json.dumps(mesh_to_data(mesh_from_data(canonical))) == json.dumps(canonical)
    assert mesh_to_data(Mesh()) == {"format": 1, "modules": [], "nodes": []}
