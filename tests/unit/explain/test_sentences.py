"""A sentence for each kind of problem, in each of its variants.

> A sentence names the node, the chain from the assignment to the need, what was looked for and where, and
> ends with commands that are known to work (design, part 6)
"""

from typing import Any

import pytest

from mesh_core import Mesh, Refusal, explain, resolve
from mesh_core.explain import Explainer, Explanation
from mesh_core.explain.chain import chain_to
from tests.unit.analysis.builders import DATABASE, MARIADB, POSTGRES, WEB, mesh, module, node

FILE = {"kind": "file", "path": "/etc/motd"}
PRIMARY = {"name": "primary", "scope": "mesh"}
# Somebody takes what it offers, so that no node can be rid of it without another being refused.
WANTED = {"name": "wanted", "scope": "mesh"}


def refusal_of(of: Mesh, name: str = "pi") -> tuple[Refusal, Explainer]:
    resolution = resolve(of)
    outcome = resolution.nodes[name]
    assert isinstance(outcome, Refusal)
    return outcome, Explainer(of, resolution)


def explained(of: Mesh, name: str = "pi") -> list[Explanation]:
    refusal, explainer = refusal_of(of, name)
    return [explainer.problem(problem) for problem in refusal.problems]


def the_text(of: Mesh, name: str = "pi") -> str:
    (explanation,) = explained(of, name)
    return explanation.text


def on_pi(
    *modules: dict[str, Any], assigned: tuple[str, ...] = (), others: tuple[Any, ...] = (), **parts: Any
) -> Mesh:
    return mesh(modules, [node("pi", *(assigned or (modules[0]["name"],)), **parts), *others])


def test_unknown_module() -> None:
    of = on_pi(module("zsh", "shell"), module("bash", "shell"), assigned=("zhs",))
    assert the_text(of) == (
        "refused: 'zhs' is assigned to pi, and no module in the catalogue has that name\n"
        "  near names: zsh\n"
        "  fix: mesh unassign pi zhs"
    )


def test_names_that_are_near() -> None:
    of = on_pi(module("node1"), module("node2"), assigned=("node3",))
    assert "\n  near names: node2, node1\n" in the_text(of)
    asked = on_pi(module("web", requires=["shel"]), module("a", "shell"), module("b", "shells"))
    assert "\n  near names: shell, shells\n" in the_text(asked)


def test_unknown_module_that_is_near_nothing() -> None:
    assert the_text(on_pi(module("zsh"), assigned=("postgres",))) == (
        "refused: 'postgres' is assigned to pi, and no module in the catalogue has that name\n"
        "  fix: mesh unassign pi postgres"
    )


def test_unknown_module_that_is_a_provision() -> None:
    of = on_pi(module("zsh", "shell"), module("bash", "shell"), assigned=("shell",))
    assert the_text(of) == (
        "refused: 'shell' is assigned to pi, and no module in the catalogue has that name\n"
        "  'shell' is a provision; modules that provide it: bash, zsh\n"
        "  fix: mesh unassign pi shell"
    )


def test_no_provider_in_the_catalogue() -> None:
    of = on_pi(module("web", requires=["shel"]), module("zsh", "shell"))
    assert the_text(of) == (
        "refused: web on pi needs 'shel', and no module in the catalogue provides it\n"
        "  pi -> web (assigned) -> requires shel\n"
        "  near names: shell\n"
        "  fix: mesh unassign pi web"
    )


def test_no_provider_of_what_is_a_module() -> None:
    """> A need that names a module instead of a provision is explained with what that module provides.
    > (part 11)
    """
    of = on_pi(module("web", requires=["zsh"]), module("zsh", "shell", "login"))
    assert "  'zsh' is a module; it provides login, shell\n" in the_text(of)
    of = on_pi(module("web", requires=["zsh"]), module("zsh"))
    assert "  'zsh' is a module; it provides nothing\n" in the_text(of)


def test_no_provider_that_several_need() -> None:
    every = {"name": "nowhere", "from": "every"}
    of = on_pi(module("a", requires=["nowhere"]), module("b", requires=[every]), assigned=("a", "b"))
    assert the_text(of).startswith(
        "refused: a and b on pi need 'nowhere', and no module in the catalogue provides it"
    )


