"""The values of a mesh: sorted, equal whatever the order, and refusing what the documents refuse.

> no value is coerced [...], no text is normalised [...] Scopes that disagree, a node-scoped name asked from
> every and a module that requires what it provides are a `CatalogueError` of the value classes.
> (design, part 4)
"""

import pickle
from collections.abc import Callable
from copy import deepcopy
from datetime import date
from itertools import permutations
from typing import Any

import pytest

from mesh_core import (
    Capability,
    Catalogue,
    CatalogueError,
    Claim,
    InvalidValue,
    Mesh,
    Module,
    Node,
    Pin,
    Provision,
    Requirement,
    Resource,
    Scope,
    Verdict,
    resolve,
)
from mesh_core.faults import (
    BadResource,
    Duplicate,
    EveryOfNodeScope,
    ScopeDisagreement,
    SelfRequirement,
    ValueFault,
)

MESH, NODE = Scope.MESH, Scope.NODE


def module(name: str, **parts: Any) -> Module:
    return Module(name=name, version="1", **parts)


def provides(name: str, scope: Scope = NODE) -> Provision:
    return Provision(name=name, scope=scope)


def faults_of(make: Callable[[], object]) -> tuple[ValueFault, ...]:
    with pytest.raises(InvalidValue) as raised:
        make()
    return raised.value.faults


def test_what_is_left_out_is_empty() -> None:
    assert module("a") == module("a", requires=(), provides=(), claims=(), capabilities=(), resources=())
    assert Node(name="n") == Node(name="n", assigned=(), capabilities=None, pins=())
    assert Node(name="n") != Node(name="n", capabilities=())
    assert Mesh() == Mesh(catalogue=Catalogue(modules=()), nodes=())
    assert provides("p") == Provision(name="p", scope=NODE, exports={})
    assert Requirement(name="p") == Requirement(name="p", every=False)
    assert Claim(name="p") == Claim(name="p", scope=NODE)
    assert Capability(name="g") == Capability(name="g", present=True, detail=None)


def test_values_are_equal_whatever_the_order() -> None:
    """> *Order*: permuting modules, nodes, assignments, pins or reports changes nothing. (law 1)"""
    requires = [Requirement(name="p"), Requirement(name="q"), Requirement(name="r", every=True)]
    said = [provides("s"), provides("t", MESH)]
    claims = [Claim(name="l"), Claim(name="m", scope=MESH)]
    a, b = module("a"), module("b")
    pins = [Pin(provision="p", node="n"), Pin(provision="q", node="m")]
    report = [Capability(name="g"), Capability(name="h", present=False)]
    nodes = [Node(name="n"), Node(name="m")]
    for asked in permutations(requires):
        assert module("a", requires=asked).requires == tuple(requires)
    assert module("a", provides=reversed(said)) == module("a", provides=said)
    assert module("a", claims=reversed(claims)) == module("a", claims=claims)
    assert module("a", capabilities=["h", "g"]).capabilities == ("g", "h")
    assert Catalogue(modules=[b, a]) == Catalogue(modules=[a, b])
    assert Node(name="n", assigned=["b", "a"]).assigned == ("a", "b")
    assert Node(name="n", pins=reversed(pins)).pins == tuple(pins)
    assert Node(name="n", capabilities=reversed(report)).capabilities == tuple(report)
    assert Mesh(nodes=nodes) == Mesh(nodes=reversed(nodes))
    assert [node.name for node in Mesh(nodes=nodes).nodes] == ["m", "n"]
    assert Provision(name="p", exports={"b": "1", "a": "2"}).exports == (("a", "2"), ("b", "1"))
    assert Provision(name="p", exports=[("b", "1"), ("a", "2")]).exports == (("a", "2"), ("b", "1"))


def test_resources_stay_in_the_order_of_the_manifest() -> None:
    two = [Resource(kind="package", name="z"), Resource(kind="package", name="a")]
    assert module("a", resources=two).resources == tuple(two)
    assert module("a", resources=two) != module("a", resources=two[::-1])


TWICE: list[tuple[str, str, Callable[[], object]]] = [
    (
        "requires",
        "p",
        lambda: module("a", requires=[Requirement(name="p"), Requirement(name="p", every=True)]),
    ),
    ("provides", "p", lambda: module("a", provides=[provides("p"), provides("p", MESH)])),
    ("claims", "l", lambda: module("a", claims=[Claim(name="l"), Claim(name="l", scope=MESH)])),
    ("capabilities", "g", lambda: module("a", capabilities=["g", "g"])),
    ("assigned", "a", lambda: Node(name="n", assigned=["a", "a"])),
    ("capabilities", "g", lambda: Node(name="n", capabilities=[Capability(name="g")] * 2)),
    ("pins", "p", lambda: Node(name="n", pins=[Pin(provision="p", node=at) for at in ("n", "m")])),
    ("modules", "a", lambda: Catalogue(modules=[module("a"), Module(name="a", version="2")])),
    ("nodes", "n", lambda: Mesh(nodes=[Node(name="n"), Node(name="n", assigned=["a"])])),
]


