"""Which offer answers a mesh-scoped requirement (design, part 3, *Pass two*).

> - with a pin (n, r) at node p, or at module q on p: the candidates are p's offers of r, or those by q;
> - without one: the candidates are all offers of r in the mesh, n's own included.
>
> Exactly one candidate is the **answer** for every module of n that requires r from one provider; it is a
> **take** if it lives on another node. A requirement *from every* is answered by all offers of r in the
> mesh, n's own included, however many there are, none included; pins do not touch it, and nothing is chosen.
"""

import pytest

from mesh_core import Plan, Refusal
from tests.unit.resolve.build import module, node, outcome, outcomes, problems, taken

MODULES = (
    module("app", ["db"]),
    module("shop", ["db", "log"]),
    module("pg", [], ["mesh db", "mesh log"]),
    module("maria", [], ["mesh db"]),
    module("watch", ["every db"]),
    module("both", ["every db", "log"]),
    module("self", ["every db"], ["mesh db"]),
)


def test_the_one_offer_of_the_mesh_is_taken_for_all_that_ask() -> None:
    found = outcome(MODULES, node("n", "app", "shop"), node("p", "pg"))
    assert taken(found) == ["db p/pg for app shop", "log p/pg for shop"]
    assert found.takes == found.answers


def test_an_offer_of_its_own_is_no_take() -> None:
    found = outcome(MODULES, node("n", "app", "pg"), node("p", "app"))
    assert isinstance(found, Plan)
    assert taken(found) == ["db n/pg for app"]
    assert found.takes == ()
    assert taken(outcome(MODULES, node("p", "app"), node("n", "app", "pg"))) == ["db n/pg for app"]


def test_what_is_pulled_in_offers_and_asks_too() -> None:
    modules = [module("a", ["p"]), module("b", ["db"], ["p", "mesh log"]), *MODULES]
    found = outcomes(modules, node("n", "a", "maria"), node("x", "shop", pins={"db": "n"}))
    assert taken(found["n"]) == ["db n/maria for b"]
    assert taken(found["x"]) == ["db n/maria for shop", "log n/b for shop"]


def test_answers_are_sorted_by_provision_every_node_and_module() -> None:
    nodes = [node("n", "both", "app", "pg", pins={"db": "n-m", "log": "n"}), node("n-m", "maria")]
    assert taken(outcome(MODULES, *nodes)) == [
        "db n-m/maria for app",
        "every db n/pg for both",
        "every db n-m/maria for both",
        "log n/pg for both",
    ]


def test_offers_of_one_node_are_sorted_by_module() -> None:
    found = outcome(MODULES, node("n", "watch"), node("p", "pg", "maria", "self"))
    assert taken(found) == [f"every db p/{name} for watch" for name in ("maria", "pg", "self")]


def test_from_every_takes_its_own_offer_too_and_may_find_none() -> None:
    assert taken(outcome(MODULES, node("n", "self"))) == ["every db n/self for self"]
    found = outcome(MODULES, node("n", "watch"))
    assert isinstance(found, Plan)
    assert found.answers == ()


def test_who_asks_from_one_is_no_help_to_who_asks_from_every() -> None:
    nodes = [node("n", "app", "watch", pins={"db": "q"}), node("p", "pg"), node("q", "maria")]
    assert taken(outcome(MODULES, *nodes)) == [
        "db q/maria for app",
        "every db p/pg for watch",
        "every db q/maria for watch",
    ]


@pytest.mark.parametrize("pin", ["p", "p/pg"])
def test_a_pin_leaves_one_of_several(pin: str) -> None:
    nodes = [node("n", "app", pins={"db": pin}), node("p", "pg"), node("q", "pg"), node("r", "app")]
    found = outcomes(MODULES, *nodes)
    assert taken(found["n"]) == ["db p/pg for app"]
    assert isinstance(found["r"], Refusal)


def test_a_pin_by_module_leaves_one_of_several_on_its_node() -> None:
    nodes = [node("n", "app", pins={"db": "p/maria"}), node("p", "pg", "maria"), node("q", "maria")]
    assert taken(outcome(MODULES, *nodes)) == ["db p/maria for app"]


def test_a_pin_at_itself() -> None:
    found = outcome(MODULES, node("n", "app", "pg", pins={"db": "n"}), node("p", "pg"))
    assert taken(found) == ["db n/pg for app"]