def test_no_provider_in_the_mesh() -> None:
    of = mesh([POSTGRES, MARIADB, WEB, module("x", WANTED, requires=["database"])], [node("pi", "web", "x")])
    assert the_text(of) == (
        "refused: web and x on pi need 'database' (scope mesh), and no node runs a provider\n"
        "  pi -> web (assigned) -> requires database\n"
        "  modules that provide it: mariadb, postgres\n"
        "  fix: mesh assign pi mariadb     or: mesh assign pi postgres"
    )


def test_ambiguous_on_the_node() -> None:
    of = on_pi(module("web", requires=["shell"]), module("zsh", "shell"), module("bash", "shell"))
    assert the_text(of) == (
        "refused: web on pi needs 'shell', which bash and zsh provide, and none of them is on pi\n"
        "  pi -> web (assigned) -> requires shell\n"
        "  the mesh does not choose between modules\n"
        "  fix: mesh assign pi bash     or: mesh assign pi zsh"
    )


def test_ambiguous_in_the_mesh_on_one_node() -> None:
    of = on_pi(WEB, POSTGRES, MARIADB, others=(node("nas", "postgres", "mariadb"),))
    assert the_text(of) == (
        "refused: web on pi needs 'database', and 2 modules on 1 node provide it: "
        "nas (mariadb), nas (postgres)\n"
        "  the mesh does not choose where data lives\n"
        "  fix: mesh pin pi database nas/mariadb     or: mesh pin pi database nas/postgres"
    )
    more = on_pi(WEB, POSTGRES, MARIADB, others=(node("nas", "postgres", "mariadb"), node("vps", "mariadb")))
    assert "and 3 modules on 2 nodes provide it: nas (mariadb), nas (postgres), vps (mariadb)" in the_text(
        more
    )
    assert "mesh pin pi database vps" in the_text(more)


def test_ambiguous_in_spite_of_a_pin() -> None:
    nas = node("nas", "postgres", "mariadb")
    assert the_text(on_pi(WEB, POSTGRES, MARIADB, others=(nas,), pins={"database": "nas"})) == (
        "refused: pi is pinned to take 'database' from nas, where several modules provide it: "
        "mariadb and postgres\n"
        "  the mesh does not choose where data lives\n"
        "  fix: mesh pin pi database nas/mariadb     or: mesh pin pi database nas/postgres"
    )


def test_pinned_at_a_module_that_does_not_provide_it_there() -> None:
    of = on_pi(WEB, POSTGRES, MARIADB, others=(node("nas", "postgres"),), pins={"database": "nas/mariadb"})
    assert the_text(of) == (
        "refused: pi is pinned to take 'database' from nas/mariadb, and mariadb on nas does not provide it\n"
        "  nas (postgres) provides it, and the mesh does not fall back\n"
        "  fix: mesh pin pi database nas     or: mesh assign nas mariadb     or: mesh unpin pi database"
    )


def test_pinned_where_nobody_provides_it() -> None:
    of = on_pi(WEB, POSTGRES, others=(node("nas"),), pins={"database": "nas"})
    assert the_text(of) == (
        "refused: pi is pinned to take 'database' from nas, and nas does not provide it\n"
        "  no node provides it; modules that do: postgres\n"
        "  fix: mesh assign nas postgres"
    )


def test_pinned_at_no_node() -> None:
    """> Every name that does not exist is answered with the near ones."""
    of = on_pi(WEB, POSTGRES, others=(node("nas", "postgres"),), pins={"database": "nsa"})
    assert the_text(of) == (
        "refused: pi is pinned to take 'database' from nsa, and there is no node nsa\n"
        "  nas provides it, and the mesh does not fall back\n"
        "  the nearest name is nas\n"
        "  fix: mesh pin pi database nas     or: mesh unpin pi database"
    )
    nowhere = on_pi(WEB, POSTGRES, others=(node("nas"),), pins={"database": "nsa"})
    assert the_text(nowhere) == (
        "refused: pi is pinned to take 'database' from nsa, and there is no node nsa\n"
        "  no node provides it; modules that do: postgres\n"
        "  the nearest name is nas\n"
        "  fix: mesh unassign pi web"
    )
    far = on_pi(WEB, POSTGRES, others=(node("nas", "postgres"),), pins={"database": "elsewhere"})
    assert "nearest" not in the_text(far)


