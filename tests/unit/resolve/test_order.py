"""The order of a node, and what is bound to whom (design, part 3, *Pass one*).

> begin with nothing; again and again append the alphabetically first module of S(n) that is not there yet
> and each of whose answered node-scoped requirements has a provider that is. Each answered requirement is
> **bound** to the provider that stands first.
"""

from typing import Any

import pytest

from mesh_core import Dependent, Plan, Refusal
from mesh_core.model.resolution import Reason
from tests.unit.resolve.build import bound, module, node, on, outcomes, problems, stuck

Modules = list[dict[str, Any]]


def order(modules: Modules, *assign: str) -> str:
    return " ".join(on(modules, *assign).order)


def test_without_needs_it_is_the_alphabet_by_code_point() -> None:
    names = ["a", "a-b", "a.b", "a0", "a_b", "ab"]
    assert order([module(name) for name in reversed(names)], *reversed(names)) == " ".join(names)


def test_a_provider_comes_before_who_needs_it_and_no_earlier_than_it_has_to() -> None:
    modules = [module("a", ["p"]), module("b"), module("c", [], ["p"]), module("d")]
    assert order(modules, "a", "b", "d") == "b c a d"


def test_what_is_let_go_stands_as_soon_as_it_is_the_first() -> None:
    modules = [
        module("a", ["p"]),
        module("b", ["p", "q"]),
        module("c", [], ["p"]),
        module("d", [], ["q"]),
        module("e"),
    ]
    assert order(modules, "a", "b", "e") == "c a d b e"


def test_a_chain_is_walked_from_its_end() -> None:
    modules = [
        module("a", ["p"]),
        module("b", ["q"], ["p"]),
        module("c", ["r"], ["q"]),
        module("d", [], ["r"]),
    ]
    assert order(modules, "a") == "d c b a"


def test_a_requirement_that_nothing_answers_holds_nobody_up() -> None:
    """Of the two that provide p none is in S(n); so a does not wait, nor for a name nobody provides."""
    modules = [module("a", ["p", "ghost"]), module("b"), module("c", [], ["p"]), module("d", [], ["p"])]
    found = on(modules, "a", "b")
    assert found.order == ("a", "b")
    assert found.bindings == ()


def test_a_mesh_scoped_requirement_never_orders() -> None:
    modules = [module("a", ["q"]), module("b", [], ["mesh q"]), module("c", ["every q"])]
    assert order(modules, "a", "b", "c") == "a b c"


