"""`--keep`: what has to be said beside a change so that what stands goes on standing.

> a second postgres "to try"; a new `bash` where every machine had `zsh` pulled in
"""

import pytest

from mesh_core import (
    Assign,
    Change,
    Mesh,
    Pin,
    PutModule,
    PutNode,
    SetPin,
    Unassign,
    module_from_data,
    resolve,
)
from mesh_core.analysis.keep import keeping
from mesh_core.analysis.proposal import propose
from mesh_core.change import apply_all
from tests.unit.analysis.builders import DATABASE, MARIADB, POSTGRES, WEB, mesh, module, node


def put(name: str, *provides: str | dict[str, str], **parts: object) -> PutModule:
    return PutModule(module=module_from_data(module(name, *provides, **parts)))


def pin(name: str, at: str, by: str | None = None, provision: str = "database") -> SetPin:
    return SetPin(node=name, pin=Pin(provision=provision, node=at, module=by))


def check(before: Mesh, change: Change, *kept: Assign | SetPin) -> None:
    """What is kept, and that it keeps: nobody is refused or moved who was not before."""
    assert {*keeping(before, [change])} == {*kept}
    assert len(keeping(before, [change])) == len(kept)
    was, will_be = resolve(before), resolve(apply_all(before, [change, *kept]))
    assert {r.node for r in will_be.refusals} <= {r.node for r in was.refusals}
    assert not propose(before, [change], keep=True).consequences.harmful


def test_a_second_postgres_to_try() -> None:
    before = mesh(
        [POSTGRES, WEB], [node("nas", "postgres"), node("vps"), node("pi", "web"), node("x", "web")]
    )
    check(before, Assign(node="vps", module="postgres"), pin("pi", "nas"), pin("x", "nas"))


def test_another_provider_beside_the_first_on_its_node() -> None:
    before = mesh([POSTGRES, MARIADB, WEB], [node("nas", "postgres"), node("pi", "web")])
    check(before, Assign(node="nas", module="mariadb"), pin("pi", "nas", "postgres"))


def test_each_name_is_pinned_as_it_needs_to_be_and_no_other() -> None:
    mail, cache = ({"name": name, "scope": "mesh"} for name in ("mail", "cache"))
    asking = module("app", requires=["database", "mail", "cache"])
    modules = [POSTGRES, MARIADB, module("postfix", mail), module("redis", cache), asking]
    before = mesh(modules, [node("nas", "postgres", "postfix", "redis"), node("vps"), node("pi", "app")])
    both: list[Change] = [Assign(node="nas", module="mariadb"), Assign(node="vps", module="postfix")]
    assert {*keeping(before, both)} == {pin("pi", "nas", "postgres"), pin("pi", "nas", provision="mail")}
    assert not propose(before, both, keep=True).consequences.harmful


def test_a_node_that_answers_itself() -> None:
    before = mesh([POSTGRES, WEB], [node("nas", "postgres", "web"), node("vps")])
    check(before, Assign(node="vps", module="postgres"), pin("nas", "nas"))


def test_who_is_pinned_already_needs_nothing() -> None:
    nodes = [node("nas", "postgres"), node("vps"), node("pi", "web", pins={"database": "nas"})]
    check(mesh([POSTGRES, WEB], nodes), Assign(node="vps", module="postgres"))


def test_a_pin_at_a_node_that_gets_a_second_is_made_exact() -> None:
    nodes = [node("nas", "postgres"), node("pi", "web", pins={"database": "nas"})]
    before = mesh([POSTGRES, MARIADB, WEB], nodes)
    check(before, Assign(node="nas", module="mariadb"), pin("pi", "nas", "postgres"))


def test_a_new_bash_where_every_machine_had_zsh_pulled_in() -> None:
    web = module("web", requires=["shell"])
    before = mesh(
        [module("zsh", "shell"), web], [node("nas", "web"), node("pi", "web"), node("x", "zsh", "web")]
    )
    check(before, put("bash", "shell"), Assign(node="nas", module="zsh"), Assign(node="pi", module="zsh"))


def test_a_pull_that_is_kept_keeps_what_comes_with_it() -> None:
    """What the pulled-in module requires, and what others take of it."""
    stack = module("stack", requires=["dbms"])
    own = module("own", "dbms", DATABASE, requires=["libs"])
    before = mesh(
        [stack, own, module("libs", "libs"), WEB], [node("nas", "stack"), node("pi", "web"), node("x")]
    )
    check(before, put("other", "dbms", DATABASE), Assign(node="nas", module="own"))


