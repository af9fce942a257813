"""What a push sends of the overlay network, and whose peers stay although no plan says so."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from mesh_core import Mesh, mesh_from_data
from mesh_core.analysis.material import Settled
from mesh_core.model.network import DeclaredNetwork
from mesh_core.model.sent import Answered, Sent, Standing
from mesh_core.push import Held, Moved, Outcome, Send, TurnedDown, Unchanged, Words, decide
from mesh_core.push.content import kept_takes
from mesh_core.resolve import resolve
from mesh_core.testing.strategies.of_networks import KEYS
from mesh_core.wire.declaration import read_declaration

RANGE = "10.77.0.0/24"
DATABASE = {"name": "postgres", "version": "16", "provides": [{"name": "database", "scope": "mesh"}]}
WEB = {"name": "web", "version": "1", "requires": ["database"]}
ML = {"name": "ml", "version": "1", "capabilities": ["gpu"]}
SHELL = {"name": "zsh", "version": "5", "resources": [{"kind": "package", "name": "zsh"}]}
MODULES = [DATABASE, WEB, ML, SHELL]


def node(name: str, number: int, *assign: str, **network: Any) -> dict[str, Any]:
    """One that everybody reaches, whose machine has reported a key."""
    attached = {"address": f"10.77.0.{number}", "key": KEYS[number], "endpoints": [f"{name}.example:51820"]}
    attached = {key: value for key, value in (attached | network).items() if value is not None}
    return {"name": name, "assign": list(assign), "network": attached}


NAS, VPS, PI = node("nas", 1, "postgres"), node("vps", 2, "zsh"), node("pi", 3, "web")


def mesh(*nodes: dict[str, Any], **more: Any) -> Mesh:
    return mesh_from_data({"format": 1, "network": RANGE, "modules": MODULES, "nodes": [*nodes]} | more)


class Control:
    """A control plane without a store: it remembers what it has sent."""

    def __init__(self) -> None:
        self.standings: dict[str, Standing] = {}

    def decide(self, of: Mesh, **words: Any) -> dict[str, Outcome]:
        return decide(of, Settled(resolution=resolve(of)), self.standings, Words(**words))

    def push(self, of: Mesh, **words: Any) -> dict[str, Outcome]:
        outcomes = self.decide(of, **words)
        for name, outcome in outcomes.items():
            if isinstance(outcome, Send):
                standing = self.standings.get(name, Standing(node=name))
                sent = (*standing.sent, evolve(outcome.sent, published=True))
                self.standings[name] = evolve(standing, last=outcome.sent.generation, sent=sent)
        return outcomes

    def sent(self, of: Mesh, **words: Any) -> set[str]:
        """Who is sent something."""
        return {name for name, outcome in self.push(of, **words).items() if isinstance(outcome, Send)}


def told(outcome: Outcome) -> DeclaredNetwork:
    assert isinstance(outcome, Send)
    assert outcome.declaration.network is not None
    assert read_declaration(outcome.body) == outcome.declaration
    return outcome.declaration.network


def peers(outcome: Outcome) -> list[str]:
    return [peer.node for peer in told(outcome).peers]


def test_a_declaration_carries_the_network_of_its_node_and_where_answers_are() -> None:
    outcomes = Control().decide(mesh(NAS, VPS, PI))
    assert {name: peers(outcome) for name, outcome in outcomes.items()} == {
        "nas": ["pi"],
        "pi": ["nas"],
        "vps": [],
    }
    nas = told(outcomes["nas"])
    assert (nas.address, nas.range, dict(nas.names)) == (
        "10.77.0.1",
        RANGE,
        {"nas": "10.77.0.1", "pi": "10.77.0.3"},
    )
    pi = outcomes["pi"]
    assert isinstance(pi, Send)
    assert pi.declaration.modules[0].answers[0].given[0].address == "10.77.0.1"


def test_pushing_twice_sends_nothing_more() -> None:
    control = Control()
    assert control.sent(mesh(NAS, VPS, PI)) == {"nas", "vps", "pi"}
    again = control.push(mesh(NAS, VPS, PI))
    assert again == {name: Unchanged(generation=1) for name in ("nas", "pi", "vps")}


@pytest.mark.parametrize(
    ("after", "who"),
    [
        (mesh(NAS, VPS, node("pi", 3, "web", key=KEYS[7])), {"nas"}),
        (mesh(NAS, VPS, node("pi", 3, "web", key=None)), {"nas", "pi"}),
        (mesh(node("nas", 1, "postgres", endpoints=["nas.example:1"]), VPS, PI), {"pi"}),
        (mesh(NAS, VPS, node("pi", 3, "web", endpoints=[])), {"nas", "pi"}),  # pi keeps alive now
        (mesh(NAS, VPS, node("pi", 3, "web", address="10.77.0.9")), {"nas", "pi"}),
        (mesh(NAS, VPS, node("pi", 3, "web", site="home")), set()),
        (mesh(NAS, node("vps", 2, "zsh", key=KEYS[7]), PI), set()),
        (mesh(NAS, node("vps", 2, "zsh", relay=True), PI), {"vps"}),
        (mesh(NAS, VPS, PI, network={"range": RANGE, "port": 1}), {"nas", "pi", "vps"}),
        (mesh(NAS, VPS, PI, network={"range": RANGE, "retired": ["10.77.0.9"]}), set()),
    ],
)
def test_what_changes_of_a_node_is_sent_to_those_that_are_told_of_it(after: Mesh, who: set[str]) -> None:
    """And to nobody else; what holds for all goes to all."""
    control = Control()
    control.push(mesh(NAS, VPS, PI))
    assert control.sent(after) == who
    assert control.sent(after) == set()


def test_a_node_that_comes_is_told_to_nobody_before_it_takes_something() -> None:
    control = Control()
    control.push(mesh(NAS, VPS, PI))
    assert control.sent(mesh(NAS, VPS, PI, node("attic", 4, "zsh"))) == {"attic"}
    assert control.sent(mesh(NAS, VPS, PI, node("attic", 4, "web"))) == {"attic", "nas"}
    full = {"range": RANGE, "peers": "full"}
    control.push(mesh(NAS, VPS, PI, network=full))
    assert control.sent(mesh(NAS, VPS, PI, node("cellar", 5, "zsh"), network=full)) == {
        *("cellar", "nas", "pi", "vps"),
    }


def test_a_key_that_is_not_there_yet_keeps_nobody_from_the_rest() -> None:
    """The declaration goes out without a network; once the key was reported it comes along."""
    control = Control()
    keyless = node("pi", 3, "web", key=None)
    first = control.push(mesh(NAS, VPS, keyless))
    pi = first["pi"]
    assert isinstance(pi, Send)
    assert pi.declaration.network is None
    assert peers(first["nas"]) == []
    assert control.sent(mesh(NAS, VPS, PI)) == {"nas", "pi"}


def test_a_network_that_goes_is_taken_away_from_everybody() -> None:
    control = Control()
    control.push(mesh(NAS, VPS, PI))
    outcomes = control.push(mesh_from_data({"format": 1, "modules": MODULES, "nodes": [NAS, VPS, PI]}))
    for outcome in outcomes.values():
        assert isinstance(outcome, Send)
        assert outcome.declaration.network is None
        for module in outcome.declaration.modules:
            assert all(given.address is None for a in module.answers for given in a.given)


def test_the_network_is_no_item_and_counts_for_no_removal() -> None:
    control = Control()
    (first,) = [o for n, o in control.push(mesh(NAS, VPS, PI)).items() if n == "vps"]
    assert isinstance(first, Send)
    assert first.declaration.items == 2
    assert control.sent(mesh(NAS, VPS, PI, network={"range": RANGE, "peers": "full"})) == {"nas", "pi", "vps"}
    alone = control.decide(mesh(VPS))["vps"]
    assert isinstance(alone, Send), "that peers go takes no word"


MOVED = mesh(node("nas", 1), node("vps", 2, "zsh", "postgres"), PI)


def test_who_waits_with_a_moved_answer_keeps_the_peer_that_it_still_takes_from() -> None:
    """> a push does not send a moved answer unless it is pinned or the push says so

    Until then pi goes on with what it was sent, and nas, which is sent something, does not cut it off.
    """
    control = Control()
    control.push(mesh(NAS, VPS, PI))
    outcomes = control.push(MOVED, allow_removals={"nas"})
    held = outcomes["pi"]
    assert isinstance(held, Held)
    assert [type(why) for why in held.whys] == [Moved]
    assert peers(outcomes["nas"]) == ["pi"]
    assert peers(outcomes["vps"]) == ["pi"], "who is taken from by plan is told at once"
    assert control.sent(MOVED, allow_removals={"nas"}) == set(), "and it stays so"


def test_who_waits_no_more_lets_the_peer_go() -> None:
    control = Control()
    control.push(mesh(NAS, VPS, PI))
    control.push(MOVED, allow_removals={"nas"})
    outcomes = control.push(MOVED, allow_removals={"nas"}, moves={("pi", "database")})
    assert peers(outcomes["pi"]) == ["vps"]
    assert peers(outcomes["nas"]) == []
    assert outcomes["vps"] == Unchanged(generation=2)


REFUSED = mesh(NAS, VPS, node("pi", 3, "ml"))
"""pi does not have the web any more, and is refused for want of a gpu: it keeps the web that it was sent."""


def test_who_is_refused_keeps_the_peers_that_it_takes_from() -> None:
    """> Refused nodes keep what they had"""
    control = Control()
    control.push(mesh(NAS, VPS, PI))
    outcomes = control.push(REFUSED)
    assert outcomes == {
        "nas": Unchanged(generation=1),
        "pi": TurnedDown(keeps=1),
        "vps": Unchanged(generation=1),
    }
    newer = node("nas", 1, "postgres", "zsh")
    assert peers(control.push(mesh(newer, VPS, node("pi", 3, "ml")))["nas"]) == ["pi"]
    assert peers(control.push(mesh(newer, VPS, node("pi", 3)), allow_removals={"pi"})["nas"]) == []


def test_who_is_refused_and_was_never_sent_anything_keeps_nothing() -> None:
    assert peers(Control().push(REFUSED)["nas"]) == []


def test_what_is_kept_are_the_takes_of_the_newest_that_was_sent() -> None:
    def sent(generation: int, *nodes: str) -> Sent:
        answers = [Answered(provision=f"from-{name}", node=name, module="m") for name in nodes]
        return Sent(node="pi", generation=generation, fingerprint="f", answers=answers)

    standings = {
        "pi": Standing(node="pi", sent=(sent(1, "attic"), sent(2, "nas", "pi", "vps"))),
        "nas": Standing(node="nas", sent=(evolve(sent(1, "vps"), node="nas"),)),
        "new": Standing(node="new"),
    }
    kept = [*kept_takes(["pi", "new", "unknown"], standings)]
    assert kept == [("pi", "nas"), ("pi", "vps")], "what it answers itself needs nobody"
    assert [*kept_takes(["pi", "nas"], standings)] == [("nas", "vps"), ("pi", "nas"), ("pi", "vps")]
    assert [*kept_takes([], standings)] == []