@pytest.mark.parametrize(("where", "name", "make"), TWICE)
def test_what_may_stand_once(where: str, name: str, make: Callable[[], object]) -> None:
    """> Refused too: a name that stands twice in one list, two modules or two nodes of one name"""
    assert faults_of(make) == (Duplicate(where=where, name=name),)


def test_every_name_that_stands_twice_is_told_once() -> None:
    found = faults_of(lambda: Node(name="n", assigned=["b", "a", "b", "a", "b", "c"]))
    assert found == (Duplicate(where="assigned", name="a"), Duplicate(where="assigned", name="b"))


def test_what_a_node_lacks() -> None:
    said = Node(
        name="n", capabilities=[Capability(name="g"), Capability(name="h", present=False, detail="no")]
    )
    assert said.lacks("g") is None
    assert said.lacks("h") is Verdict.ABSENT
    assert said.lacks("i") is Verdict.UNREPORTED
    assert Node(name="n", capabilities=()).lacks("g") is Verdict.UNREPORTED
    assert Node(name="n").lacks("g") is Verdict.NEVER_REPORTED


def test_looking_things_up() -> None:
    pin = Pin(provision="p", node="m")
    node = Node(name="n", pins=[Pin(provision="a", node="m"), pin])
    mesh = Mesh(catalogue=Catalogue(modules=[module("a")]), nodes=[node])
    assert mesh.node("n") == node
    assert mesh.node("m") is None
    assert mesh.catalogue.get("a") == module("a")
    assert mesh.catalogue.get("b") is None
    assert "a" in mesh.catalogue
    assert "b" not in mesh.catalogue
    assert [*mesh.catalogue] == [module("a")]
    assert (node.pin("p"), node.pin("q")) == (pin, None)
    assert (pin.target, Pin(provision="p", node="m", module="a").target) == ("m", "m/a")


def catalogue_faults(*modules: Module) -> tuple[object, ...]:
    with pytest.raises(CatalogueError) as raised:
        Catalogue(modules=modules)
    assert str(raised.value) == "; ".join(map(str, raised.value.faults))
    return raised.value.faults


def test_a_provision_has_one_scope() -> None:
    """> A provision name has one scope in a catalogue, and so has a claim name: a manifest that disagrees
    > with the others is refused when it is added (`CatalogueError`, naming both modules). (part 2)
    """
    a, b = module("a", provides=[provides("p")]), module("b", provides=[provides("p", MESH)])
    (fault,) = catalogue_faults(b, a)
    assert fault == ScopeDisagreement(
        what="provision", name="p", module="b", scope="mesh", other_module="a", other_scope="node"
    )
    assert str(fault) == (
        "b provides 'p' with scope mesh, and a provides it with scope node; "
        "a provision has one scope in a catalogue"
    )


def test_a_claim_has_one_scope() -> None:
    a, b = module("a", claims=[Claim(name="p", scope=MESH)]), module("b", claims=[Claim(name="p")])
    (fault,) = catalogue_faults(a, b)
    assert fault == ScopeDisagreement(
        what="claim", name="p", module="b", scope="node", other_module="a", other_scope="mesh"
    )
    assert "b claims 'p' with scope node, and a claims it with scope mesh" in str(fault)


def test_a_provision_and_a_claim_of_one_name_have_nothing_to_do_with_each_other() -> None:
    Catalogue(
        modules=[module("a", provides=[provides("p")]), module("b", claims=[Claim(name="p", scope=MESH)])]
    )


def test_a_node_scoped_name_is_not_asked_from_every() -> None:
    """> (Asked of a node-scoped name it is a `CatalogueError`.) (part 3)"""
    every = [Requirement(name="p", every=True)]
    fault = EveryOfNodeScope(module="a", name="p", provider="b")
    assert catalogue_faults(module("a", requires=every), module("b", provides=[provides("p")])) == (fault,)
    own = module("a", requires=every, provides=[provides("p")])
    assert catalogue_faults(own) == (EveryOfNodeScope(module="a", name="p", provider="a"),)
    assert str(fault) == (
        "a requires 'p' from every, and b provides it with scope node; "
        "only a name of scope mesh can be required from every"
    )
    # Of a mesh-scoped name, and of one that nobody provides, it may be asked.
    Catalogue(modules=[module("a", requires=every), module("b", provides=[provides("p", MESH)])])
    Catalogue(modules=[module("a", requires=every)])


