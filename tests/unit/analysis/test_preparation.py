"""What to do first, so that a change that is refused can be made."""

from mesh_core import Assign, PutNode, Unassign
from mesh_core.analysis.preparation import preparations
from mesh_core.analysis.proposal import propose
from mesh_core.explain.words import command
from tests.unit.analysis.builders import DATABASE, POSTGRES, WEB, mesh, module, node


def test_a_step_after_which_the_change_does_no_harm() -> None:
    of = mesh([POSTGRES, WEB], [node("nas"), node("pi")])
    refused = propose(of, [Assign(node="pi", module="web")])
    assert refused.consequences.harmful
    first = preparations(refused)
    assert [command(step) for step in first] == ["mesh assign nas postgres", "mesh assign pi postgres"]
    for step in first:
        prepared = propose(of, [step])
        assert not prepared.consequences.harmful
        assert not propose(prepared.after, refused.changes).consequences.harmful
    assert preparations(refused, shown=1) == first[:1]
    more = propose(mesh([POSTGRES, WEB], [node("nas"), node("pi"), node("x")]), refused.changes)
    assert len(preparations(more)) == 2


def test_none_where_the_change_does_no_harm() -> None:
    of = mesh([POSTGRES], [node("nas")])
    assert preparations(propose(of, [Assign(node="nas", module="postgres")])) == ()


def test_none_where_none_helps() -> None:
    of = mesh([module("ml", capabilities=["gpu"])], [node("pi")])
    assert preparations(propose(of, [Assign(node="pi", module="ml")])) == ()
    # What would mend it does harm itself: x takes from the one that would have to go.
    web = [node("nas", "postgres"), node("x", "web")]
    of = mesh([POSTGRES, WEB], web)
    assert preparations(propose(of, [Unassign(node="nas", module="postgres")])) == ()


def test_a_step_of_a_node_that_only_the_change_adds_is_none() -> None:
    of = mesh([module("postgres", DATABASE, capabilities=["g"]), WEB], [node("nas")])
    new = mesh([], [node("pi", "web", capabilities={"g": True})]).nodes[0]
    assert preparations(propose(of, [PutNode(node=new)])) == ()