class TestAChoice:
    """A node-scoped name that two or more modules provide waits for the first of those in S(n)."""

    def test_it_waits_for_the_one_that_is_there(self) -> None:
        modules = [module("a", ["p"]), module("x", [], ["p"]), module("y", [], ["p"])]
        assert order(modules, "a", "y") == "y a"
        assert bound(on(modules, "a", "y")) == ["a p -> y"]
        assert bound(on(modules, "a", "x")) == ["a p -> x"]

    def test_it_is_bound_to_the_one_that_stands_first(self) -> None:
        modules = [module("a", ["p"]), module("x", [], ["p"]), module("y", [], ["p"])]
        found = on(modules, "a", "x", "y")
        assert found.order == ("x", "a", "y")
        assert bound(found) == ["a p -> x"]

    def test_the_first_in_the_order_need_not_be_the_first_in_the_alphabet(self) -> None:
        modules = [
            module("a", ["p"]),
            module("x", ["late"], ["p"]),
            module("y", [], ["p"]),
            module("z", [], ["late"]),
        ]
        found = on(modules, "a", "x", "y")
        assert found.order == ("y", "a", "z", "x")
        assert bound(found) == ["a p -> y", "x late -> z"]

    def test_a_provider_before_the_asker_lets_it_stand_at_its_place(self) -> None:
        modules = [module("b", ["p"]), module("a", [], ["p"]), module("c", [], ["p"])]
        found = on(modules, "a", "b", "c")
        assert found.order == ("a", "b", "c")
        assert bound(found) == ["b p -> a"]

    def test_a_provider_may_stand_only_because_of_another_choice(self) -> None:
        modules = [
            module("a", ["p"]),
            module("b", ["q"], ["p"]),
            module("c", [], ["q"]),
            module("d", [], ["q"]),
            module("e", [], ["p"]),
        ]
        found = on(modules, "a", "b", "d")
        assert found.order == ("d", "b", "a")
        assert bound(found) == ["a p -> b", "b q -> d"]
        found = on(modules, "a", "b", "d", "e")
        assert found.order == ("d", "b", "a", "e")
        found = on(modules, "a", "b", "c", "d", "e")
        assert found.order == ("c", "b", "a", "d", "e")
        assert bound(found) == ["a p -> b", "b q -> c"]

    def test_who_waits_for_a_choice_holds_up_who_needs_it(self) -> None:
        modules = [
            module("a", ["pb"]),
            module("b", ["p"], ["pb"]),
            module("c"),
            module("x", [], ["p"]),
            module("y", [], ["p"]),
        ]
        found = on(modules, "a", "b", "c", "y")
        assert found.order == ("c", "y", "b", "a")

    def test_who_waits_stands_before_what_comes_later_in_the_alphabet(self) -> None:
        """M is let go by n, and stands before o, which was always free, and before r."""
        modules = [
            module("m", ["p"]),
            module("n", [], ["p"]),
            module("o"),
            module("q", [], ["p"]),
            module("r"),
        ]
        assert order(modules, "m", "n", "o", "q", "r") == "n m o q r"
        assert order(modules, "m", "o", "q", "r") == "o q m r"

    def test_two_that_wait_for_one_stand_in_their_order(self) -> None:
        modules = [
            module("a", ["p"]),
            module("b", ["p"]),
            module("bb", ["p"]),
            module("x", [], ["p"]),
            module("y", [], ["p"]),
            module("aa"),
        ]
        assert order(modules, "bb", "b", "a", "y", "aa") == "aa y a b bb"

    def test_one_that_waits_for_two_stands_after_the_later(self) -> None:
        modules = [
            module("a", ["p", "q"]),
            module("u", [], ["p"]),
            module("v", [], ["q"]),
            module("w"),
            module("x", [], ["p"]),
            module("y", [], ["q"]),
        ]
        found = on(modules, "a", "u", "w", "y")
        assert found.order == ("u", "w", "y", "a")
        assert bound(found) == ["a p -> u", "a q -> y"]
        assert on(modules, "a", "u", "v", "w").order == ("u", "v", "a", "w")

    def test_one_that_waits_for_a_choice_and_for_what_is_forced(self) -> None:
        modules = [
            module("a", ["p", "only"]),
            module("b", [], ["p"]),
            module("c", [], ["p"]),
            module("z", [], ["only"]),
        ]
        assert order(modules, "a", "b") == "b z a"
        assert order(modules, "a", "c") == "c z a"
        early = [*modules[:3], module("a-z", [], ["only"])]
        assert order(early, "a", "c") == "a-z c a"

    def test_who_is_passed_over_keeps_its_needs(self) -> None:
        """B waits for z by the choice, and a for b; y is forced by a, and comes in between."""
        modules = [
            module("a", ["pb", "py"]),
            module("b", ["p"], ["pb"]),
            module("y", [], ["py"]),
            module("z", [], ["p"]),
            module("zz", [], ["p"]),
        ]
        found = on(modules, "a", "z")
        assert found.order == ("y", "z", "b", "a")
        assert bound(found) == ["a pb -> b", "a py -> y", "b p -> z"]

    def test_what_is_bound_to_one_module_is_sorted(self) -> None:
        """By module, then name, whether forced or chosen."""
        modules = [
            module("z", [], ["p", "only", "o"]),
            module("y", [], ["p", "o"]),
            module("b", ["p", "only"]),
            module("a", ["p", "o"]),
            module("c", ["only"]),
        ]
        found = on(modules, "c", "b", "a", "z")
        assert isinstance(found, Plan)
        assert found.order == ("z", "a", "b", "c")
        assert found.modules[0].by == (
            Dependent(module="a", requires="o"),
            Dependent(module="a", requires="p"),
            Dependent(module="b", requires="only"),
            Dependent(module="b", requires="p"),
            Dependent(module="c", requires="only"),
        )

    def test_a_choice_and_what_is_forced_are_sorted_together(self) -> None:
        modules = [
            module("a", ["p"]),
            module("b", ["only"]),
            module("y", [], ["p"]),
            module("z", [], ["p", "only"]),
        ]
        assert bound(on(modules, "a", "b", "z")) == ["a p -> z", "b only -> z"]
        found = on(modules, "a", "b", "z")
        assert [by.module for by in found.modules[0].by] == ["a", "b"]

    def test_who_needs_two_that_wait_stands_after_both(self) -> None:
        modules = [
            module("a", ["pb", "pc"]),
            module("b", ["p"], ["pb"]),
            module("c", ["q"], ["pc"]),
            module("x", [], ["p"]),
            module("x2", [], ["p"]),
            module("y", [], ["q"]),
            module("y2", [], ["q"]),
        ]
        assert order(modules, "a", "x", "y") == "x b y c a"

    def test_the_first_module_of_the_alphabet_is_pulled_in_beside_a_choice(self) -> None:
        modules = [
            module("a", [], ["base"]),
            module("b", [], ["p"]),
            module("m", ["base", "p"]),
            module("z", [], ["p"]),
        ]
        for chosen, expected in (("b", "a b m"), ("z", "a z m")):
            found = on(modules, "m", chosen)
            assert " ".join(found.order) == expected
            assert [m.reason for m in found.modules] == [
                Reason.PULLED_IN,
                Reason.ASSIGNED,
                Reason.ASSIGNED,
            ]

    @pytest.mark.parametrize("provider", ["a", "z"])
    def test_one_choice_is_answered_and_another_is_not(self, provider: str) -> None:
        """Whether the one that is answered holds its asker up or not."""
        modules = [
            module("m", ["p", "q"]),
            module("a", [], ["p"]),
            module("z", [], ["p"]),
            module("q1", [], ["q"]),
            module("q2", [], ["q"]),
        ]
        found = on(modules, "m", provider)
        assert found.order == (provider, "m")
        assert [(p["code"], p["provision"]) for p in problems(found)] == [("ambiguous-provider", "q")]

    def test_two_nodes_choose_each_by_itself(self) -> None:
        modules = [module("a", ["p"]), module("x", [], ["p"]), module("y", [], ["p"]), module("z", ["p"])]
        nodes = [node("k", "a", "x"), node("l", "a", "y"), node("m", "a", "x", "y"), node("n", "x", "y", "z")]
        assert {name: bound(found) for name, found in outcomes(modules, *nodes).items()} == {
            "k": ["a p -> x"],
            "l": ["a p -> y"],
            "m": ["a p -> x"],
            "n": ["z p -> x"],
        }


