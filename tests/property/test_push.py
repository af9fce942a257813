"""What a push decides, on any mesh and after any pushes before it (design, parts 3, 8 and 11)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import evolve
from hypothesis import event, given, settings
from hypothesis import strategies as st

from mesh_core import Mesh, mesh_from_data
from mesh_core.analysis.material import Settled
from mesh_core.model.network import Peers
from mesh_core.model.said import Doing, Report
from mesh_core.model.sent import Standing
from mesh_core.network.overlay import overlay
from mesh_core.push import ClaimHeld, Held, Moved, NeedsWord, Send, TurnedDown, Unchanged, Words, decide
from mesh_core.resolve import resolve
from mesh_core.testing.strategies import changed_meshes, meshes
from mesh_core.testing.strategies.of_networks import KEYS
from mesh_core.wire.declaration import read_declaration

Standings = dict[str, Standing]
EVERYTHING = Words()


def settled(mesh: Mesh) -> Settled:
    return Settled(resolution=resolve(mesh))


def pushed(mesh: Mesh, standings: Standings, words: Words = EVERYTHING) -> Standings:
    """How it stands after a push that the broker has confirmed."""
    after = dict(standings)
    for node, outcome in decide(mesh, settled(mesh), standings, words).items():
        if isinstance(outcome, Send):
            standing = after.get(node, Standing(node=node))
            sent = evolve(outcome.sent, published=True)
            after[node] = evolve(standing, last=sent.generation, sent=(*standing.sent, sent))
    return after


def applied(standings: Standings, nodes: Mapping[str, bool]) -> Standings:
    """How it stands once some machines have made so what they were sent, and others have failed to."""
    after = dict(standings)
    for node, well in nodes.items():
        standing = after.get(node)
        if standing is None or standing.newest is None:
            continue
        newest = standing.newest
        report = Report(
            node=node,
            machine="m",
            generation=newest.generation,
            applied=newest.generation,
            doing=Doing.APPLIED if well else Doing.FAILED,
            modules={m for one in standing.sent for m in one.modules} if not well else newest.modules,
        )
        heard = evolve(standing, report=report)
        kept = tuple(one for one in standing.sent if one is newest or one.generation >= heard.released)
        after[node] = evolve(heard, sent=kept)
    return after


@st.composite
def histories(draw: st.DrawFn) -> tuple[Mesh, Standings]:
    """A mesh, and how it stands after pushes of others before it, of which some were applied."""
    standings: Standings = {}
    few = draw(st.booleans())
    mesh = draw(FEW if few else meshes())
    for _ in range(draw(st.integers(1, 3))):
        everywhere = frozenset(node.name for node in mesh.nodes)
        words = Words(allow_removals=draw(st.sampled_from([frozenset[str](), everywhere])))
        standings = pushed(mesh, standings, words)
        doing = draw(st.dictionaries(st.sampled_from(sorted(everywhere) or [""]), st.booleans()))
        standings = applied(standings, doing)
        mesh = draw(FEW if few else changed_meshes(mesh, 5).map(lambda changed: changed[1]))
    return mesh, standings


SHARED = {"name": "database", "scope": "mesh"}
MODULES = [
    {"name": "postgres", "version": "16", "provides": [SHARED]},
    {"name": "mysql", "version": "8", "provides": [SHARED]},
    {"name": "web", "version": "1", "requires": ["database"]},
    {"name": "leader", "version": "1", "claims": [{"name": "scheduler", "scope": "mesh"}]},
]


def _few(database: tuple[str, str], leader: str, web: set[str], pin: str | None, network: str | None) -> Mesh:
    at, module = database
    given = {
        name: [module] * (name == at) + ["leader"] * (name == leader) + ["web"] * (name in web)
        for name in "abc"
    }
    pins = {"database": pin} if pin else {}
    nodes = [
        {"name": name, "assign": them, "pins": pins, "network": _attached(place)}
        for place, (name, them) in enumerate(given.items())
    ]
    document = {"format": 1, "modules": MODULES, "nodes": nodes}
    return mesh_from_data(document if network is None else document | {"network": network})


def _attached(place: int) -> dict[str, Any]:
    """The first is reached by everybody, the others by nobody: it is between them."""
    reached = {"endpoints": ["a.example:51820"], "relay": True} if place == 0 else {}
    return {"address": f"10.77.0.{place + 1}", "key": KEYS[place], **reached}


_NODE = st.sampled_from("abc")
FEW = st.builds(
    _few,
    database=st.tuples(_NODE, st.sampled_from(["postgres", "mysql"])),
    leader=_NODE,
    web=st.sets(_NODE),
    pin=st.none() | _NODE,
    network=st.sampled_from(["10.77.0.0/24", None]),
)
"""Meshes of three nodes where few modules move about: there answers and claims go from one to another."""


@given(histories())
def test_a_second_push_sends_nothing(history: tuple[Mesh, Standings]) -> None:
    """> unchanged ones are not sent"""
    mesh, standings = history
    after = pushed(mesh, standings)
    assert pushed(mesh, after) == after or _waited_for(mesh, standings, after)


def _waited_for(mesh: Mesh, before: Standings, after: Standings) -> bool:
    """Whether something waited for what the first push sent: then, and only then, the second goes on."""
    first = decide(mesh, settled(mesh), before, EVERYTHING)
    second = decide(mesh, settled(mesh), after, EVERYTHING)
    return all(isinstance(first[node], Held) for node, one in second.items() if isinstance(one, Send))


@given(histories())
def test_a_refused_node_is_sent_nothing(history: tuple[Mesh, Standings]) -> None:
    """> Refused nodes keep what they had"""
    mesh, standings = history
    found = settled(mesh)
    for node, outcome in decide(mesh, found, standings, EVERYTHING).items():
        assert isinstance(outcome, TurnedDown) == (node in found.refused)


@given(histories())
def test_generations_only_grow_and_the_body_is_what_is_kept_of_it(history: tuple[Mesh, Standings]) -> None:
    """> Generations only grow, for a node's name, for ever"""
    mesh, standings = history
    for node, outcome in decide(mesh, settled(mesh), standings, EVERYTHING).items():
        if isinstance(outcome, Send):
            assert outcome.sent.generation > standings.get(node, Standing(node=node)).last
            declaration = read_declaration(outcome.body)
            assert (declaration.node, declaration.generation) == (node, outcome.sent.generation)
            assert {module.name for module in declaration.modules} == set(outcome.sent.modules)


