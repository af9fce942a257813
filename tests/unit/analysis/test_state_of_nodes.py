"""The state of a node, case by case (design, parts 10 and 11)."""

from __future__ import annotations

from typing import Any

import pytest

from mesh_core.analysis.clocks import Clock
from mesh_core.analysis.material import Settled
from mesh_core.analysis.state_of_nodes import SILENT_AFTER, NodeState, StateOfNode, states_of_nodes
from mesh_core.model.material import MaterialFault
from mesh_core.model.said import Doing, Report
from mesh_core.model.sent import Sent, Standing
from mesh_core.problems import MissingCapability
from mesh_core.resolve import resolve
from tests.unit.analysis.builders import mesh, module, node

MESH = mesh([module("web"), module("ml", capabilities=["gpu"])], [node("pi", "web"), node("attic", "ml")])
DAY = 24 * 3600


def sent(*generations: int, published: bool = True) -> tuple[Sent, ...]:
    return tuple(
        Sent(node="pi", generation=g, fingerprint=str(g), published=published or g != generations[-1])
        for g in generations
    )


def report(applied: int | None, doing: Doing = Doing.APPLIED, **more: Any) -> Report:
    return Report(node="pi", machine="m", doing=doing, **{"generation": applied, "applied": applied} | more)


def of(
    *sents: Sent,
    said: Report | None = None,
    ago: float | None = 8,
    found: Settled | None = None,
    **more: Any,
) -> StateOfNode:
    """The state of pi, of which something was heard so many seconds ago."""
    seen = None if ago is None else str(ago)
    last = sents[-1].generation if sents else 0
    standing = Standing(node="pi", sent=sents, report=said, seen_at=seen, **{"last": last} | more)
    found = found if found is not None else Settled(resolution=resolve(MESH))
    return states_of_nodes(MESH, found, {"pi": standing}, float)["pi"]


@pytest.mark.parametrize(
    ("sents", "said", "state"),
    [
        ((), None, NodeState.WAITING),
        ((), report(None), NodeState.APPLIED),
        (sent(43), None, NodeState.WAITING),
        (sent(42, 43), report(42), NodeState.WAITING),
        (sent(42, 43), report(42, Doing.APPLYING), NodeState.WAITING),
        (sent(42, 43), report(42, Doing.FAILED), NodeState.WAITING),
        (sent(42, 43), report(42, Doing.APPLYING, generation=43), NodeState.APPLYING),
        (sent(42, 43), report(42, Doing.FAILED, generation=43), NodeState.FAILED),
        (sent(42, 43), report(42, generation=43), NodeState.WAITING),
        (sent(43), report(43), NodeState.APPLIED),
        (sent(43), report(43, Doing.DRIFTED), NodeState.DRIFTED),
        (sent(43), report(43, Doing.FAILED), NodeState.FAILED),
        (sent(43), report(42, Doing.REFUSED, refused=43), NodeState.REFUSED),
        (sent(43), report(None, Doing.REFUSED, refused=43), NodeState.REFUSED),
        (sent(43, 44), report(42, Doing.REFUSED, refused=43), NodeState.WAITING),
        (sent(43), report(43, Doing.REFUSED, refused=42), NodeState.REFUSED),
    ],
)
def test_of_a_node_that_is_there(sents: tuple[Sent, ...], said: Report | None, state: NodeState) -> None:
    assert of(*sents, said=said).state is state
    assert of(*sents, said=said, ago=SILENT_AFTER - 1).state is state
    assert of(*sents, said=said, ago=-5).seconds == 0
    assert of(*sents, said=said, ago=SILENT_AFTER).state is NodeState.SILENT
    assert of(*sents, said=said, ago=3 * DAY).state is NodeState.SILENT


@pytest.mark.parametrize("said", [report(43), report(42), report(43, Doing.FAILED)])
def test_what_no_broker_has_confirmed_it_waits_for(said: Report) -> None:
    """Whatever it says: the number may have been given to something else by an older copy of the store."""
    one = of(*sent(42, 43, published=False), said=said)
    assert (one.state, one.pending, one.wants) == (NodeState.WAITING, True, 43)


