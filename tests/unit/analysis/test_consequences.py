"""What a change would do to whom, and proposals.

> So a change that would move one (removing the node that it came from, unassigning its provider, a manifest
> that un-forces a pull) says who moves from where to where, and is refused without `--anyway`; a change that
> *is* the move (pinning elsewhere) only says so. (design, part 8)
"""

import pytest

from mesh_core import (
    Assign,
    CatalogueError,
    Change,
    DropNode,
    Mesh,
    NoSuchNode,
    Pin,
    PutModule,
    PutNode,
    SetPin,
    Unassign,
    Unpin,
    module_from_data,
    resolve,
)
from mesh_core.analysis.consequences import Consequences, LostPin, consequences
from mesh_core.analysis.proposal import propose
from mesh_core.analysis.what_if import Move
from mesh_core.change import apply_all
from mesh_core.problems import Offer
from tests.unit.analysis.builders import DATABASE, POSTGRES, WEB, mesh, module, node

NAS, VPS = Offer(node="nas", module="postgres"), Offer(node="vps", module="postgres")
NOTHING = Consequences(refused=(), moves=(), meant=(), lost_pins=(), mended=())
TWO = mesh(
    [POSTGRES, WEB],
    [
        node("nas", "postgres"),
        node("vps", "postgres"),
        node("pi", "web", pins={"database": "nas"}),
        node("x"),
    ],
)


def of(before: Mesh, *changes: Change) -> Consequences:
    after = apply_all(before, changes)
    return consequences(changes, before, resolve(before), resolve(after))


def test_a_change_that_does_nothing_to_anybody() -> None:
    assert of(TWO, Assign(node="x", module="postgres")) == NOTHING
    assert of(TWO) == NOTHING
    assert not NOTHING.harmful


def test_a_node_that_would_be_refused() -> None:
    found = of(TWO, Unassign(node="nas", module="postgres"))
    assert [refusal.node for refusal in found.refused] == ["pi"]
    assert [problem.code for problem in found.refused[0].problems] == ["pin-unsatisfied"]
    assert found.harmful
    assert of(TWO, Assign(node="x", module="zzz"), Assign(node="nas", module="zzz")).refused[0].node == "nas"


def test_a_node_that_is_refused_already_is_not_told_again() -> None:
    refused = mesh([WEB], [node("pi", "web")])
    assert of(refused, Assign(node="pi", module="zzz")) == NOTHING


def test_a_new_node_that_is_refused_is_told() -> None:
    found = of(TWO, PutNode(node=mesh([], [node("new", "zzz")]).nodes[0]))
    assert [refusal.node for refusal in found.refused] == ["new"]


def test_a_pin_elsewhere_is_the_move_itself() -> None:
    found = of(TWO, SetPin(node="pi", pin=Pin(provision="database", node="vps")))
    assert found == Consequences(
        refused=(),
        moves=(),
        meant=(Move(node="pi", provision="database", before=NAS, after=VPS),),
        lost_pins=(),
        mended=(),
    )
    assert not found.harmful


def test_an_entry_with_a_pin_elsewhere_is_the_move_itself() -> None:
    """As an import writes it. A pin that the entry had before says nothing, and no pin neither."""
    pins = {"database": "vps"}
    moving = PutNode(node=mesh([], [node("pi", "web", pins=pins)]).nodes[0])
    there = SetPin(node="pi", pin=Pin(provision="database", node="vps"))
    assert of(TWO, moving) == of(TWO, there)
    assert of(TWO, moving).meant == (Move(node="pi", provision="database", before=NAS, after=VPS),)
    bare = PutNode(node=mesh([], [node("pi", "web")]).nodes[0])
    found = of(TWO, bare, Unassign(node="nas", module="postgres"))
    assert (len(found.moves), found.meant) == (1, ())
    new = PutNode(node=mesh([], [node("new", "web", pins=pins)]).nodes[0])
    assert of(TWO, new) == NOTHING, "a node that is new has nothing that could move"
    # The pin is at the node where the answer stood, and was: what moves it is another module there.
    stack, own = module("stack", requires=["dbms"]), module("own", "dbms", DATABASE)
    pinned = node("pi", "web", pins={"database": "nas"})
    before = mesh([stack, own, WEB], [node("nas", "stack"), pinned])
    other = PutModule(module=module_from_data(module("stack", DATABASE)))
    assert [move.node for move in of(before, other, PutNode(node=before.nodes[1])).moves] == ["pi"]


def test_an_answer_that_moves_because_of_something_else() -> None:
    found = of(TWO, Unassign(node="nas", module="postgres"), Unpin(node="pi", provision="database"))
    assert found.moves == (Move(node="pi", provision="database", before=NAS, after=VPS),)
    assert found.meant == ()
    assert found.harmful
    gone = of(TWO, DropNode(node="nas"))
    assert gone.moves == found.moves
    assert gone.lost_pins == (LostPin(node="pi", pin=Pin(provision="database", node="nas")),)
    assert gone.harmful


