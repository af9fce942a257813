"""What a node is refused for, beside its mesh-scoped answers (design, part 3, *Problems*).

The facts are those of part 5; `required_by`, modules and candidates are sorted as strings.
"""

from typing import Any, get_args

import pytest

from mesh_core import Plan, Problem
from tests.unit.resolve.build import module, node, on, outcome, outcomes, problems


def test_a_module_that_the_catalogue_does_not_have() -> None:
    """> a module assigned to n is not in the catalogue"""
    unknown = [{"code": "unknown-module", "module": name} for name in ("ape", "zoo")]
    assert problems(on([module("a")], "zoo", "a", "ape")) == unknown


@pytest.mark.parametrize(
    ("assigned", "asking"),
    [("one", ["one"]), ("every", ["every"]), ("one every two", ["every", "one", "two"])],
)
def test_a_name_that_nobody_provides(assigned: str, asking: list[str]) -> None:
    """> m in S(n) requires a name (from one or from every) that no module in the catalogue provides"""
    modules = [
        module("one", ["x"]),
        module("every", ["every x"]),
        module("two", ["x"]),
        module("b", [], ["y"]),
    ]
    nobody = {"code": "no-provider", "provision": "x", "required_by": asking, "scope": None}
    assert problems(on(modules, *assigned.split())) == [nobody]


def test_two_names_that_nobody_provides() -> None:
    modules = [module("a", ["x", "y"]), module("b", ["y"])]
    asked = [(p["provision"], p["required_by"]) for p in problems(on(modules, "b", "a"))]
    assert asked == [("x", ["a"]), ("y", ["a", "b"])]


def test_a_name_on_the_node_that_has_no_provider_there_and_several_in_the_catalogue() -> None:
    """> m in S(n) requires a node-scoped name that two or more modules in the catalogue provide and none
    > in S(n) does
    """
    modules = [
        module("app", ["p"]),
        module("top", ["p", "q"]),
        module("b", [], ["p"]),
        module("a", [], ["p"]),
        module("c", [], ["q"]),
        module("d", [], ["q"]),
    ]
    several = {"code": "ambiguous-provider", "scope": "node"}
    on_p = several | {"provision": "p", "required_by": ["app", "top"], "candidates": ["a", "b"]}
    on_q = several | {"provision": "q", "required_by": ["top"], "candidates": ["c", "d"]}
    assert problems(on(modules, "top", "app")) == [on_p, on_q]
    assert problems(on(modules, "top", "app", "c")) == [on_p]
    assert problems(on(modules, "app", "b", "c")) == []
    elsewhere = outcome(modules, node("n", "app"), node("p", "a"))
    assert problems(elsewhere) == [on_p | {"required_by": ["app"]}]


CAPABLE = (
    module("ml", [], ["p"], capabilities=["gpu", "avx"]),
    module("app", ["p"], capabilities=["avx"]),
    module("free"),
)


@pytest.mark.parametrize(
    ("report", "verdicts"),
    [
        ({}, "avx app never-reported, avx ml never-reported, gpu ml never-reported"),
        ({"capabilities": {}}, "avx app unreported, avx ml unreported, gpu ml unreported"),
        ({"capabilities": {"avx": True}}, "gpu ml unreported"),
        ({"capabilities": {"avx": True, "gpu": False}}, "gpu ml absent"),
        ({"capabilities": {"avx": False, "gpu": True}}, "avx app absent, avx ml absent"),
        ({"capabilities": {"avx": True, "gpu": {"present": True, "detail": "x"}, "z": False}}, ""),
    ],
)
def test_a_capability_that_is_not_present(report: dict[str, Any], verdicts: str) -> None:
    """> `absent` (reported so), `unreported` (n reported, but not this one), `never-reported` (n never
    > reported at all)
    """
    found = problems(outcome(CAPABLE, node("n", "app", "free", **report)))
    assert {p["code"] for p in found} <= {"missing-capability"}
    assert ", ".join(f"{p['capability']} {p['module']} {p['verdict']}" for p in found) == verdicts


def test_each_machine_has_its_own_capabilities() -> None:
    nodes = [
        node("x", "app", capabilities={"avx": True, "gpu": True}),
        node("y", "app", capabilities={"avx": True}),
        node("z", "free", capabilities={"avx": True}),
        node("w", "free"),
    ]
    found = outcomes(CAPABLE, *nodes)
    assert [name for name, o in found.items() if isinstance(o, Plan)] == ["w", "x", "z"]


def test_a_claim_that_two_modules_of_a_node_have() -> None:
    """> two or more modules in S(n) have the same claim, whatever its scope"""
    modules = [
        module("c", claims=["port", "mesh vip"]),
        module("b", claims=["port"]),
        module("a", claims=["port", "only", "mesh vip"]),
        module("d", claims=["unique"]),
    ]
    clash = {"code": "claim-conflict", "claim": "port", "scope": "node"}
    vip = {"code": "claim-conflict", "claim": "vip", "scope": "mesh", "modules": ["a", "c"]}
    assert problems(on(modules, "c", "b", "a", "d")) == [clash | {"modules": ["a", "b", "c"]}, vip]
    assert problems(on(modules, "b", "a")) == [clash | {"modules": ["a", "b"]}]
    assert problems(on(modules, "b", "d")) == []
    assert problems(outcome(modules, node("n", "a"), node("p", "b"))) == []


