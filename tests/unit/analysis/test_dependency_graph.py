"""Who depends on whom, as a networkx graph."""

import networkx as nx

from mesh_core import dependency_graph, resolve
from tests.unit.analysis.builders import DATABASE, POSTGRES, mesh, module, node

METRICS = {"name": "metrics", "scope": "mesh"}
OF = mesh(
    [
        module("zsh", "shell", "login", METRICS, version="5.9"),
        module("web", requires=["shell", "login", "database"]),
        module("grafana", requires=[{"name": "metrics", "from": "every"}, "database"]),
        module("ml", METRICS, capabilities=["gpu"]),
        POSTGRES,
    ],
    [node("nas", "postgres", "grafana"), node("pi", "web"), node("attic", "ml")],
)
GRAPH = dependency_graph(resolve(OF))


def test_its_nodes_are_every_module_on_every_node() -> None:
    assert isinstance(GRAPH, nx.DiGraph)
    assert {name: GRAPH.nodes[name] for name in GRAPH} == {
        ("attic", "ml"): {"version": "1", "reason": "assigned", "planned": False},
        ("nas", "grafana"): {"version": "1", "reason": "assigned", "planned": True},
        ("nas", "postgres"): {"version": "1", "reason": "assigned", "planned": True},
        ("pi", "web"): {"version": "1", "reason": "assigned", "planned": True},
        ("pi", "zsh"): {"version": "5.9", "reason": "pulled-in", "planned": True},
    }


def test_an_edge_leads_from_each_to_what_answers_it() -> None:
    found = {(asking, answering): data for asking, answering, data in GRAPH.edges(data=True)}
    assert found == {
        (("pi", "web"), ("pi", "zsh")): {"requirements": ("login", "shell"), "crosses": False},
        (("pi", "web"), ("nas", "postgres")): {"requirements": ("database",), "crosses": True},
        (("nas", "grafana"), ("nas", "postgres")): {"requirements": ("database",), "crosses": False},
        (("nas", "grafana"), ("pi", "zsh")): {"requirements": ("metrics",), "crosses": True},
        (("nas", "grafana"), ("attic", "ml")): {"requirements": ("metrics",), "crosses": True},
    }


def test_one_edge_carries_requirements_of_both_scopes() -> None:
    both = module("own", "dbms", DATABASE)
    graph = dependency_graph(
        resolve(mesh([both, module("web", requires=["dbms", "database"])], [node("pi", "web")]))
    )
    assert dict(graph.edges[("pi", "web"), ("pi", "own")]) == {
        "requirements": ("database", "dbms"),
        "crosses": False,
    }


def test_stuck_modules_are_in_it() -> None:
    ring = [module("a", "x", requires=["y"]), module("b", "y", requires=["x"])]
    graph = dependency_graph(resolve(mesh(ring, [node("pi", "a")])))
    assert set(graph) == {("pi", "a"), ("pi", "b")}
    assert graph.nodes["pi", "b"]["reason"] == "pulled-in"


def test_an_empty_mesh() -> None:
    assert len(dependency_graph(resolve(mesh([POSTGRES], [node("pi")])))) == 0
