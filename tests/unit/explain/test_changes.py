"""Changes and their consequences, in sentences."""

from typing import Any

import pytest
from attrs import evolve

from mesh_core import (
    Assign,
    Capability,
    Change,
    DropModule,
    DropNode,
    Mesh,
    Module,
    Node,
    Pin,
    PutModule,
    PutNode,
    Report,
    SetPin,
    Unassign,
    Unpin,
    module_from_data,
)
from mesh_core.analysis.proposal import propose
from mesh_core.analysis.what_if import Move
from mesh_core.explain import Explainer
from mesh_core.explain.changes import differences, done, moved, would
from mesh_core.problems import Offer
from tests.unit.analysis.builders import DATABASE, MARIADB, POSTGRES, WEB, mesh, module, node

PIN = Pin(provision="database", node="nas", module="postgres")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (Assign(node="nas", module="zsh"), "zsh is assigned to nas"),
        (Unassign(node="nas", module="zsh"), "zsh is no longer assigned to nas"),
        (SetPin(node="pi", pin=PIN), "pi takes 'database' from nas/postgres"),
        (Unpin(node="pi", provision="database"), "pi is no longer pinned for 'database'"),
        (PutModule(module=Module(name="zsh", version="5.9")), "zsh 5.9 is in the catalogue"),
        (DropModule(module="zsh"), "zsh is no longer in the catalogue"),
        (PutNode(node=Node(name="pi")), "node pi is in the mesh"),
        (DropNode(node="pi"), "node pi is removed"),
        (Report(node="pi", capabilities=[Capability(name="g")]), "pi reported 1 capability"),
        (Report(node="pi", capabilities=[]), "pi reported 0 capabilities"),
    ],
)
def test_what_was_done(change: Change, says: str) -> None:
    assert done(change) == says


PINS = "+ pin database nas/postgres, - pin mail"
BEFORE = mesh(
    [module("zsh", "shell")],
    [node("pi", "zsh", pins={"database": "nas", "mail": "nas"}, capabilities={}), node("nas")],
)
NAS, PI = BEFORE.nodes


def put_module(**parts: Any) -> PutModule:
    return PutModule(module=Module(**{"name": "zsh", "version": "1"} | parts))


@pytest.mark.parametrize(
    ("change", "lines"),
    [
        (put_module(name="bash", version="5"), ["+ module bash 5"]),
        (put_module(version="2"), ["~ module zsh 1 -> 2"]),
        (put_module(), ["~ module zsh 1, with another manifest"]),
        (DropModule(module="zsh"), ["- module zsh"]),
        (DropNode(node="pi"), ["- node pi"]),
        (PutNode(node=Node(name="vps")), ["+ node vps"]),
        (PutNode(node=Node(name="vps", assigned=["a", "b"])), ["+ node vps: + assign a, + assign b"]),
        (
            PutNode(node=Node(name="pi", assigned=["a"], pins=[PIN], capabilities=[Capability(name="g")])),
            [f"~ node pi: + assign a, - assign zsh, {PINS}, ~ what it reported"],
        ),
        (PutNode(node=evolve(PI, capabilities=None)), ["~ node pi: - what it reported"]),
        (PutNode(node=evolve(NAS, capabilities=[])), ["~ node nas: + what it reported"]),
        (PutNode(node=Node(name="vps", capabilities=[])), ["+ node vps: + what it reported"]),
        (PutNode(node=PI), ["~ node pi: keeps its pins"]),
        (Assign(node="pi", module="a"), ["a is assigned to pi"]),
    ],
)
def test_how_a_mesh_differs(change: Change, lines: list[str]) -> None:
    assert [*differences(change, BEFORE)] == lines


def test_an_answer_that_moves() -> None:
    before, after = Offer(node="nas", module="postgres"), Offer(node="vps", module="mariadb")
    move = Move(node="pi", provision="database", before=before, after=after)
    assert moved(move) == "pi takes 'database' from vps (mariadb) instead of nas (postgres)"


def consequences_of(of: Mesh, *changes: Change) -> list[str]:
    proposal = propose(of, changes)
    explainer = Explainer(proposal.after, proposal.resolution)
    return [*would(proposal.consequences, tuple(explainer.refusal(r) for r in proposal.consequences.refused))]


def test_what_a_change_would_do_has_the_cause_first() -> None:
    of = mesh([POSTGRES, WEB], [node("nas", "postgres"), node("vps"), node("pi", "web")])
    assert consequences_of(of, Assign(node="vps", module="postgres")) == [
        "1 node would be refused: pi",
        "  web on pi needs 'database', and 2 nodes provide it: nas (postgres), vps (postgres)",
        "    the mesh does not choose where data lives",
    ]


def test_the_same_problem_of_several_nodes_is_told_once() -> None:
    takers = [node(f"pi{place}", "web") for place in range(8)]
    of = mesh([POSTGRES, WEB], [node("nas", "postgres"), *takers])
    lines = consequences_of(of, Unassign(node="nas", module="postgres"))
    assert lines[0] == "8 nodes would be refused: pi0, pi1, pi2, pi3, pi4 and 3 more"
    assert lines[1] == "  web on pi0 needs 'database' (scope mesh), and no node runs a provider"
    assert lines[-1] == "    the same on pi1, pi2, pi3, pi4, pi5 and 2 more"
    assert len([line for line in lines if "needs 'database'" in line]) == 1


def test_moves_and_lost_pins() -> None:
    stack = module("stack", requires=["dbms"])
    own = module("own", "dbms", DATABASE)
    of = mesh(
        [stack, own, POSTGRES, WEB],
        [
            node("nas", "stack"),
            node("pi", "web"),
            node("x", pins={"database": "gone", "mail": "old"}),
            node("old"),
        ],
    )
    other = PutModule(module=module_from_data(module("stack", DATABASE)))
    assert consequences_of(of, other, DropNode(node="old")) == [
        "1 answer would move to another node or module:",
        "  pi takes 'database' from nas (stack) instead of nas (own)",
        "the pin of x for 'mail' at old would go with it",
    ]


def test_a_move_that_is_meant_is_only_told() -> None:
    rivals = [node("nas", "postgres"), node("vps", "postgres")]
    of = mesh([POSTGRES, WEB], [*rivals, node("pi", "web", pins={"database": "nas"})])
    assert consequences_of(of, SetPin(node="pi", pin=Pin(provision="database", node="vps"))) == [
        "1 answer would move as is said:",
        "  pi takes 'database' from vps (postgres) instead of nas (postgres)",
    ]


def test_nothing_to_tell() -> None:
    of = mesh([MARIADB], [node("nas")])
    assert consequences_of(of, Assign(node="nas", module="mariadb")) == []


def test_what_is_not_the_same_for_another_node_is_told_of_it() -> None:
    """Each of two that claim one name is told who holds it: the other one."""
    zone = module("dns", claims=[{"name": "zone", "scope": "mesh"}])
    both = mesh([zone], [node("a"), node("b")])
    lines = consequences_of(both, Assign(node="a", module="dns"), Assign(node="b", module="dns"))
    assert "  dns on a claims 'zone' (scope mesh), and b (dns) holds it" in lines
    assert "  dns on b claims 'zone' (scope mesh), and a (dns) holds it" in lines
    assert not [line for line in lines if "the same on" in line]
