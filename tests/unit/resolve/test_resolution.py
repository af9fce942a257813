"""The whole of it: every node has an outcome, and what is public of it (design, parts 3 and 5)."""

from mesh_core import Answer, Binding, Mesh, Plan, PlannedModule, Refusal, resolve
from mesh_core.model.resolution import Reason
from mesh_core.resolve.resolution import find, work_out
from tests.unit.resolve.build import mesh, module, node

MODULES = (
    module("web", ["shell", "db"]),
    module("zsh", [], ["shell"]),
    module("pg", [], ["mesh db"], capabilities=["disk"]),
)


def test_an_empty_mesh() -> None:
    assert resolve(Mesh()).outcomes == ()
    assert resolve(mesh(MODULES)).outcomes == ()


def test_nodes_without_a_catalogue() -> None:
    found = resolve(mesh([], node("b", "web"), node("a"))).nodes
    assert [*found] == ["a", "b"]
    assert isinstance(found["a"], Plan)
    assert isinstance(found["b"], Refusal)
    assert found["b"].members == frozenset()


def test_every_node_has_one_outcome_sorted() -> None:
    resolution = resolve(mesh(MODULES, *(node(name) for name in ("n0", "n-m", "n", "m"))))
    assert [outcome.node for outcome in resolution.outcomes] == ["m", "n", "n-m", "n0"]
    assert resolution.refusals == ()


def test_a_plan_is_whole() -> None:
    nodes = [node("pi", "web"), node("nas", "pg", capabilities={"disk": True})]
    answer = Answer(provision="db", every=False, node="nas", module="pg", required_by=("web",))
    found = resolve(mesh(MODULES, *nodes)).nodes["pi"]
    zsh, web = found.modules
    assert found == Plan(node="pi", modules=(zsh, web), answers=(answer,), unsettled=())
    assert (zsh.name, zsh.reason, [by.module for by in zsh.by]) == ("zsh", Reason.PULLED_IN, ["web"])
    assert web == PlannedModule(name="web", version="1", reason=Reason.ASSIGNED, by=())
    assert found.bindings == (Binding(module="web", requires="shell", provider="zsh"),)


def test_a_refusal_says_what_the_node_would_be() -> None:
    """> S, order, bindings and answers are worked out for refused nodes too"""
    nodes = [node("pi", "web", "gone"), node("nas", "pg")]
    resolution = resolve(mesh(MODULES, *nodes))
    found = resolution.nodes["pi"]
    assert isinstance(found, Refusal)
    assert found.members == {"web", "zsh"}
    assert found.order == ("zsh", "web")
    assert found.bindings == (Binding(module="web", requires="shell", provider="zsh"),)
    assert [(a.node, a.module) for a in found.answers] == [("nas", "pg")]
    assert found.stuck == ()
    assert [refusal.node for refusal in resolution.refusals] == ["nas", "pi"]


def test_refused_or_planned_does_not_change_what_others_get() -> None:
    """> so that nothing moves when a verdict comes and goes; only `unsettled` tells of it"""
    able = node("nas", "pg", capabilities={"disk": True})
    for nas, unsettled in ((able, 0), (node("nas", "pg"), 1), (node("nas", "pg", "gone"), 1)):
        found = resolve(mesh(MODULES, node("pi", "web"), nas)).nodes["pi"]
        assert isinstance(found, Plan)
        assert [(a.node, a.module) for a in found.answers] == [("nas", "pg")]
        assert len(found.unsettled) == unsettled
        assert found.unsettled == found.takes[: len(found.unsettled)]


def test_no_module_is_shared_that_differs() -> None:
    """Nodes with much in common, one after the other: what one was given is not given to the next."""
    modules = [
        module("a", ["p"]),
        module("b", ["p"]),
        module("c", ["q"], ["p"]),
        module("d", [], ["q"]),
    ]
    nodes = [
        node("k", "a"),
        node("l", "b"),
        node("m", "a", "b"),
        node("n", "a", "b", "c"),
        node("o", "a"),
        node("p", "a", "gone"),
        node("q", "d", "a"),
    ]
    found = resolve(mesh(modules, *nodes)).nodes
    seen = {
        name: {m.name: (m.reason.value[0], "".join(by.module for by in m.by)) for m in outcome.modules}
        for name, outcome in found.items()
    }
    of_a = {"a": ("a", ""), "c": ("p", "a"), "d": ("p", "c")}
    both = {"a": ("a", ""), "b": ("a", ""), "c": ("p", "ab"), "d": ("p", "c")}
    assert seen == {
        "k": of_a,
        "l": {"b": ("a", ""), "c": ("p", "b"), "d": ("p", "c")},
        "m": both,
        "n": both | {"c": ("a", "ab")},
        "o": of_a,
        "p": of_a,
        "q": of_a | {"d": ("a", "c")},
    }


def test_the_workings_hold_what_the_resolution_is_made_of() -> None:
    """For whoever asks *what if*: one node's pass two can be worked out again beside the others."""
    given = mesh(MODULES, node("nas", "pg"), node("pi", "web"), node("up", "web"))
    workings = work_out(given)
    assert workings.resolution() == resolve(given)
    nas, pi, up = given.nodes
    assert workings.footings["pi"] is workings.footings["up"]
    assert workings.pass_one.footing(pi.assigned) is workings.footings["pi"]
    for one in (nas, pi, up):
        found = find(one, workings.footings[one.name], workings.world)
        assert found == workings.findings[one.name]
    assert workings.world.catalogue.closures["web"] == {"web", "zsh"}