@pytest.mark.parametrize(
    ("report", "says"),
    [
        (
            {"gpu": {"present": False, "detail": "no device"}},
            "ml on pi needs 'gpu', which pi reported absent",
        ),
        ({}, "ml on pi needs 'gpu', which pi did not report (it counts as absent until it does)"),
        (None, "ml on pi needs 'gpu'; pi has never reported (it counts as having nothing until it does)"),
    ],
)
def test_missing_capability(report: Any, says: str) -> None:
    parts = {} if report is None else {"capabilities": report}
    of = on_pi(module("ml", capabilities=["gpu"]), **parts)
    assert the_text(of) == f"refused: {says}\n  fix: mesh unassign pi ml"


def test_claimed_twice_on_a_node() -> None:
    claiming = [module(name, claims=["port:80"]) for name in "abc"]
    assert the_text(on_pi(*claiming, assigned=("a", "b"))) == (
        "refused: a and b on pi both claim 'port:80'\n"
        "  only one module on a node may hold it\n"
        "  fix: mesh unassign pi a     or: mesh unassign pi b"
    )
    # Of three, no single step is rid of two.
    assert the_text(on_pi(*claiming, assigned=("a", "b", "c"))) == (
        "refused: a, b and c on pi all claim 'port:80'\n  only one module on a node may hold it"
    )


def test_claimed_twice_and_meshwide() -> None:
    claiming = [module(name, claims=[PRIMARY]) for name in "ab"]
    assert the_text(on_pi(*claiming, assigned=("a", "b"))).splitlines()[:2] == [
        "refused: a and b on pi both claim 'primary'",
        "  only one module in the whole mesh may hold it",
    ]


def test_claimed_elsewhere() -> None:
    claiming = [module(name, claims=[PRIMARY]) for name in "ab"]
    one = on_pi(*claiming, others=(node("nas", "b"),))
    assert the_text(one) == (
        "refused: a on pi claims 'primary' (scope mesh), and nas (b) holds it\n"
        "  only one module in the whole mesh may hold it\n"
        "  fix: mesh unassign pi a"
    )
    two = on_pi(*claiming, others=(node("nas", "b"), node("vps", "a")))
    assert "refused: a on pi claims 'primary' (scope mesh), and nas (b) and vps (a) hold it\n" in the_text(
        two
    )


def test_claimed_elsewhere_and_only_the_other_can_let_go() -> None:
    holding = module("a", WANTED, claims=[PRIMARY])
    taking = module("c", requires=["wanted"])
    of = on_pi(
        holding, module("b", claims=[PRIMARY]), taking, assigned=("a", "c"), others=(node("nas", "b"),)
    )
    assert the_text(of).endswith("\n  fix: mesh unassign nas b")


def test_resource_conflict() -> None:
    another = {"kind": "package", "name": "zsh", "held": True}
    one = module("a", resources=[another, {**FILE, "text": "one", "mode": 1, "same": 1}])
    other = module("b", resources=[{**FILE, "text": "two", "mode": True, "same": 1, "owner": None}])
    assert the_text(on_pi(one, other, assigned=("a", "b"))) == (
        "refused: a and b on pi declare path:/etc/motd with different content\n"
        "  they differ in mode, owner and text\n"
        "  fix: mesh unassign pi a     or: mesh unassign pi b"
    )


@pytest.mark.parametrize(
    ("one", "other", "says"),
    [
        ({"mode": 1}, {"mode": 1.0}, "they differ in mode"),
        ({"mode": None}, {}, "they differ in mode"),
        ({"of": [{"a": 0}]}, {"of": [{"a": False}]}, "they differ in of"),
        ({"kind": "directory"}, {}, "they differ in kind"),
    ],
)
def test_resources_that_differ_in_little(one: Any, other: Any, says: str) -> None:
    of = on_pi(
        module("a", resources=[{**FILE, **one}]),
        module("b", resources=[{**FILE, **other}]),
        assigned=("a", "b"),
    )
    assert f"\n  {says}\n" in the_text(of)