def test_of_one_that_was_never_seen() -> None:
    for sents, wants in (((), None), (sent(43), 43)):
        one = of(*sents, ago=None)
        assert (one.state, one.wants, one.has, one.seconds) == (NodeState.NEVER_SEEN, wants, None, None)
    assert states_of_nodes(MESH, Settled(resolution=resolve(MESH)), {}, float)["pi"] == of(ago=None)


def test_what_is_told_of_its_report() -> None:
    said = report(
        42, Doing.FAILED, generation=43, modules=["web"], why=["it ended"], left_out=2, healthy=False
    )
    one = of(*sent(42, 43), said=said, strangers=("m2",))
    assert (one.wants, one.taken, one.has, one.said) == (43, 43, 42, Doing.FAILED)
    assert (one.modules, one.why, one.left_out, one.healthy) == (("web",), ("it ended",), 2, False)
    assert (one.strangers, one.turned_down, one.to_take) == (("m2",), None, None)


def test_it_was_seen_when_it_spoke_and_not_when_that_was_taken_in() -> None:
    """A report may have waited for a month: what it says may not be so any more."""
    one = of(*sent(43), said=report(43), ago=1000, heard_at="5")
    assert (one.state, one.seconds, one.seen_at) == (NodeState.SILENT, 1000, "1000")
    assert of(*sent(43), said=report(43), ago=None, heard_at="5").seconds == 5


def test_a_wrong_clock_is_told_with_both_instants() -> None:
    at, heard_at = "1970-01-01T00:00:09Z", "2026-12-02T12:00:00Z"
    standing = Standing(node="pi", report=report(None, at=at), heard_at=heard_at, seen_at=heard_at)
    found = Settled(resolution=resolve(MESH))
    one = states_of_nodes(MESH, found, {"pi": standing}, lambda _: 8)["pi"]
    assert (one.clock, one.said_at, one.heard_at) == (Clock.BEHIND, at, heard_at)
    assert one.state is NodeState.APPLIED


def test_a_mesh_that_refuses_it_is_told_before_what_it_says() -> None:
    found = Settled(resolution=resolve(mesh([], [node("pi", "web"), node("attic")])))
    one = of(*sent(43), said=report(43), found=found)
    assert (one.state, [r.code for r in one.refusals if not isinstance(r, MaterialFault)]) == (
        NodeState.REFUSED,
        ["unknown-module"],
    )
    assert of(*sent(43), said=report(43), found=found, ago=DAY).state is NodeState.SILENT
    assert of(found=found, ago=None).state is NodeState.NEVER_SEEN


def test_a_template_that_names_nothing_refuses_as_well() -> None:
    fault = MaterialFault(node="pi", module="web", resource="path:/etc/web", why="no such name")
    one = of(said=report(None), found=Settled(resolution=resolve(MESH), faults=(fault,)))
    assert (one.state, one.refusals) == (NodeState.REFUSED, (fault,))


def test_the_refusals_are_of_the_node_itself() -> None:
    states = states_of_nodes(MESH, Settled(resolution=resolve(MESH)), {}, float)
    assert [type(reason) for reason in states["attic"].refusals] == [MissingCapability]
    assert not states["pi"].refusals


@pytest.mark.parametrize(
    ("sents", "said", "last", "unsent"),
    [
        ((), report(43), 43, 43),
        ((), report(None), 43, None),
        ((), None, 43, None),
        (sent(43), report(43), 43, None),
        (sent(43), report(42), 43, None),
        (sent(42), report(42), 43, 43),
        (sent(42), report(43), 42, 43),
    ],
)
def test_a_generation_that_this_store_did_not_send(
    sents: tuple[Sent, ...], said: Report | None, last: int, unsent: int | None
) -> None:
    """One that was removed and added again keeps its last generation, and is no sign of an old store."""
    assert of(*sents, said=said, last=last).unsent == unsent
