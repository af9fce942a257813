"""S(n): which modules a node has (design, part 3, *Pass one*).

> **S(n)**, the modules of node n, is the least set that holds every module assigned to n that the
> catalogue has, and, for each module m in S(n) and each node-scoped name r that m requires, the module c
> whenever c is the **only** module in the catalogue that provides r.
"""

from mesh_core import Plan, Refusal
from mesh_core.model.resolution import Reason
from tests.unit.resolve.build import module, node, on, outcomes


def test_nothing_is_there_without_an_assignment() -> None:
    found = on([module("a", [], ["p"]), module("b", ["p"])])
    assert isinstance(found, Plan)
    assert (found.members, found.modules) == (frozenset(), ())


def test_the_only_provider_is_pulled_in_and_what_that_one_needs() -> None:
    modules = [
        module("app", ["p"]),
        module("b", ["q", "r"], ["p"]),
        module("c", [], ["q"]),
        module("d", ["s"], ["r"]),
        module("e", [], ["s"]),
        module("other", [], ["t"]),
    ]
    assert on(modules, "app").members == {"app", "b", "c", "d", "e"}
    assert on(modules, "d").members == {"d", "e"}
    assert on(modules, "d", "c").members == {"c", "d", "e"}


def test_of_two_providers_none_is_pulled_in() -> None:
    modules = [
        module("app", ["p"]),
        module("b", ["q"], ["p"]),
        module("c", [], ["p"]),
        module("d", [], ["q"]),
    ]
    assert on(modules, "app").members == {"app"}
    assert on(modules, "app", "b").members == {"app", "b", "d"}


def test_another_name_forces_one_of_the_two() -> None:
    """A forced pull does not depend on order: c is there for q, and answers p too."""
    modules = [module("app", ["p", "q"]), module("b", [], ["p"]), module("c", [], ["p", "q"])]
    found = on(modules, "app")
    assert isinstance(found, Plan)
    assert found.members == {"app", "c"}


def test_a_mesh_scoped_name_pulls_nothing_in() -> None:
    modules = [module("app", ["db", "every log"]), module("pg", [], ["mesh db", "mesh log"])]
    assert on(modules, "app").members == {"app"}


def test_what_the_catalogue_does_not_have_adds_nothing() -> None:
    found = on([module("a")], "gone", "a", "zoo")
    assert isinstance(found, Refusal)
    assert found.members == {"a"}


def test_modules_that_need_each_other_pull_each_other_in() -> None:
    modules = [
        module("a", ["pb"], ["pa"]),
        module("b", ["pa", "pc"], ["pb"]),
        module("c", ["pa"], ["pc"]),
        module("d", ["pa"], ["pd"]),
        module("e", ["pd"]),
    ]
    for assigned in ("a", "b", "c"):
        assert on(modules, assigned).members == {"a", "b", "c"}
    assert on(modules, "e").members == {"a", "b", "c", "d", "e"}


def test_what_is_stuck_is_a_member() -> None:
    modules = [module("a", ["pb"], ["pa"]), module("b", ["pa"], ["pb"]), module("free")]
    found = on(modules, "a", "free")
    assert found.members == {"a", "b", "free"}
    assert found.order == ("free",)


def test_each_node_has_its_own() -> None:
    modules = [module("app", ["p"]), module("b", [], ["p"]), module("c")]
    found = outcomes(modules, node("x", "app"), node("y", "c"), node("z", "app", "c"), node("w", "app"))
    assert {name: sorted(o.members) for name, o in found.items()} == {
        "w": ["app", "b"],
        "x": ["app", "b"],
        "y": ["c"],
        "z": ["app", "b", "c"],
    }


def test_a_module_is_assigned_or_pulled_in_on_each_node_by_itself() -> None:
    """What two nodes have in common they may share, but not the reason where it differs."""
    modules = [module("app", ["p"]), module("b", [], ["p"], version="2")]
    found = outcomes(modules, node("x", "app"), node("y", "app", "b"), node("z", "b"))
    reasons = {name: {m.name: m.reason for m in o.modules} for name, o in found.items()}
    assert reasons == {
        "x": {"app": Reason.ASSIGNED, "b": Reason.PULLED_IN},
        "y": {"app": Reason.ASSIGNED, "b": Reason.ASSIGNED},
        "z": {"b": Reason.ASSIGNED},
    }
    assert {m.name: m.version for m in found["x"].modules} == {"app": "1", "b": "2"}


def test_what_is_bound_to_a_module_is_sorted_whatever_binds_it() -> None:
    """Design, part 5: `by` is sorted by module, then name. A forced requirement is bound to the only
    provider, a choice to the one of several that is there.
    """
    modules = [
        module("a", ["chosen"]),
        module("b", ["forced"]),
        module("z", ["chosen"]),
        module("provider", [], ["chosen", "forced"]),
        module("another", [], ["chosen"]),
    ]
    for assigned in (("a", "b", "provider"), ("a", "b", "z", "provider"), ("b", "z", "provider")):
        found = on(modules, *assigned)
        by = next(m.by for m in found.modules if m.name == "provider")
        assert [d.module for d in by] == [name for name in assigned if name != "provider"]


def test_a_stuck_module_has_its_reason_and_nothing_is_bound_to_it() -> None:
    modules = [module("b", ["pa"], ["pb"], version="3"), module("a", ["pb"], ["pa"])]
    found = on(modules, "b")
    assert isinstance(found, Refusal)
    assert [(m.name, m.version, m.reason, m.by) for m in found.stuck] == [
        ("a", "1", Reason.PULLED_IN, ()),
        ("b", "3", Reason.ASSIGNED, ()),
    ]
