"""How it stands with nodes, for anything that was sent and heard (design, parts 10 and 11).

What is drawn is more than a store ever holds: generations in any relation, reports that contradict
themselves. Whatever it is, a node has a state, and the state is no lie.
"""

from __future__ import annotations

from attrs import evolve
from hypothesis import given
from hypothesis import strategies as st

from mesh_core import mesh_from_data
from mesh_core.analysis.material import Settled
from mesh_core.analysis.state_of_nodes import SILENT_AFTER, NodeState, StateOfNode, states_of_nodes
from mesh_core.explain.state_of_nodes import next_step, state_to_data, summary, whys
from mesh_core.model.material import MaterialFault
from mesh_core.model.said import Doing, Report
from mesh_core.model.sent import Sent, Standing
from mesh_core.resolve import resolve

MESH = mesh_from_data(
    {
        "format": 1,
        "modules": [{"name": "web", "version": "1"}, {"name": "ml", "version": "1", "capabilities": ["gpu"]}],
        "nodes": [
            {"name": "attic", "assign": ["ml"]},
            {"name": "pi", "assign": ["web"]},
            {"name": "vps", "assign": ["web"]},
        ],
    }
)
FAULT = MaterialFault(node="vps", module="web", resource="path:/etc/web", why="'nmae' is undefined")
FOUND = Settled(resolution=resolve(MESH), faults=(FAULT,))
"""attic is refused by the resolution, vps for a template, and pi is well."""
WELL = Settled(resolution=resolve(evolve(MESH, nodes=[evolve(node, assigned=()) for node in MESH.nodes])))
"""None is refused: more of what they say themselves is looked at."""

AGO = st.one_of(
    st.integers(-60, 2 * SILENT_AFTER), st.sampled_from([SILENT_AFTER - 1, SILENT_AFTER, SILENT_AFTER + 1])
)
"""Seconds since something, also a few that a clock which was set back makes of it."""
GENERATIONS = st.sampled_from([None, 1, 2, 3, 4])


def seconds(then: str) -> float:
    """Instants are written here as how long ago they were."""
    return float(then)


def sent(node: str, generation: int, *, published: bool = True) -> Sent:
    return Sent(node=node, generation=generation, fingerprint=str(generation), published=published)


@st.composite
def reports(draw: st.DrawFn, node: str) -> Report:
    """A report with its numbers in any relation."""
    return Report(
        node=node,
        machine="m",
        generation=draw(GENERATIONS),
        applied=draw(GENERATIONS),
        doing=draw(st.sampled_from(Doing)),
        modules=draw(st.sets(st.sampled_from(["web", "ml"]))),
        why=draw(st.lists(st.sampled_from(["service web: it ended", "/etc/motd was edited by hand"]))),
        left_out=draw(st.integers(0, 3)),
        refused=draw(GENERATIONS),
        healthy=draw(st.none() | st.booleans()),
    )


@st.composite
def standings(draw: st.DrawFn, node: str, *, there: bool = False) -> Standing:
    """Anything that may have been sent to a node, and heard of it; of one that is `there`, just now."""
    generations = sorted(draw(st.sets(st.integers(1, 3), max_size=3)))
    published = there or draw(st.booleans())
    return Standing(
        node=node,
        last=max(draw(st.integers(0, 4)), *generations, 0),
        sent=tuple(sent(node, g, published=g != generations[-1] or published) for g in generations),
        report=draw(reports(node) if there else st.none() | reports(node)),
        heard_at=draw(st.none() | AGO.map(str)),
        seen_at="8" if there else draw(st.none() | AGO.map(str)),
        strangers=draw(st.sampled_from([(), ("m2",), ("m2", "m3")])),
    )


EVERYWHERE = st.fixed_dictionaries({node.name: standings(node.name) for node in MESH.nodes})
ALL_THERE = st.fixed_dictionaries({node.name: standings(node.name, there=True) for node in MESH.nodes})
"""Every node has just reported something, and a broker has what it was sent: its report decides."""


def looked(heard: dict[str, Standing], found: Settled = FOUND) -> dict[str, StateOfNode]:
    return states_of_nodes(MESH, found, heard, seconds)


def heard_ago(standing: Standing) -> float | None:
    """Seconds since the machine last said anything, which is not when that was taken in."""
    at = standing.seen_at or standing.heard_at
    return None if at is None else seconds(at)


