"""Which fixes are found, in which order, and how far they are looked for.

That they mend what they say is a property: `tests/property/test_fixes.py`.
"""

from typing import Any

import pytest

from mesh_core import Mesh, Problem, Refusal, resolve
from mesh_core.analysis.fixes import SHOWN, TRIED, Fixes, fixes_for, fixes_for_all
from mesh_core.analysis.what_if import WhatIf
from mesh_core.explain.words import command
from tests.unit.analysis.builders import DATABASE, MARIADB, POSTGRES, WEB, mesh, module, node


def problems_of(of: Mesh, name: str = "pi") -> tuple[Problem, ...]:
    outcome = resolve(of).nodes[name]
    assert isinstance(outcome, Refusal)
    return outcome.problems


def the_fixes(of: Mesh, name: str = "pi", **limits: Any) -> Fixes:
    (problem,) = problems_of(of, name)
    return fixes_for(problem, WhatIf(of), **limits)


def lines(fixes: Fixes) -> list[str]:
    return [command(step) for step in fixes.found]


def test_what_is_shown_and_tried() -> None:
    """> At most 3 are shown and 200 tried for each refusal"""
    assert (SHOWN, TRIED) == (3, 200)


def test_giving_what_is_lacking_comes_before_taking_the_need_away() -> None:
    of = mesh([POSTGRES, WEB], [node("nas"), node("pi", "web")])
    assert lines(the_fixes(of)) == ["mesh assign nas postgres", "mesh assign pi postgres"]
    never = module("postgres", DATABASE, capabilities=["g"])
    assert lines(the_fixes(mesh([never, WEB], [node("nas"), node("pi", "web")]))) == ["mesh unassign pi web"]


def test_nodes_that_are_able_come_first() -> None:
    never = module("postgres", DATABASE, capabilities=["g"])
    able = [node(name, capabilities={"g": True}) for name in ("x", "y")]
    of = mesh([never, WEB], [node("a"), node("b", capabilities={}), *able, node("pi", "web")])
    found = the_fixes(of)
    assert lines(found) == ["mesh assign x postgres", "mesh assign y postgres"]
    assert lines(the_fixes(of, tries=1)) == ["mesh assign x postgres"]


def test_what_pulls_a_provider_in_is_tried_after_the_providers() -> None:
    stack = module("a-stack", requires=["dbms"])
    postgres = module("postgres", "dbms", DATABASE)
    of = mesh([stack, postgres, WEB], [node("pi", "web")])
    assert lines(the_fixes(of)) == ["mesh assign pi postgres", "mesh assign pi a-stack"]


def test_what_cannot_touch_the_problem_is_not_tried() -> None:
    """> Steps that cannot touch a problem (law 7) are not tried."""
    crowd = [node(f"n{place}") for place in range(20)]
    # Only what is assigned to the node that the pin is at can give it an answer.
    pinned = mesh([POSTGRES, WEB], [*crowd, node("pi", "web", pins={"database": "n7"})])
    assert lines(the_fixes(pinned)) == ["mesh assign n7 postgres"]
    assert the_fixes(pinned).tried == 2, "that, and unpinning"
    # Where there are too many offers, one more mends nothing.
    rivals = mesh([POSTGRES, WEB], [*crowd, node("x", "postgres"), node("y", "postgres"), node("pi", "web")])
    assert lines(the_fixes(rivals)) == ["mesh pin pi database x", "mesh pin pi database y"]
    assert the_fixes(rivals).tried == 3, "those, and unpinning"


def test_a_pin_names_the_module_only_where_it_has_to() -> None:
    nas, vps = node("nas", "postgres", "mariadb"), node("vps", "postgres")
    of = mesh([POSTGRES, MARIADB, WEB], [nas, vps, node("pi", "web")])
    assert lines(the_fixes(of)) == [
        "mesh pin pi database nas/mariadb",
        "mesh pin pi database nas/postgres",
        "mesh pin pi database vps",
    ]


def test_what_several_need_is_mended_for_all_of_them_or_not_at_all() -> None:
    asking = [module(name, requires=["gone"]) for name in "ab"]
    both = mesh(asking, [node("pi", "a", "b")])
    assert the_fixes(both) == Fixes(found=(), tried=2, stopped=False)
    through_one = [
        *asking,
        module("top", requires=["x", "y"]),
        module("c", "x", requires=["gone"]),
        module("d", "y"),
    ]
    assert lines(the_fixes(mesh(through_one, [node("pi", "top")]))) == ["mesh unassign pi top"]