@given(histories())
def test_no_claim_is_sent_that_another_machine_may_hold(history: tuple[Mesh, Standings]) -> None:
    """> waits until that node has reported letting go"""
    mesh, standings = history
    for node, outcome in decide(mesh, settled(mesh), standings, EVERYTHING).items():
        others = {claim for name, one in standings.items() if name != node for claim in one.holding}
        if isinstance(outcome, Send):
            assert others.isdisjoint(held.claim for held in outcome.sent.claims)


@given(histories())
def test_no_answer_moves_that_was_not_meant(history: tuple[Mesh, Standings]) -> None:
    """> a push does not send a moved answer unless it is pinned or the push says so"""
    mesh, standings = history
    for node, outcome in decide(mesh, settled(mesh), standings, EVERYTHING).items():
        newest = standings.get(node, Standing(node=node)).newest
        entry = mesh.node(node)
        if not isinstance(outcome, Send) or newest is None or entry is None:
            continue
        pinned = {pin.provision for pin in entry.pins}
        before = {answer.provision: answer for answer in newest.answers}
        for answer in outcome.sent.answers:
            assert before.get(answer.provision, answer) == answer or answer.provision in pinned


@given(histories())
@settings(max_examples=3 * settings().max_examples)
def test_who_is_sent_nothing_new_is_cut_off_by_nobody_that_it_takes_from(
    history: tuple[Mesh, Standings],
) -> None:
    """> Refused nodes keep what they had; and so does whoever waits"""
    mesh, standings = history
    if mesh.network is None:
        return
    everybody = evolve(mesh, network=evolve(mesh.network, peers=Peers.FULL))
    reached = overlay(everybody, resolve(mesh)).networks
    outcomes = decide(mesh, settled(mesh), standings, EVERYTHING)
    for node, outcome in outcomes.items():
        newest = standings.get(node, Standing(node=node)).newest
        if newest is None or not isinstance(outcome, Held | TurnedDown):
            continue
        for answer in newest.answers:
            there, by = outcomes.get(answer.node), reached.get(answer.node)
            if isinstance(there, Send) and by is not None and node in dict(by.names):
                assert there.declaration.network is not None
                assert node in dict(there.declaration.network.names)
                event("a peer is kept")


@given(histories())
def test_each_word_lets_through_what_it_is_for_and_nothing_else(history: tuple[Mesh, Standings]) -> None:
    mesh, standings = history
    held = {
        n: o for n, o in decide(mesh, settled(mesh), standings, EVERYTHING).items() if isinstance(o, Held)
    }
    moves = {(n, w.after.provision) for n, o in held.items() for w in o.whys if isinstance(w, Moved)}
    words = Words(moves=moves, allow_removals=frozenset(held))
    for node, outcome in decide(mesh, settled(mesh), standings, words).items():
        if node not in held:
            continue
        left = tuple(why for why in held[node].whys if not isinstance(why, Moved | NeedsWord))
        if left:
            assert outcome == Held(whys=left)
        else:
            assert isinstance(outcome, Send)


@given(histories())
def test_a_node_alone_is_decided_as_with_all(history: tuple[Mesh, Standings]) -> None:
    mesh, standings = history
    found = settled(mesh)
    whole = decide(mesh, found, standings, EVERYTHING)
    for node in whole:
        assert decide(mesh, found, standings, EVERYTHING, {node}) == {node: whole[node]}


@given(meshes())
def test_once_everybody_has_applied_it_nobody_holds_what_is_not_theirs(mesh: Mesh) -> None:
    """No wait is for ever: where all machines report what they were sent, no claim is waited for."""
    standings = applied(pushed(mesh, {}), {node.name: True for node in mesh.nodes})
    for outcome in decide(mesh, settled(mesh), standings, EVERYTHING).values():
        assert not isinstance(outcome, Held) or not any(isinstance(w, ClaimHeld) for w in outcome.whys)
        assert not isinstance(outcome, Unchanged) or outcome.generation == 1
