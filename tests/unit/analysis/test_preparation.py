"""What to do first, so that a change that is refused can be made."""

from mesh_core import Assign, PutNode, Report, Unassign
from mesh_core.analysis.preparation import Unsaid, preparations, unsaid
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


def test_what_would_have_to_be_reported_first() -> None:
    ml = module("ml", capabilities=["gpu", "tpu"])
    of = mesh([ml], [node("pi", capabilities={"tpu": True}), node("x")])
    both = [Assign(node="pi", module="ml"), Assign(node="x", module="ml")]
    pi = Unsaid(node="pi", capabilities=("gpu",))
    assert unsaid(propose(of, both)) == (pi, Unsaid(node="x", capabilities=("gpu", "tpu")))
    # The whole entry of a node leaves what the machine said, as `mesh import` does.
    whole = PutNode(node=mesh([], [node("pi", "ml", capabilities={"tpu": True})]).nodes[0])
    assert unsaid(propose(of, [whole])) == (pi,)


def test_nothing_to_report_where_that_would_not_do() -> None:
    ml = module("ml", capabilities=["gpu"])
    lacks = mesh([ml], [node("pi", capabilities={"gpu": False})])
    new = mesh([], [node("new", "ml")]).nodes[0]
    takes_away = mesh([ml], [node("pi", "ml", capabilities={"gpu": True})])
    for of, change in (
        (lacks, Assign(node="pi", module="ml")),  # it said that it has none
        (lacks, PutNode(node=new)),  # who is not there yet cannot report
        (takes_away, Report(node="pi", capabilities=[])),  # and who just did would take it back
        (takes_away, Assign(node="pi", module="zzz")),  # something else is wrong
        (takes_away, Unassign(node="pi", module="ml")),  # nothing is wrong
    ):
        assert unsaid(propose(of, [change])) == ()
    again = Assign(node="pi", module="again")
    beside = mesh([ml, module("again", requires=["gone"], capabilities=["gpu"])], [node("pi")])
    assert unsaid(propose(beside, [again])) == (), "it would not be enough"


def test_a_step_of_a_node_that_only_the_change_adds_is_none() -> None:
    of = mesh([module("postgres", DATABASE, capabilities=["g"]), WEB], [node("nas")])
    new = mesh([], [node("pi", "web", capabilities={"g": True})]).nodes[0]
    assert preparations(propose(of, [PutNode(node=new)])) == ()