def test_a_step_that_adds_a_problem_anywhere_is_none() -> None:
    # Unassigning ml would leave chat without its models.
    ml = module("ml", {"name": "models", "scope": "mesh"}, capabilities=["gpu"])
    of = mesh([ml, module("chat", requires=["models"])], [node("attic", "ml"), node("pi", "chat")])
    assert the_fixes(of, "attic") == Fixes(found=(), tried=1, stopped=False)
    # A second postgres would leave x with two.
    claim = module("postgres", DATABASE, claims=["l"])
    alone = [
        node("nas", "postgres"),
        node("vps"),
        node("pi", "web", pins={"database": "vps"}),
        node("x", "web"),
    ]
    assert lines(the_fixes(mesh([claim, WEB], alone))) == [
        "mesh pin pi database nas",
        "mesh unpin pi database",
    ]


def test_no_more_than_three_are_shown() -> None:
    of = mesh([POSTGRES, WEB], [*(node(f"n{place}", "postgres") for place in range(9)), node("pi", "web")])
    found = the_fixes(of)
    assert len(found.found) == 3
    assert found.tried == 3
    assert not found.stopped
    assert len(the_fixes(of, shown=5).found) == 5
    assert the_fixes(of, shown=0).found == ()


def crowded(count: int) -> Mesh:
    """So many nodes that could be given the provider, and none of them able to bear it."""
    never = module("postgres", DATABASE, capabilities=["never"])
    return mesh([never, WEB], [*(node(f"n{place}") for place in range(count - 1)), node("pi", "web")])


def test_no_more_than_two_hundred_are_tried_and_it_is_said() -> None:
    enough = the_fixes(crowded(TRIED - 1))
    assert (lines(enough), enough.tried, enough.stopped) == (["mesh unassign pi web"], TRIED, False)
    one_less = the_fixes(crowded(TRIED))
    assert (lines(one_less), one_less.tried, one_less.stopped) == ([], TRIED, True)
    many = the_fixes(crowded(TRIED + 100))
    assert (lines(many), many.tried, many.stopped) == ([], TRIED, True)


@pytest.mark.parametrize("count", range(1, 7))
def test_the_problems_of_a_refusal_share_what_is_shown(count: int) -> None:
    names = [f"unknown{place}" for place in range(count)]
    of = mesh([], [node("pi", *names)])
    shared = fixes_for_all(problems_of(of), WhatIf(of))
    assert [problem for problem, _ in shared] == [*problems_of(of)]
    assert [len(fixes.found) for _, fixes in shared] == [1] * min(count, 3) + [0] * (count - 3)


def test_every_problem_gets_one_before_any_gets_a_second() -> None:
    rivals = [node("nas", "postgres"), node("vps", "postgres"), node("x", "postgres"), node("y", "postgres")]
    for unknown, expected in (
        ([], [3]),
        (["z"], [2, 1]),
        (["y", "z"], [1, 1, 1]),
        (["x", "y", "z"], [1, 1, 1, 0]),
    ):
        of = mesh([POSTGRES, WEB], [*rivals, node("pi", "web", *unknown)])
        shared = fixes_for_all(problems_of(of), WhatIf(of))
        assert [len(fixes.found) for _, fixes in shared] == expected


def test_the_problems_of_a_refusal_share_what_is_tried() -> None:
    never = module("postgres", DATABASE, {"name": "mail", "scope": "mesh"}, capabilities=["never"])
    asking = [module("a", requires=["database"]), module("b", requires=["mail"])]
    of = mesh([never, *asking], [*(node(f"n{place}") for place in range(120)), node("pi", "a", "b", "zzz")])
    shared = fixes_for_all(problems_of(of), WhatIf(of))
    first, second, third = (fixes for _, fixes in shared)
    assert (first.stopped, lines(first)) == (False, ["mesh unassign pi a"])
    assert (second.stopped, lines(second)) == (True, [])
    assert first.tried + second.tried + third.tried == TRIED
    assert (third.stopped, third.tried) == (True, 0), "there was nothing left to try it with"


def test_a_problem_for_which_none_may_be_shown_any_more_is_not_one_that_has_none() -> None:
    """> `stopped` says that not everything that could mend it was tried."""
    of = mesh([], [node("pi", "a", "b", "c", "d")])
    *_, (_, last) = fixes_for_all(problems_of(of), WhatIf(of))
    assert (last.found, last.tried, last.stopped) == ((), 0, True)