class TestStuck:
    """> Modules that can never be appended are *stuck*."""

    PAIR = (module("a", ["pb"], ["pa"]), module("b", ["pa"], ["pb"]))

    def test_two_that_wait_for_each_other(self) -> None:
        found = on([*self.PAIR, module("c")], "a", "c")
        assert isinstance(found, Refusal)
        assert (found.order, stuck(found)) == (("c",), ["a", "b"])
        assert problems(found) == [{"code": "cycle", "modules": ["a", "b"]}]
        assert found.bindings == ()

    def test_who_only_waits_is_stuck_and_in_no_problem(self) -> None:
        modules = [*self.PAIR, module("c", ["pb"], ["pc"]), module("d", ["pc"]), module("e")]
        found = on(modules, "d", "e")
        assert stuck(found) == ["a", "b", "c", "d"]
        assert problems(found) == [{"code": "cycle", "modules": ["a", "b"]}]

    def test_what_a_stuck_module_needs_is_there_and_bound(self) -> None:
        modules = [
            module("a", ["pb", "base"], ["pa"]),
            module("b", ["pa", "shell"], ["pb"]),
            module("floor", [], ["base"]),
            module("bash", [], ["shell"]),
            module("zsh", [], ["shell"]),
        ]
        found = on(modules, "a", "zsh")
        assert found.order == ("floor", "zsh")
        assert bound(found) == ["a base -> floor", "b shell -> zsh"]
        assert problems(found) == [{"code": "cycle", "modules": ["a", "b"]}]
        assert bound(on(modules, "a", "zsh", "bash")) == ["a base -> floor", "b shell -> bash"]

    def test_a_cycle_through_a_choice(self) -> None:
        modules = [
            module("m", ["x"], ["pm"]),
            module("s", ["pm"], ["x"]),
            module("t", ["pm"], ["x"]),
            module("ok", [], ["x"]),
            module("w", ["x"]),
        ]
        found = on(modules, "m", "s", "w")
        assert stuck(found) == ["m", "s", "w"]
        assert problems(found) == [{"code": "cycle", "modules": ["m", "s"]}]
        assert problems(on(modules, "m", "s", "t")) == [{"code": "cycle", "modules": ["m", "s", "t"]}]
        found = on(modules, "m", "s", "ok", "w")
        assert isinstance(found, Plan)
        assert found.order == ("ok", "m", "s", "w")
        assert bound(found) == ["m x -> ok", "s pm -> m", "w x -> ok"]

    def test_two_choices_that_wait_for_each_other(self) -> None:
        modules = [
            module("a", ["pb"], ["pa"]),
            module("b", ["pa"], ["pb"]),
            module("a2", [], ["pa"]),
            module("b2", [], ["pb"]),
        ]
        found = on(modules, "a", "b")
        assert stuck(found) == ["a", "b"]
        assert problems(found) == [{"code": "cycle", "modules": ["a", "b"]}]
        assert on(modules, "a", "b", "a2").order == ("a2", "b", "a")
        assert on(modules, "a", "b", "b2").order == ("b2", "a", "b")
        assert bound(on(modules, "a", "b", "b2")) == ["a pb -> b2", "b pa -> a"]

    def test_no_arrow_from_a_requirement_that_has_a_provider_in_the_order(self) -> None:
        """L needs x, which ok provides in the order: u, which provides it too, is in no circle."""
        modules = [
            module("k", ["pl"], ["pk"]),
            module("l", ["pk", "x"], ["pl"]),
            module("ok", [], ["x"]),
            module("u", ["pl"], ["x"]),
        ]
        found = on(modules, "k", "ok", "u")
        assert stuck(found) == ["k", "l", "u"]
        assert problems(found) == [{"code": "cycle", "modules": ["k", "l"]}]

    def test_no_arrow_to_a_provider_that_is_not_on_the_node(self) -> None:
        modules = [
            module("m", ["x"], ["pm"]),
            module("s", ["pm"], ["x"]),
            module("t", ["pm"], ["x"]),
        ]
        assert problems(on(modules, "m", "t")) == [{"code": "cycle", "modules": ["m", "t"]}]

    def test_no_arrow_to_what_is_in_the_order(self) -> None:
        modules = [*self.PAIR, module("c", ["pd", "pb"], ["pc"]), module("d", [], ["pd"])]
        found = on(modules, "c")
        assert found.order == ("d",)
        assert problems(found) == [{"code": "cycle", "modules": ["a", "b"]}]

    def test_each_component_is_a_problem_of_its_own(self) -> None:
        modules = [
            module("y", ["px"], ["py"]),
            module("x", ["py"], ["px"]),
            module("c", ["pa", "px"], ["pc"]),
            module("b", ["pc"], ["pb"]),
            module("a", ["pb"], ["pa"]),
            module("w", ["pa"]),
        ]
        found = on(modules, "w")
        assert stuck(found) == ["a", "b", "c", "w", "x", "y"]
        assert problems(found) == [
            {"code": "cycle", "modules": ["a", "b", "c"]},
            {"code": "cycle", "modules": ["x", "y"]},
        ]

    @pytest.mark.parametrize("assigned", [("d",), ("d", "e"), ("d", "a")])
    def test_stuck_or_not_is_by_the_node(self, assigned: tuple[str, ...]) -> None:
        """The catalogue has a cycle, and a node without it has nothing to do with it."""
        modules = [*self.PAIR, module("d", ["pe"]), module("e", [], ["pe"])]
        found = on(modules, *assigned)
        assert found.order == ("e", "d")
        assert stuck(found) == (["a", "b"] if "a" in assigned else [])