def test_cycle() -> None:
    a, b = module("a", "x", requires=["y"]), module("b", "y", requires=["x"])
    assert the_text(on_pi(a, b)) == (
        "refused: a and b on pi wait for each other\n"
        "  a requires y -> b\n"
        "  b requires x -> a\n"
        "  fix: mesh unassign pi a"
    )
    # Nobody assigned any of them: so where they come from is told.
    assert the_text(on_pi(module("web", requires=["x"]), a, b)) == (
        "refused: a and b on pi wait for each other\n"
        "  pi -> web (assigned) -> requires x -> a\n"
        "  a requires y -> b\n"
        "  b requires x -> a\n"
        "  fix: mesh unassign pi web"
    )


def test_cycle_that_another_provider_breaks() -> None:
    a, b = module("a", "x", requires=["y"]), module("b", "y", requires=["x"])
    of = on_pi(a, b, module("c", "x"), assigned=("a", "b"))
    assert the_text(of).endswith("\n  fix: mesh assign pi c")


CHAIN = (
    module("web", requires=["x"]),
    module("a", "x", requires=["y"]),
    module("b", "y", requires=["database"], capabilities=["gpu"], claims=["l", PRIMARY], resources=[FILE]),
)
TRAIL = "  pi -> web (assigned) -> requires x -> a -> requires y -> b"


def test_the_chain_through_modules_that_were_pulled_in() -> None:
    texts = [explanation.text for explanation in explained(on_pi(*CHAIN, POSTGRES))]
    assert [text.splitlines()[:2] for text in texts] == [
        [
            "refused: b on pi needs 'gpu'; pi has never reported (it counts as having nothing until it does)",
            f"{TRAIL} -> needs gpu",
        ],
        [
            "refused: b on pi needs 'database' (scope mesh), and no node runs a provider",
            f"{TRAIL} -> requires database",
        ],
    ]


def test_the_chain_is_there_for_every_kind_of_problem() -> None:
    other = module("other", claims=["l"], resources=[{**FILE, "mode": 1}])
    holder = module("holder", claims=[PRIMARY])
    nas, vps = node("nas", "postgres", "holder"), node("vps", "postgres")
    found = explained(
        on_pi(*CHAIN, POSTGRES, other, holder, assigned=("web", "other"), others=(nas, vps)),
    )
    assert [(explanation.problem.code, explanation.text.splitlines()[1]) for explanation in found] == [
        ("ambiguous-provider", f"{TRAIL} -> requires database"),
        ("claim-conflict", TRAIL),
        ("claim-conflict", TRAIL),
        ("missing-capability", f"{TRAIL} -> needs gpu"),
        ("resource-conflict", TRAIL),
    ]
    pinned = explained(
        on_pi(*CHAIN, POSTGRES, others=(nas, vps), pins={"database": "zzz"}, capabilities={"gpu": True})
    )
    assert [explanation.text.splitlines()[1] for explanation in pinned] == [f"{TRAIL} -> requires database"]


def test_the_chain_is_the_shortest_one() -> None:
    long = [
        module("m", requires=["n"]),
        module("n", "n", requires=["x"]),
        module("a", "x", requires=["gone"]),
    ]
    of = on_pi(*long, module("z", requires=["x"]), assigned=("m", "z"))
    assert the_text(of).splitlines()[1] == "  pi -> z (assigned) -> requires x -> a -> requires gone"


def test_the_chain_to_a_module_that_is_stuck() -> None:
    """Nothing is bound to it, and yet it is there because of another."""
    a, b = module("a", "x", requires=["y"], capabilities=["gpu"]), module("b", "y", requires=["x"])
    of = on_pi(module("web", requires=["v"]), module("v", "v", requires=["x"]), a, b)
    text = "\n".join(explanation.text for explanation in explained(of))
    assert "\n  pi -> web (assigned) -> requires v -> v -> requires x -> a -> needs gpu\n" in text