def test_a_mesh_scoped_claim_that_another_node_holds() -> None:
    """> or a module in S(n) has a mesh-scoped claim that another node holds; one problem for each such
    > module, also beside a conflict on the node itself
    """
    modules = [
        module("a", claims=["mesh vip"]),
        module("b", claims=["mesh vip", "mesh other"]),
        module("pull", ["p"]),
        module("c", [], ["p"], claims=["mesh vip"]),
        module("none"),
    ]
    clash = {"code": "claim-conflict", "claim": "vip", "scope": "mesh"}
    nodes = [node("n", "a", "b"), node("n-m", "pull", "gone"), node("x", "none")]
    found = outcomes(modules, *nodes)
    assert problems(found["n"]) == [
        clash | {"module": "a", "candidates": ["n-m/c"]},
        clash | {"module": "b", "candidates": ["n-m/c"]},
        clash | {"modules": ["a", "b"]},
    ]
    assert problems(found["n-m"]) == [
        clash | {"module": "c", "candidates": ["n/a", "n/b"]},
        {"code": "unknown-module", "module": "gone"},
    ]
    assert isinstance(found["x"], Plan)
    assert problems(outcome(modules, node("n", "b"))) == []
    three = outcome(modules, node("x", "a"), node("n", "a"), node("n-m", "b"))
    assert problems(three) == [clash | {"module": "a", "candidates": ["n-m/b", "n/a"]}]


def declaring(name: str, *resources: dict[str, Any]) -> dict[str, Any]:
    return module(name, resources=list(resources))


def test_a_resource_that_two_modules_declare_differently() -> None:
    """> two or more modules in S(n) declare the same resource identity with different content"""
    motd = {"kind": "file", "path": "/etc/motd"}
    package = {"kind": "package", "name": "x"}
    modules = [
        declaring("c", motd, package),
        declaring("b", motd | {"mode": 1}),
        declaring("a", motd, package | {"held": True}),
        declaring("d", motd),
        declaring("e", {"kind": "service", "name": "x"}),
    ]
    clash = {"code": "resource-conflict", "resource": "path:/etc/motd"}
    other = {"code": "resource-conflict", "resource": "package:x", "modules": ["a", "c"]}
    assert problems(on(modules, "c", "b", "d", "e")) == [clash | {"modules": ["b", "c", "d"]}]
    assert problems(on(modules, "a", "b", "c")) == [clash | {"modules": ["a", "b", "c"]}, other]
    assert problems(on(modules, "a", "c")) == [other]
    assert problems(on(modules, "c", "d", "e")) == []
    assert problems(outcome(modules, node("n", "b"), node("p", "c"))) == []


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), (0, False), ("1", 1), ([1], [1.0])])
def test_values_of_two_types_are_two_contents(one: object, other: object) -> None:
    """> `1`, `1.0` and `true` differ"""
    thing = {"kind": "k", "name": "x"}
    modules = [declaring("a", thing | {"v": one}), declaring("b", thing | {"v": other})]
    assert [p["code"] for p in problems(on(modules, "a", "b"))] == ["resource-conflict"]


def test_the_order_of_keys_is_no_difference() -> None:
    modules = [
        declaring("a", {"kind": "k", "name": "x", "v": {"a": 1, "b": 2}}),
        declaring("b", {"v": {"b": 2, "a": 1}, "name": "x", "kind": "k"}),
    ]
    assert problems(on(modules, "a", "b")) == []


def test_every_problem_is_told_sorted_by_code_and_canonical_json() -> None:
    """> Problems are sorted by code, then by their canonical JSON: capability stands before module."""
    modules = [
        module("a", ["ghost", "db", "p"], claims=["c"], capabilities=["y", "z"]),
        module("b", ["log"], claims=["c"], capabilities=["x", "y"]),
        module("p1", [], ["p"]),
        module("p2", [], ["p"]),
        module("pg", [], ["mesh db", "mesh log"]),
    ]
    found = problems(
        outcome(modules, node("n", "b", "a", "gone", pins={"log": "n"}, capabilities={"x": False}))
    )
    assert [(p["code"], p.get("capability"), p.get("module"), p.get("provision")) for p in found] == [
        ("ambiguous-provider", None, None, "p"),
        ("claim-conflict", None, None, None),
        ("missing-capability", "x", "b", None),
        ("missing-capability", "y", "a", None),
        ("missing-capability", "y", "b", None),
        ("missing-capability", "z", "a", None),
        ("no-provider", None, None, "db"),
        ("no-provider", None, None, "ghost"),
        ("pin-unsatisfied", None, None, "log"),
        ("unknown-module", None, "gone", None),
    ]


def test_a_problem_knows_its_node() -> None:
    modules = [
        module("a", ["ghost", "p", "db", "lonely"], claims=["c", "mesh v"], capabilities=["x"]),
        module("b", ["log"], claims=["c"], resources=[{"kind": "k", "name": "x"}]),
        module("d", ["pe"], ["pd"], resources=[{"kind": "k", "name": "x", "v": 1}]),
        module("e", ["pd"], ["pe"]),
        module("p1", [], ["p"]),
        module("p2", [], ["p"]),
        module("pg", [], ["mesh db", "mesh log"], claims=["mesh v"]),
        module("nobody", [], ["mesh lonely"]),
    ]
    asked = node("n", "a", "b", "d", "gone", pins={"log": "n"})
    found = outcome(modules, asked, node("x", "pg"), node("y", "pg"))
    assert not isinstance(found, Plan)
    assert {problem.node for problem in found.problems} == {"n"}
    assert len({type(problem) for problem in found.problems}) == len(get_args(Problem))