def test_a_pin_means_its_own_move_only() -> None:
    """Not that of another node, nor that of another provision, nor one that goes elsewhere."""
    taking = node("y", "web", pins={"database": "nas"})
    before = apply_all(TWO, [PutNode(node=mesh([], [taking]).nodes[0])])
    found = of(before, SetPin(node="pi", pin=Pin(provision="database", node="vps")), DropNode(node="nas"))
    assert [move.node for move in found.meant] == ["pi"]
    assert [move.node for move in found.moves] == ["y"]


def test_a_pin_at_where_the_answer_stood_does_not_mean_that_it_moves() -> None:
    """Another module there is another place for the data; unless it is that which is pinned."""
    stack, own = module("stack", requires=["dbms"]), module("own", "dbms", DATABASE)
    before = mesh([stack, own, WEB], [node("nas", "stack"), node("pi", "web")])
    moving = PutModule(module=module_from_data(module("stack", DATABASE)))
    there = SetPin(node="pi", pin=Pin(provision="database", node="nas"))
    exactly = SetPin(node="pi", pin=Pin(provision="database", node="nas", module="stack"))
    assert [move.node for move in of(before, moving, there).moves] == ["pi"]
    assert of(before, moving, there).meant == ()
    assert of(before, moving, exactly).moves == ()
    assert [move.node for move in of(before, moving, exactly).meant] == ["pi"]


def test_a_manifest_that_un_forces_a_pull() -> None:
    stack = module("stack", requires=["dbms"])
    own = module("own", "dbms", DATABASE)
    before = mesh([stack, own, WEB], [node("nas", "stack"), node("pi", "web")])
    found = of(before, PutModule(module=module_from_data(module("stack", DATABASE))))
    assert found.moves == (
        Move(
            node="pi",
            provision="database",
            before=Offer(node="nas", module="own"),
            after=Offer(node="nas", module="stack"),
        ),
    )


def test_a_pin_that_goes_with_its_node() -> None:
    idle = mesh([], [node("a", pins={"p": "b", "q": "c"}), node("b", pins={"p": "b"}), node("c")])
    found = of(idle, DropNode(node="b"))
    assert found.lost_pins == (LostPin(node="a", pin=Pin(provision="p", node="b")),)
    assert not found.harmful, "a pin that does nothing refuses nobody"
    assert of(idle, DropNode(node="b"), DropNode(node="a")).lost_pins == ()
    again = PutNode(node=idle.nodes[0])
    assert of(idle, DropNode(node="b"), again).lost_pins == (), "it is put there again"


def test_nodes_that_are_refused_no_longer() -> None:
    refused = mesh([POSTGRES, WEB], [node("pi", "web"), node("x", "web"), node("y", "zzz")])
    assert of(refused, Assign(node="y", module="postgres")).mended == ("pi", "x")
    assert of(refused, DropNode(node="pi")).mended == (), "a node that is gone is not mended"
    many = mesh([POSTGRES, WEB], [node("nas"), *(node(name, "web") for name in "gfedcba")])
    assert of(many, Assign(node="nas", module="postgres")).mended == tuple("abcdefg")


def test_a_proposal() -> None:
    assign = Assign(node="x", module="web")
    proposal = propose(TWO, iter([assign]))
    assert proposal.changes == (assign,)
    assert proposal.kept == ()
    assert proposal.before == TWO
    assert proposal.after == apply_all(TWO, [assign])
    assert proposal.resolution == resolve(proposal.after)
    assert proposal.consequences == of(TWO, assign)
    assert [refusal.node for refusal in proposal.consequences.refused] == ["x"]


def test_a_proposal_that_changes_nothing_has_no_changes() -> None:
    for changes in ((), (Assign(node="nas", module="postgres"),), (Unpin(node="x", provision="database"),)):
        proposal = propose(TWO, changes)
        assert (proposal.changes, proposal.after) == ((), TWO)
        assert proposal.consequences == NOTHING
    there_and_back = (Assign(node="x", module="web"), Unassign(node="x", module="web"))
    assert propose(TWO, there_and_back).changes == ()


def test_a_proposal_with_what_is_kept() -> None:
    alone = mesh([POSTGRES, WEB], [node("nas", "postgres"), node("vps"), node("pi", "web")])
    second = Assign(node="vps", module="postgres")
    pin = SetPin(node="pi", pin=Pin(provision="database", node="nas"))
    assert [r.node for r in propose(alone, [second]).consequences.refused] == ["pi"]
    proposal = propose(alone, [second], keep=True)
    assert proposal.kept == (pin,)
    assert proposal.changes == (second, pin)
    assert proposal.after == apply_all(alone, [second, pin])
    assert proposal.consequences == NOTHING


def test_a_proposal_that_cannot_be_applied() -> None:
    with pytest.raises(NoSuchNode):
        propose(TWO, [Assign(node="zzz", module="web")])
    with pytest.raises(CatalogueError):
        propose(TWO, [PutModule(module=module_from_data(module("own", "database")))], keep=True)
