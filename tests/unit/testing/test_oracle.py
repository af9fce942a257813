"""The literal oracle on small meshes whose resolution was worked out by hand.

One test for each rule, problem code and kind of plan; each quotes the sentence of the design
that it was worked out from. No other resolver is looked at here.
"""

import json
from collections.abc import Sequence
from typing import Any

import pytest

from mesh_core.testing.oracle import document_facts, resolve_literally

PART_4_EXAMPLE = """
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

PART_5_EXAMPLE = """
{
  "format": 1,
  "nodes": {
    "attic": {
      "status": "refused",
      "problems": [{"capability": "gpu", "code": "missing-capability", "module": "ml", "verdict": "never-reported"}]
    },
    "nas": {
      "status": "planned",
      "modules": [{"name": "postgres", "version": "16.2", "reason": "assigned", "by": []}],
      "answers": [],
      "takes": [],
      "unsettled": []
    },
    "pi": {
      "status": "planned",
      "modules": [
        {"name": "zsh", "version": "5.9", "reason": "pulled-in", "by": [{"module": "web", "requires": "shell"}]},
        {"name": "web", "version": "1.4.0", "reason": "assigned", "by": []}
      ],
      "answers": [{"provision": "database", "every": false, "node": "nas", "module": "postgres", "required_by": ["web"]}],
      "takes": [{"provision": "database", "every": false, "node": "nas", "module": "postgres", "required_by": ["web"]}],
      "unsettled": []
    }
  }
}
"""  # noqa: E501 - verbatim


def module(name: str, **parts: Any) -> dict[str, Any]:
    return {"name": name, "version": "1", **parts}


def node(name: str, *assign: str, **parts: Any) -> dict[str, Any]:
    return {"name": name, "assign": list(assign), **parts}


def meshed(*names: str) -> list[dict[str, str]]:
    """Provisions or claims with scope mesh, in their long form."""
    return [{"name": name, "scope": "mesh"} for name in names]


def every(name: str) -> dict[str, str]:
    return {"name": name, "from": "every"}


def document(modules: Sequence[Any], nodes: Sequence[Any]) -> dict[str, Any]:
    return {"format": 1, "modules": list(modules), "nodes": list(nodes)}


def entries(modules: Sequence[Any], *nodes: Any) -> dict[str, Any]:
    resolution = resolve_literally(document(modules, nodes))
    assert list(resolution) == ["format", "nodes"]
    assert list(resolution["nodes"]) == sorted(n["name"] for n in nodes)
    found: dict[str, Any] = resolution["nodes"]
    return found


def problems(modules: Sequence[Any], *nodes: Any, of: str) -> list[dict[str, Any]]:
    entry = entries(modules, *nodes)[of]
    assert list(entry) == ["status", "problems"]
    assert entry["status"] == "refused"
    found: list[dict[str, Any]] = entry["problems"]
    return found


def facts(modules: Sequence[Any], *nodes: Any) -> dict[str, Any]:
    return document_facts(document(modules, nodes))


def answer(provision: str, where: str, *asking: str, every: bool = False) -> dict[str, Any]:
    on, _, by = where.partition("/")
    facts = {"provision": provision, "every": every, "node": on, "module": by}
    return {**facts, "required_by": list(asking)}


def names(plan: dict[str, Any]) -> list[str]:
    assert plan["status"] == "planned", plan
    return [m["name"] for m in plan["modules"]]


# The documents of parts 4 and 5


def test_the_examples_of_the_design() -> None:
    given = json.loads(PART_4_EXAMPLE)
    expected = json.loads(PART_5_EXAMPLE)
    given["modules"].append(module("ml", capabilities=["gpu"]))
    given["nodes"].append(node("attic", "ml"))
    assert resolve_literally(given) == expected


def test_the_document_of_part_4_as_it_stands() -> None:
    expected = json.loads(PART_5_EXAMPLE)
    del expected["nodes"]["attic"]
    assert resolve_literally(json.loads(PART_4_EXAMPLE)) == expected


def test_the_order_in_the_document_says_nothing() -> None:
    """Law 1: "permuting modules, nodes, assignments, pins or reports changes nothing"."""
    given = json.loads(PART_4_EXAMPLE)
    turned = {key: value[::-1] if key != "format" else value for key, value in given.items()}
    assert resolve_literally(turned) == resolve_literally(given)


def test_everything_but_the_names_may_be_left_out() -> None:
    empty = {"status": "planned", "modules": [], "answers": [], "takes": [], "unsettled": []}
    assert resolve_literally({"format": 1}) == {"format": 1, "nodes": {}}
    given = {"format": 1, "nodes": [{"name": "pi"}]}
    assert resolve_literally(given) == {"format": 1, "nodes": {"pi": empty}}
    bare: dict[str, Any] = {"members": [], "order": [], "bindings": [], "answers": []}
    assert document_facts(given) == {"pi": bare}


def test_short_and_long_forms_mean_the_same() -> None:
    """Part 4: "A long form without `scope` means `node`"; "a long requirement may leave out
    `from`".
    """
    short = [module("a", requires=["x"], claims=["c"]), module("b", provides=["x"], claims=["c"])]
    long = [
        module("a", requires=[{"name": "x"}], claims=[{"name": "c"}]),
        module("b", provides=[{"name": "x", "scope": "node"}], claims=[{"name": "c"}]),
    ]
    one = [module("a", requires=[{"name": "x", "from": "one"}], claims=["c"]), short[1]]
    clash = {"code": "claim-conflict", "claim": "c", "scope": "node", "modules": ["a", "b"]}
    for modules in (short, long, one):
        assert problems(modules, node("n", "a"), of="n") == [clash]
        assert facts(modules, node("n", "a"))["n"]["bindings"] == [["a", "x", "b"]]


# Pass one: S(n), order, bindings


def test_a_forced_pull_pulls_further() -> None:
    """Part 3: "the module c whenever c is the **only** module in the catalogue that provides r"."""
    modules = [
        module("app", requires=["x"]),
        module("other"),
        module("px", provides=["x"], requires=["y"]),
        module("py", provides=["y"]),
    ]
    plan = entries(modules, node("n", "app"))["n"]
    assert names(plan) == ["py", "px", "app"]
    assert [m["reason"] for m in plan["modules"]] == ["pulled-in", "pulled-in", "assigned"]
    assert plan["modules"][0]["by"] == [{"module": "px", "requires": "y"}]


def test_two_providers_in_the_catalogue_pull_nothing_but_one_that_is_there_answers() -> None:
    """Part 3: "**answered** if some module in S(n) provides r"."""
    modules = [
        module("app", requires=["shell"]),
        module("bash", provides=["shell"]),
        module("zsh", provides=["shell"]),
    ]
    plan = entries(modules, node("n", "app", "zsh"))["n"]
    assert names(plan) == ["zsh", "app"]
    assert plan["modules"][0]["reason"] == "assigned"
    assert plan["modules"][0]["by"] == [{"module": "app", "requires": "shell"}]


def test_bound_to_the_provider_that_stands_first() -> None:
    """Part 3: "Each answered requirement is **bound** to the provider that stands first"."""
    modules = [
        module("app", requires=["x"]),
        module("p1", provides=["x"], requires=["z"]),
        module("p2", provides=["x"]),
        module("zed", provides=["z"]),
    ]
    found = facts(modules, node("n", "app", "p1", "p2"))["n"]
    assert found["members"] == ["app", "p1", "p2", "zed"]
    assert found["order"] == ["p2", "app", "zed", "p1"]
    assert found["bindings"] == [["app", "x", "p2"], ["p1", "z", "zed"]]
    assert entries(modules, node("n", "app", "p1", "p2"))["n"]["modules"][3]["by"] == []


def test_by_is_sorted_by_module_then_name() -> None:
    """Part 5: "`by` lists every node-scoped requirement that is bound to the module by another
    module".
    """
    modules = [
        module("a", requires=["y", "x"]),
        module("b", requires=["x"]),
        module("base", provides=["x", "y"]),
    ]
    plan = entries(modules, node("n", "b", "a"))["n"]
    assert names(plan) == ["base", "a", "b"]
    asked = [(entry["module"], entry["requires"]) for entry in plan["modules"][0]["by"]]
    assert asked == [("a", "x"), ("a", "y"), ("b", "x")]


def test_a_mesh_scoped_requirement_adds_and_orders_nothing() -> None:
    """Part 3: "A mesh-scoped requirement never adds a module to any node, and never orders"."""
    modules = [module("app", requires=["db"]), module("pg", provides=meshed("db"))]
    nobody = {"code": "no-provider", "provision": "db", "scope": "mesh", "required_by": ["app"]}
    assert problems(modules, node("n", "app"), of="n") == [{**nobody, "candidates": ["pg"]}]
    plan = entries(modules, node("n", "app", "pg"))["n"]
    assert names(plan) == ["app", "pg"]
    assert plan["answers"] == [answer("db", "n/pg", "app")]
    assert plan["takes"] == []


# Pass two: answers


TAKERS = [
    module("app", requires=["db"]),
    module("cron", requires=["db"]),
    module("maria", provides=meshed("db")),
    module("pg", provides=meshed("db")),
    module("watch", requires=[every("db")]),
]


def test_the_only_offer_is_the_answer_of_all_that_ask() -> None:
    plan = entries(TAKERS, node("n", "cron", "app"), node("p", "pg"))["n"]
    assert plan["answers"] == plan["takes"] == [answer("db", "p/pg", "app", "cron")]
    assert plan["unsettled"] == []


@pytest.mark.parametrize("pin", ["p", "p/pg"])
def test_a_pin_chooses_between_offers(pin: str) -> None:
    """Part 3: "with a pin (n, r) at node p, or at module q on p"."""
    nodes = [node("n", "app", "maria", pins={"db": pin}), node("p", "pg")]
    assert entries(TAKERS, *nodes)["n"]["takes"] == [answer("db", "p/pg", "app")]


def test_a_pin_at_the_own_node_or_at_one_of_two_modules() -> None:
    own = node("n", "app", "maria", pins={"db": "n"})
    assert entries(TAKERS, own, node("p", "pg"))["n"]["answers"] == [answer("db", "n/maria", "app")]
    one = node("n", "app", pins={"db": "p/maria"})
    plan = entries(TAKERS, one, node("p", "pg", "maria"))["n"]
    assert plan["answers"] == [answer("db", "p/maria", "app")]


def test_from_every_is_answered_by_all_offers_and_no_pin_touches_it() -> None:
    """Part 3: "answered by all offers of r in the mesh, n's own included, however many there are,
    none included; pins do not touch it, and nothing is chosen".
    """
    nodes = [node("n", "watch", "app", "maria", pins={"db": "p"}), node("p", "pg")]
    plan = entries(TAKERS, *nodes)["n"]
    own = answer("db", "n/maria", "watch", every=True)
    far = answer("db", "p/pg", "watch", every=True)
    assert plan["answers"] == [answer("db", "p/pg", "app"), own, far]
    assert plan["takes"] == [answer("db", "p/pg", "app"), far]
    alone = entries(TAKERS, node("n", "watch"), node("p", "pg"))["n"]
    assert alone["answers"] == [far]
    lonely = entries(TAKERS, node("n", "watch", pins={"db": "gone"}))["n"]
    assert (lonely["status"], lonely["answers"]) == ("planned", [])


def test_pins_of_names_that_are_not_mesh_scoped_have_no_effect() -> None:
    """Part 3: "Pins of names that no module provides with scope mesh have no effect"."""
    modules = [module("app", requires=["shell", "nope"]), module("zsh", provides=["shell"])]
    pinned = node("n", "app", pins={"shell": "gone", "nope": "gone", "other": "n"})
    nobody = {"code": "no-provider", "provision": "nope", "scope": None, "required_by": ["app"]}
    assert problems(modules, pinned, of="n") == [nobody]
    assert facts(modules, pinned)["n"]["bindings"] == [["app", "shell", "zsh"]]


def test_a_refused_node_still_offers_and_its_taker_is_unsettled() -> None:
    """Part 3: "A take from a refused node is no problem of the taker [...] but it is
    **unsettled**"; part 5: "a taker of a taker is not".
    """
    modules = [
        module("app", requires=["api"]),
        module("pg", provides=meshed("db"), capabilities=["disk"]),
        module("srv", requires=["db"], provides=meshed("api")),
    ]
    found = entries(modules, node("a", "app"), node("b", "srv"), node("c", "pg", capabilities={}))
    assert found["c"]["status"] == "refused"
    assert found["b"]["unsettled"] == found["b"]["takes"] == [answer("db", "c/pg", "srv")]
    assert found["a"]["takes"] == [answer("api", "b/srv", "app")]
    assert found["a"]["unsettled"] == []
    only = node("c", "pg", capabilities={"disk": True})
    assert entries(modules, node("b", "srv"), only)["b"]["unsettled"] == []


def test_only_the_takes_from_the_refused_node_are_unsettled() -> None:
    nodes = [node("n", "watch"), node("p", "pg", "gone"), node("q", "maria")]
    plan = entries(TAKERS, *nodes)["n"]
    from_p = answer("db", "p/pg", "watch", every=True)
    assert plan["takes"] == [from_p, answer("db", "q/maria", "watch", every=True)]
    assert plan["unsettled"] == [from_p]


# Problems


def test_unknown_module() -> None:
    assert problems([module("a")], node("n", "zoo", "a", "ape"), of="n") == [
        {"code": "unknown-module", "module": "ape"},
        {"code": "unknown-module", "module": "zoo"},
    ]


def test_no_provider_of_a_name_that_nobody_provides_counts_both_ways_of_asking() -> None:
    """Part 5: "where scope is null all"."""
    modules = [module("a", requires=[every("x")]), module("b", requires=["x"])]
    nobody = {"code": "no-provider", "provision": "x", "scope": None, "required_by": ["a", "b"]}
    assert problems(modules, node("n", "b", "a"), of="n") == [nobody]
    alone = {**nobody, "required_by": ["a"]}
    assert problems(modules, node("n", "a"), of="n") == [alone]


def test_no_provider_in_the_mesh_counts_only_who_asks_from_one() -> None:
    """Part 5: "`required_by` of a problem has those that ask from one provider"."""
    nobody = {"code": "no-provider", "provision": "db", "scope": "mesh", "required_by": ["app"]}
    found = problems(TAKERS, node("n", "watch", "app"), of="n")
    assert found == [{**nobody, "candidates": ["maria", "pg"]}]


def test_ambiguous_provider_on_the_node() -> None:
    modules = [
        module("app", requires=["shell"]),
        module("zsh", provides=["shell"]),
        module("bash", provides=["shell"]),
        module("top", requires=["shell"]),
    ]
    several = {"code": "ambiguous-provider", "provision": "shell", "scope": "node"}
    asked = {**several, "required_by": ["app", "top"], "candidates": ["bash", "zsh"]}
    assert problems(modules, node("n", "top", "app"), node("p", "zsh"), of="n") == [asked]
    assert facts(modules, node("n", "top", "app"))["n"]["order"] == ["app", "top"]


def test_ambiguous_provider_in_the_mesh_counts_own_offers_and_sorts_as_strings() -> None:
    """Part 3: "the candidates are all offers of r in the mesh, n's own included"; part 5: "Lists of
    names are sorted as strings": `-` stands before `/`.
    """
    nodes = [node("a", "app", "watch", "pg"), node("a-b", "maria")]
    several = {"code": "ambiguous-provider", "provision": "db", "scope": "mesh"}
    asked = {**several, "required_by": ["app"], "candidates": ["a-b/maria", "a/pg"]}
    assert problems(TAKERS, *nodes, of="a") == [asked]
    offers = [answer("db", w, "watch", every=True) for w in ("a/pg", "a-b/maria")]
    assert facts(TAKERS, *nodes)["a"]["answers"] == offers


def test_ambiguous_provider_with_a_pin_that_names_only_the_node() -> None:
    several = {"code": "ambiguous-provider", "provision": "db", "scope": "mesh", "pin": "p"}
    asked = {**several, "required_by": ["app"], "candidates": ["p/maria", "p/pg"]}
    nodes = [node("n", "app", pins={"db": "p"}), node("p", "pg", "maria"), node("q", "pg")]
    assert problems(TAKERS, *nodes, of="n") == [asked]


@pytest.mark.parametrize(
    ("pin", "why"),
    [
        ("gone", "no-such-node"),
        ("gone/pg", "no-such-node"),
        ("n", "not-provided"),
        ("p/maria", "not-provided"),
        ("p/gone", "not-provided"),
    ],
)
def test_pin_unsatisfied(pin: str, why: str) -> None:
    """Part 3: "There is no falling back, even if exactly one other node offers it"."""
    nodes = [node("n", "app", "watch", pins={"db": pin}), node("p", "pg")]
    unmet = {"code": "pin-unsatisfied", "provision": "db", "required_by": ["app"]}
    assert problems(TAKERS, *nodes, of="n") == [{**unmet, "pin": pin, "why": why}]


@pytest.mark.parametrize(
    ("report", "verdict"),
    [
        ({}, "never-reported"),
        ({"capabilities": {}}, "unreported"),
        ({"capabilities": {"cpu": True}}, "unreported"),
        ({"capabilities": {"gpu": False}}, "absent"),
        ({"capabilities": {"gpu": {"present": False, "detail": "x"}}}, "absent"),
        ({"capabilities": {"gpu": True}}, None),
        ({"capabilities": {"gpu": {"present": True}}}, None),
    ],
)
def test_missing_capability(report: dict[str, Any], verdict: str | None) -> None:
    modules = [module("a", requires=["x"]), module("ml", provides=["x"], capabilities=["gpu"])]
    given = node("n", "a", **report)
    if verdict is None:
        assert names(entries(modules, given)["n"]) == ["ml", "a"]
        return
    lacking = {"code": "missing-capability", "module": "ml", "capability": "gpu"}
    assert problems(modules, given, of="n") == [{**lacking, "verdict": verdict}]


def test_claims_of_scope_node_clash_only_on_the_node() -> None:
    modules = [module(name, claims=["port:80"]) for name in ("b", "a", "c")]
    clash = {"code": "claim-conflict", "claim": "port:80", "scope": "node"}
    found = entries(modules, node("n", "c", "a", "b"), node("p", "a"))
    assert found["n"]["problems"] == [{**clash, "modules": ["a", "b", "c"]}]
    assert found["p"]["status"] == "planned"


def test_claims_of_scope_mesh_clash_on_the_node_and_across_nodes() -> None:
    """Part 5: "one problem for each such module, also beside a conflict on the node itself"; part
    3: a node holds its claims "whether or not anything is wrong with n".
    """
    modules = [module(name, claims=meshed("vip")) for name in ("a", "b")]
    clash = {"code": "claim-conflict", "claim": "vip", "scope": "mesh"}
    nodes = [node("m", "a", "b"), node("n", "a", "gone"), node("o")]
    found = entries(modules, *nodes)
    assert found["m"]["problems"] == [
        {**clash, "module": "a", "candidates": ["n/a"]},
        {**clash, "module": "b", "candidates": ["n/a"]},
        {**clash, "modules": ["a", "b"]},
    ]
    assert found["n"]["problems"] == [
        {**clash, "module": "a", "candidates": ["m/a", "m/b"]},
        {"code": "unknown-module", "module": "gone"},
    ]
    assert found["o"]["status"] == "planned"


def resource(**attributes: Any) -> list[dict[str, Any]]:
    return [{"kind": "file", "path": "/etc/motd", **attributes}]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (resource(mode=1), resource(mode=1.0)),
        (resource(mode=1), resource(mode=True)),
        (resource(text="a"), resource()),
        (resource(), resource(kind="directory")),
        ([{"kind": "package", "name": "x"}], [{"kind": "package", "name": "x", "purge": True}]),
    ],
)
def test_resource_conflict(left: list[Any], right: list[Any]) -> None:
    """Part 5: "modules (all of S(n) that declare it)", those that agree with each other too."""
    declared = {"c": left, "a": right, "b": left, "d": []}
    modules = [module(name, resources=given) for name, given in declared.items()]
    identity = "path:/etc/motd" if "path" in left[0] else "package:x"
    clash = {"code": "resource-conflict", "resource": identity, "modules": ["a", "b", "c"]}
    assert problems(modules, node("n", "a", "b", "c", "d"), of="n") == [clash]
    assert names(entries(modules, node("n", "b", "c"), node("p", "a"))["n"]) == ["b", "c"]


def test_equal_resources_are_shared_and_kinds_keep_names_apart() -> None:
    """Part 4: "Equal resources of two modules are one resource, shared"."""
    modules = [
        module("a", resources=[{"kind": "file", "path": "/x", "t": {"k": 1, "l": 2}}]),
        module("b", resources=[{"t": {"l": 2, "k": 1}, "path": "/x", "kind": "file"}]),
        module("c", resources=[{"kind": "package", "name": "/x"}]),
        module("d", resources=[{"kind": "service", "name": "/x"}]),
    ]
    assert names(entries(modules, node("n", "a", "b", "c", "d"))["n"]) == ["a", "b", "c", "d"]


def test_cycle_and_what_only_waits_for_it() -> None:
    """Part 3: "A stuck module outside every component only waits for one, and is in no problem"."""
    modules = [
        module("a", requires=["x"], provides=["y"]),
        module("b", requires=["y"], provides=["x"]),
        module("c", requires=["y"], provides=["z"]),
        module("d", requires=["z"]),
        module("free"),
    ]
    given = node("n", "d", "free")
    assert problems(modules, given, of="n") == [{"code": "cycle", "modules": ["a", "b"]}]
    found = facts(modules, given)["n"]
    assert found["members"] == ["a", "b", "c", "d", "free"]
    assert (found["order"], found["bindings"]) == (["free"], [])


def test_each_component_is_a_problem_of_its_own() -> None:
    modules = [
        module("a", requires=["pb"], provides=["pa"]),
        module("b", requires=["pa"], provides=["pb"]),
        module("c", requires=["pd", "pa"], provides=["pc"]),
        module("d", requires=["pc"], provides=["pd"]),
    ]
    assert problems(modules, node("n", "d"), of="n") == [
        {"code": "cycle", "modules": ["a", "b"]},
        {"code": "cycle", "modules": ["c", "d"]},
    ]


def test_arrows_of_a_cycle_go_to_every_provider_where_none_is_in_the_order() -> None:
    modules = [
        module("m", requires=["x"], provides=["pm"]),
        module("s1", requires=["pm"], provides=["x"]),
        module("s2", requires=["pm"], provides=["x"]),
    ]
    several = {"code": "cycle", "modules": ["m", "s1", "s2"]}
    assert problems(modules, node("n", "m", "s1", "s2"), of="n") == [several]
    found = entries(modules, node("n", "m"), node("p", "m", "s1"))
    assert found["p"]["problems"] == [{"code": "cycle", "modules": ["m", "s1"]}]
    assert [problem["code"] for problem in found["n"]["problems"]] == ["ambiguous-provider"]


def test_no_arrow_for_a_requirement_that_has_a_provider_in_the_order() -> None:
    """Part 3: "to every provider in S(n) of those of its answered requirements that have no
    provider in the order": `s` provides x too, and waits for m, but m does not wait for `s`.
    """
    modules = [
        module("k", requires=["pm"], provides=["pk"]),
        module("m", requires=["x", "pk"], provides=["pm"]),
        module("ok", provides=["x"]),
        module("s", requires=["pm"], provides=["x"]),
    ]
    given = node("n", "k", "m", "ok", "s")
    assert problems(modules, given, of="n") == [{"code": "cycle", "modules": ["k", "m"]}]
    assert facts(modules, given)["n"]["bindings"] == [["m", "x", "ok"]]


def test_a_second_provider_opens_a_circle() -> None:
    modules = [
        module("a", requires=["x"], provides=["y"]),
        module("b", requires=["y"], provides=["x"]),
        module("p", provides=["x"]),
    ]
    plan = entries(modules, node("n", "a", "b", "p"))["n"]
    assert names(plan) == ["p", "a", "b"]
    assert [m["by"] for m in plan["modules"]] == [
        [{"module": "a", "requires": "x"}],
        [{"module": "b", "requires": "y"}],
        [],
    ]


def test_problems_are_sorted_by_code_then_canonical_json() -> None:
    """Part 5: "Problems are sorted by code, then by their canonical JSON." Capability stands before
    module in it.
    """
    modules = [
        module("a", capabilities=["z", "y"], requires=["nope"], claims=["c"]),
        module("b", capabilities=["y", "x"], claims=["c"]),
    ]
    found = problems(modules, node("n", "gone", "b", "a", capabilities={"x": False}), of="n")
    told = [(p["code"], p.get("capability"), p.get("module"), p.get("verdict")) for p in found]
    assert told == [
        ("claim-conflict", None, None, None),
        ("missing-capability", "x", "b", "absent"),
        ("missing-capability", "y", "a", "unreported"),
        ("missing-capability", "y", "b", "unreported"),
        ("missing-capability", "z", "a", "unreported"),
        ("no-provider", None, None, None),
        ("unknown-module", None, "gone", None),
    ]


def test_verdicts_do_not_choose() -> None:
    """Law 6: "capabilities, claims and resources never change S, order, bindings or answers (all
    four are public values, for refused nodes too)".
    """
    given = json.loads(PART_4_EXAMPLE)
    before = document_facts(given)
    assert before["pi"] == {
        "members": ["web", "zsh"],
        "order": ["zsh", "web"],
        "bindings": [["web", "shell", "zsh"]],
        "answers": [answer("database", "nas/postgres", "web")],
    }
    given["modules"][2].update(capabilities=["gpu"], claims=["c"], resources=[])
    given["modules"][0].update(claims=["c"])
    assert resolve_literally(given)["nodes"]["pi"]["status"] == "refused"
    assert document_facts(given) == before