@pytest.mark.parametrize("scope", Scope)
def test_a_module_does_not_require_what_it_provides(scope: Scope) -> None:
    """> a module that requires, from one provider, what it provides itself"""
    own = module("a", requires=[Requirement(name="p")], provides=[provides("p", scope)])
    (fault,) = catalogue_faults(own)
    assert fault == SelfRequirement(module="a", name="p")
    assert str(fault) == (
        "a requires 'p' and provides it itself, so it could only answer itself; "
        "give one of the two another name"
    )


def test_a_module_may_require_from_every_what_it_provides() -> None:
    own = module("a", requires=[Requirement(name="p", every=True)], provides=[provides("p", MESH)])
    assert Catalogue(modules=[own]).modules == (own,)


def test_all_faults_of_a_catalogue_at_once() -> None:
    a = module("a", provides=[provides("p"), provides("q")], claims=[Claim(name="l")])
    b = module("b", provides=[provides("p", MESH)], claims=[Claim(name="l", scope=MESH)])
    c = module(
        "c", requires=[Requirement(name="q", every=True), Requirement(name="r")], provides=[provides("r")]
    )
    found = catalogue_faults(c, b, a)
    assert {type(fault) for fault in found} == {ScopeDisagreement, EveryOfNodeScope, SelfRequirement}
    assert len(found) == 4


def resource(value: Any) -> Resource:
    return Resource(kind="file", path="/a", attributes_json={"of": [{"a": value}]})


TEXT_WITHOUT_UTF8: list[Callable[[], object]] = [
    lambda: Provision(name="p", exports={"a": "\ud800"}),
    lambda: Provision(name="p", exports={"\ud800": "a"}),
    lambda: Capability(name="g", detail="\ud800"),
    lambda: Resource(kind="\ud800", name="a"),
    lambda: Resource(kind="package", name="\ud800"),
    lambda: Resource(kind="file", path="/\ud800"),
    lambda: resource("\ud800"),
    lambda: resource({"\ud800": 1}),
]


def test_where_a_lone_surrogate_is_is_told() -> None:
    (fault,) = faults_of(lambda: Capability(name="g", detail="a\ud800"))
    assert str(fault) == "detail holds a lone surrogate, which is no text"
    (fault,) = faults_of(lambda: Provision(name="p", exports={"a": "\ud800"}))
    assert str(fault) == "exports holds a lone surrogate, which is no text"


@pytest.mark.parametrize("make", TEXT_WITHOUT_UTF8)
def test_a_lone_surrogate_is_no_text(make: Callable[[], object]) -> None:
    faults_of(make)


@pytest.mark.parametrize(
    "value",
    [float("nan"), float("inf"), date(2026, 12, 1), 10**5000, b"a", {1, 2}],
    ids=["nan", "inf", "date", "5000 digits", "bytes", "set"],
)
def test_an_attribute_is_plain_data(value: Any) -> None:
    """> NaN, infinities and TOML's dates are refused."""
    (fault,) = faults_of(lambda: resource(value))
    assert isinstance(fault, BadResource)
    assert fault.why


@pytest.mark.parametrize("key", [1, None, True, 1.5])
def test_a_key_of_an_attribute_is_text(key: Any) -> None:
    """> No value is coerced"""
    faults_of(lambda: resource({key: 1}))


def test_an_attribute_is_not_nested_more_deeply_than_a_document_may_have_it() -> None:
    value: Any = 1
    for _ in range(70):
        value = [value]
    faults_of(lambda: resource(value))


@pytest.mark.parametrize("text", ['{"b": 1}', '{"b":1,"a":2}', "[]", "1", "no JSON", ""])
def test_attributes_given_as_text_are_a_canonical_object_or_become_one(text: str) -> None:
    """> Equality of resources is that of canonical JSON"""
    try:
        made = Resource(kind="file", path="/a", attributes_json=text)
    except InvalidValue:
        return
    assert made == Resource(kind="file", path="/a", attributes_json=made.attributes)


def test_an_export_stands_once() -> None:
    faults_of(lambda: Provision(name="p", exports=[("a", "1"), ("a", "2")]))


def test_values_can_be_copied_and_sent_to_another_process() -> None:
    mesh = Mesh(catalogue=Catalogue(modules=[module("a")]), nodes=[Node(name="n", assigned=["a"])])
    for value in (mesh, resolve(mesh)):
        assert deepcopy(value) == value
        assert pickle.loads(pickle.dumps(value)) == value
    assert pickle.loads(pickle.dumps(resolve(mesh))).nodes["n"].order == ("a",)