def test_a_pull_and_a_take_at_once() -> None:
    stack = module("stack", requires=["dbms"])
    own = module("own", "dbms", DATABASE)
    before = mesh([stack, own, WEB], [node("nas", "stack"), node("pi", "web")])
    both: list[Change] = [put("other", "dbms", DATABASE), Assign(node="pi", module="other")]
    assert {*keeping(before, both)} == {Assign(node="nas", module="own"), pin("pi", "nas")}
    assert not propose(before, both, keep=True).consequences.harmful


def test_a_node_that_is_new_has_nothing_to_keep() -> None:
    before = mesh([POSTGRES, WEB], [node("nas", "postgres"), node("pi", "web")])
    new = PutNode(node=mesh([], [node("x", "postgres", "web")]).nodes[0])
    assert {*keeping(before, [new])} == {pin("pi", "nas")}


def test_nothing_where_nothing_is_endangered_or_nothing_helps() -> None:
    before = mesh([POSTGRES, WEB], [node("nas", "postgres"), node("pi", "web"), node("x")])
    assert keeping(before, []) == ()
    assert keeping(before, [Assign(node="x", module="web")]) == ()
    assert keeping(before, [Unassign(node="nas", module="postgres")]) == ()
    # A choice that is new was never made.
    shells = [module("bash", "shell"), module("zsh", "shell"), module("web", requires=["shell"])]
    assert keeping(mesh(shells, [node("pi")]), [Assign(node="pi", module="web")]) == ()
    two = mesh([POSTGRES, WEB], [node("nas", "postgres"), node("vps", "postgres"), node("pi", "web")])
    assert keeping(two, [Assign(node="nas", module="web")]) == ()


def test_nothing_where_what_answered_provides_it_no_longer() -> None:
    """A pin at it would only make another refusal of it, or hide a move."""
    of = mesh([POSTGRES, MARIADB, WEB], [node("nas", "postgres"), node("pi", "web")])
    assert keeping(of, [put("postgres")]) == ()
    assert keeping(of, [put("postgres", "database-files")]) == ()
    assert keeping(of, [put("postgres", {"name": "other", "scope": "mesh"})]) == ()
    stack, own = module("stack", requires=["dbms"]), module("own", "dbms", DATABASE)
    before = mesh([stack, own, WEB], [node("nas", "stack"), node("pi", "web")])
    moving = [put("stack", DATABASE, requires=["dbms"]), put("own", "dbms")]
    assert keeping(before, moving) == ()
    assert [move.node for move in propose(before, moving, keep=True).consequences.moves] == ["pi"]


def test_nothing_is_brought_back_that_what_took_its_place_does_not_bear() -> None:
    """Otherwise it would be nas that is refused."""
    stack, postgres = (
        module("stack", requires=["dbms"]),
        module("postgres", "dbms", DATABASE, claims=["port:5432"]),
    )
    before = mesh(
        [stack, postgres, module("x"), WEB], [node("nas", "stack", "x"), node("pi", "web"), node("y")]
    )
    taking_over = put("x", "dbms", claims=["port:5432"])
    assert keeping(before, [taking_over]) == ()
    assert [r.node for r in propose(before, [taking_over], keep=True).consequences.refused] == ["pi"]
    # What can be kept beside it is.
    shell = module("app", requires=["shell"])
    modules = [stack, postgres, module("x"), WEB, shell, module("zsh", "shell")]
    more = mesh(modules, [node("nas", "stack", "x"), node("pi", "web"), node("y", "app")])
    rival = put("bash", "shell")
    assert keeping(more, [taking_over, rival]) == (Assign(node="y", module="zsh"),)


def test_what_is_asked_from_every_is_never_pinned() -> None:
    every = module("grafana", requires=[{"name": "database", "from": "every"}])
    before = mesh([POSTGRES, every], [node("nas", "postgres"), node("vps"), node("pi", "grafana")])
    assert keeping(before, [Assign(node="vps", module="postgres")]) == ()


@pytest.mark.parametrize("offers", [[], [DATABASE]])
def test_a_manifest_on_the_node_itself_takes_the_place_of_what_was_pulled_in(
    offers: list[dict[str, str]],
) -> None:
    """It answers the stack too, so that nothing pulls postgres in; who takes from that is left without.

    > The assignments and pins that keep the mesh as it stands through the changes
    """
    stack, postgres = module("stack", requires=["dbms"]), module("postgres", "dbms", DATABASE)
    before = mesh([stack, postgres, module("x"), WEB], [node("nas", "stack", "x"), node("pi", "web")])
    changes: list[Change] = [put("x", "dbms", *offers)]
    by_hand: list[Change] = [Assign(node="nas", module="postgres"), pin("pi", "nas", "postgres")]
    assert not propose(before, [*changes, *by_hand]).consequences.harmful, "it can be kept"
    assert not propose(before, changes, keep=True).consequences.harmful