def test_a_pin_of_one_name_is_none_of_another() -> None:
    found = outcome(MODULES, node("n", "shop", pins={"log": "p"}), node("p", "pg"), node("q", "maria"))
    assert taken(found) == ["log p/pg for shop"]
    assert [problem["code"] for problem in problems(found)] == ["ambiguous-provider"]


def test_no_candidate() -> None:
    nobody = {"code": "no-provider", "provision": "db", "required_by": ["app"], "scope": "mesh"}
    assert problems(outcome(MODULES, node("n", "app"))) == [nobody | {"candidates": ["maria", "pg", "self"]}]


def test_two_candidates_on_two_nodes_on_one_and_of_its_own() -> None:
    several = {"code": "ambiguous-provider", "provision": "db", "required_by": ["app"], "scope": "mesh"}
    app = node("n", "app")
    found = outcome(MODULES, app, node("n-m", "pg"), node("x", "pg"))
    assert problems(found) == [several | {"candidates": ["n-m/pg", "x/pg"]}]
    found = outcome(MODULES, app, node("p", "pg", "maria"))
    assert problems(found) == [several | {"candidates": ["p/maria", "p/pg"]}]
    found = outcome(MODULES, node("n", "app", "pg"), node("n-m", "pg"))
    assert problems(found) == [several | {"candidates": ["n-m/pg", "n/pg"]}]
    assert found.answers == ()


def test_a_pin_at_a_node_with_two_offers() -> None:
    found = outcome(MODULES, node("n", "app", pins={"db": "p"}), node("p", "pg", "maria"), node("q", "pg"))
    assert problems(found) == [
        {
            "code": "ambiguous-provider",
            "provision": "db",
            "required_by": ["app"],
            "scope": "mesh",
            "candidates": ["p/maria", "p/pg"],
            "pin": "p",
        }
    ]


@pytest.mark.parametrize(
    ("pin", "why"),
    [
        ("gone", "no-such-node"),
        ("gone/pg", "no-such-node"),
        ("n", "not-provided"),
        ("q", "not-provided"),
        ("p/maria", "not-provided"),
        ("p/gone", "not-provided"),
        ("q/pg", "not-provided"),
    ],
)
def test_a_pin_never_falls_back(pin: str, why: str) -> None:
    found = outcome(MODULES, node("n", "app", "watch", pins={"db": pin}), node("p", "pg"), node("q"))
    assert problems(found) == [
        {"code": "pin-unsatisfied", "provision": "db", "required_by": ["app"], "pin": pin, "why": why}
    ]
    assert taken(found) == ["every db p/pg for watch"]


def test_a_pin_of_what_is_asked_from_every_only_has_no_effect() -> None:
    found = outcome(MODULES, node("n", "watch", pins={"db": "gone"}), node("p", "pg"))
    assert isinstance(found, Plan)
    assert taken(found) == ["every db p/pg for watch"]


def test_refused_nodes_offer_and_take() -> None:
    """It does so whether or not anything is wrong with n; the take is unsettled, and no problem."""
    nodes = [node("n", "app", "gone"), node("p", "pg", "zoo"), node("x", "both"), node("z", "maria")]
    found = outcomes(MODULES, *nodes[:3])
    assert taken(found["n"]) == ["db p/pg for app"]
    plan = found["x"]
    assert isinstance(plan, Plan)
    assert plan.unsettled == plan.takes
    assert taken(plan) == ["every db p/pg for both", "log p/pg for both"]
    plan = outcomes(MODULES, *nodes)["x"]
    assert isinstance(plan, Plan)
    assert [(take.every, take.node) for take in plan.unsettled] == [(True, "p"), (False, "p")]
    assert len(plan.takes) == 3


def test_a_node_takes_from_itself_and_from_planned_ones_settled() -> None:
    found = outcome(MODULES, node("n", "watch", "pg"), node("p", "maria"), node("x", "gone"))
    assert isinstance(found, Plan)
    assert found.unsettled == ()


def test_a_taker_of_a_taker_is_settled() -> None:
    modules = [module("web", ["api"]), module("api", ["db"], ["mesh api"]), *MODULES]
    found = outcomes(modules, node("a", "web"), node("b", "api"), node("c", "pg", "gone"))
    taker, first = found["a"], found["b"]
    assert isinstance(taker, Plan)
    assert isinstance(first, Plan)
    assert (taker.unsettled, first.unsettled) == ((), first.takes)