@given(EVERYWHERE)
def test_every_node_has_a_state_and_sentences(heard: dict[str, Standing]) -> None:
    states = looked(heard)
    assert [*states] == [node.name for node in MESH.nodes]
    for one in states.values():
        assert one.state in NodeState
        assert all(line.strip() for line in whys(one))
        assert state_to_data(one)["state"] == one.state.value
    assert sum(int(part.split()[0]) for part in summary([*states.values()]).split(", ")) == len(states)
    step = next_step([*states.values()], None)
    assert not step or step.endswith(("Next: mesh push", "Next: mesh collect"))


@given(EVERYWHERE)
def test_silent_is_told_before_all_else(heard: dict[str, Standing]) -> None:
    """> after three times that it is `silent`, whatever it last said"""
    for name, one in looked(heard).items():
        ago = heard_ago(heard[name])
        if ago is not None:
            assert (one.state is NodeState.SILENT) == (ago >= SILENT_AFTER)


@given(EVERYWHERE)
def test_never_seen_is_what_nothing_was_heard_of(heard: dict[str, Standing]) -> None:
    for name, one in looked(heard).items():
        nothing = heard_ago(heard[name]) is None and heard[name].report is None
        assert (one.state is NodeState.NEVER_SEEN) == nothing


@given(EVERYWHERE)
def test_a_node_wants_at_least_what_it_has_unless_the_store_is_old(heard: dict[str, Standing]) -> None:
    """> A control plane that hears of a newer one than it sent has an old store: it says so

    So it has where its machine refuses the newest: it has another one under that number already.
    """
    for name, one in looked(heard, WELL).items():
        if one.unsent is None:
            assert (one.wants or 0) >= (one.has or 0)
            assert (one.wants or 0) >= (one.taken or 0)
        else:
            least = one.wants or 0
            assert one.unsent > least or (one.unsent == least and heard[name].given_twice)
            assert any("not by this store" in line for line in whys(one))


@given(EVERYWHERE)
def test_what_is_pending_is_never_called_applied(heard: dict[str, Standing]) -> None:
    well = {NodeState.APPLIED, NodeState.DRIFTED, NodeState.APPLYING, NodeState.FAILED}
    for one in looked(heard, WELL).values():
        assert not (one.pending and one.state in well)
        if one.pending:
            assert any("mesh push" in line for line in whys(one))


@given(ALL_THERE)
def test_applied_is_what_its_report_says_of_what_was_sent(heard: dict[str, Standing]) -> None:
    for name, one in looked(heard, WELL).items():
        if one.state in (NodeState.APPLIED, NodeState.DRIFTED):
            report = heard[name].report
            assert report is not None
            assert report.doing.value == one.state.value
            assert one.wants is None or (one.has or 0) >= one.wants


@given(EVERYWHERE)
def test_a_node_that_is_refused_and_there_is_called_so(heard: dict[str, Standing]) -> None:
    for name, one in looked(heard).items():
        there = one.state not in (NodeState.SILENT, NodeState.NEVER_SEEN)
        assert bool(one.refusals) == (name in FOUND.refused)
        if there and one.refusals:
            assert one.state is NodeState.REFUSED


@given(ALL_THERE)
def test_what_waits_for_a_node_that_is_there_is_not_passed_over(heard: dict[str, Standing]) -> None:
    """Whoever has neither taken nor refused what was sent last is never said to be at it, or done with it."""
    waits = {NodeState.WAITING, NodeState.REFUSED, NodeState.SILENT, NodeState.NEVER_SEEN}
    for one in looked(heard, WELL).values():
        if one.to_take is not None:
            assert one.state in waits


@given(EVERYWHERE, st.sampled_from(["attic", "pi", "vps"]))
def test_a_node_is_told_by_its_own_standing_alone(heard: dict[str, Standing], name: str) -> None:
    alone = looked({name: heard[name]})
    assert alone[name] == looked(heard)[name]
    others = [node.name for node in MESH.nodes if node.name != name]
    assert all(alone[other].state is NodeState.NEVER_SEEN for other in others)


@given(EVERYWHERE, st.sampled_from(Doing))
def test_its_words_do_not_make_a_silent_node_speak(heard: dict[str, Standing], doing: Doing) -> None:
    before = looked(heard)
    for name, standing in heard.items():
        if before[name].state is NodeState.SILENT and standing.report is not None:
            other = evolve(standing, report=evolve(standing.report, doing=doing))
            assert looked({**heard, name: other})[name].state is NodeState.SILENT