def test_a_chain_without_the_catalogue_ends_where_nothing_is_bound() -> None:
    a, b = module("a", "x", requires=["y"]), module("b", "y", requires=["x"])
    of = on_pi(module("web", requires=["x"]), a, b)
    outcome = resolve(of).nodes["pi"]
    assert chain_to("b", outcome) == "pi -> b"
    assert chain_to("b", outcome, "needs gpu") == "pi -> b -> needs gpu"
    assert chain_to("b", outcome, catalogue=of.catalogue).startswith("pi -> web (assigned) -> requires x -> ")


def test_no_chain_where_the_headline_says_it_all() -> None:
    ml = module("ml", capabilities=["gpu"])
    assert "->" not in the_text(on_pi(ml))
    # Assigned, though another pulls it in as well.
    of = on_pi(
        module("web", requires=["ml"]), module("ml", "ml", capabilities=["gpu"]), assigned=("web", "ml")
    )
    assert "->" not in the_text(of)


def test_long_lists_are_folded() -> None:
    nodes = tuple(node(f"n{place}", "postgres") for place in range(9))
    text = the_text(on_pi(WEB, POSTGRES, others=nodes))
    shown = ", ".join(f"n{place} (postgres)" for place in range(5))
    assert f"and 9 nodes provide it: {shown} and 4 more\n" in text
    pinned = the_text(on_pi(WEB, POSTGRES, others=(*nodes, node("vps")), pins={"database": "vps"}))
    assert "\n  n0, n1, n2, n3, n4 and 4 more provide it, and the mesh does not fall back\n" in pinned
    asking = [module(f"m{place}", requires=["gone"]) for place in range(8)]
    names = tuple(m["name"] for m in asking)
    assert "refused: m0, m1, m2, m3, m4 and 3 more on pi need 'gone'," in the_text(
        on_pi(*asking, assigned=names)
    )
    shells = [module(f"s{place}", "shell") for place in "abcdefghijkl"]
    text = the_text(on_pi(module("web", requires=["shell"]), *shells))
    assert "which sa, sb, sc, sd, se and 7 more provide" in text
    providers = [module(f"d{place}", DATABASE) for place in range(8)]
    assert "provide it: d0, d1, d2, d3, d4 and 3 more\n" in the_text(on_pi(WEB, *providers))


def test_a_refusal_is_all_its_problems() -> None:
    of = on_pi(module("a", requires=["gone"]), module("b", capabilities=["g"]), assigned=("a", "b", "zzz"))
    refusal, explainer = refusal_of(of)
    resolution = resolve(of)
    assert explain(refusal, of, resolution) == "\n".join(e.text for e in explainer.refusal(refusal))
    assert explain(refusal, of, resolution).count("refused: ") == 3
    assert [e.problem for e in explainer.refusal(refusal)] == [*refusal.problems]
    for problem in refusal.problems:
        assert explain(problem, of, resolution) == explainer.problem(problem).text


def test_without_fixes_none_is_looked_for() -> None:
    refusal, explainer = refusal_of(on_pi(module("a", requires=["gone"])))
    (explanation,) = explainer.refusal(refusal, fixes=False)
    assert explanation.fixes == ()
    assert explanation.text == (
        "refused: a on pi needs 'gone', and no module in the catalogue provides it\n"
        "  pi -> a (assigned) -> requires gone"
    )


def test_it_says_where_none_was_looked_for() -> None:
    of = mesh([], [node("pi", "a", "b", "c", "d")])
    refusal, explainer = refusal_of(of)
    *shown, last = explainer.refusal(refusal)
    assert [len(explanation.fixes) for explanation in shown] == [1, 1, 1]
    assert last.text == (
        "refused: 'd' is assigned to pi, and no module in the catalogue has that name\n"
        "  mend what is above first, and ask again: no fix was looked for here"
    )


def test_it_says_when_it_stopped_looking() -> None:
    """> At most 3 are shown and 200 tried for each refusal, and it says when it stopped early."""
    postgres = module("postgres", DATABASE, capabilities=["never"])
    crowd = tuple(node(f"n{place}") for place in range(250))
    of = on_pi(WEB, postgres, others=crowd)
    assert the_text(of).endswith(
        "\n  modules that provide it: postgres\n  stopped looking for a fix after 200 tries"
    )
    few = on_pi(WEB, postgres, others=crowd[:100])
    assert the_text(few).endswith("\n  fix: mesh unassign pi web")
