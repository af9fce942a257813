"""What a push decides, case by case (design, parts 3, 8 and 11)."""

from __future__ import annotations

from typing import Any

from attrs import evolve

from mesh_core import mesh_from_data
from mesh_core.analysis.material import Settled
from mesh_core.explain.push import why_it_waits
from mesh_core.model.sent import Answered, Standing
from mesh_core.push import (
    ClaimHeld,
    Held,
    Moved,
    NeedsWord,
    NothingToSay,
    Outcome,
    Send,
    TooLarge,
    TurnedDown,
    Unchanged,
    UnsettledTake,
    Words,
    decide,
)
from mesh_core.resolve import resolve
from tests.property.test_push import applied

DATABASE = {"name": "postgres", "version": "16", "provides": [{"name": "database", "scope": "mesh"}]}
OTHER = {"name": "mysql", "version": "8", "provides": [{"name": "database", "scope": "mesh"}]}
WEB = {"name": "web", "version": "1", "requires": ["database"]}
LEADER = {"name": "leader", "version": "1", "claims": [{"name": "scheduler", "scope": "mesh"}]}
TAKER = {"name": "taker", "version": "1", "claims": [{"name": "scheduler", "scope": "mesh"}]}
ML = {"name": "ml", "version": "1", "capabilities": ["gpu"]}


def node(name: str, *assign: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "assign": list(assign), **more}


class Control:
    """A control plane without a store: it remembers what it has sent."""

    def __init__(self) -> None:
        self.standings: dict[str, Standing] = {}

    def decide(self, modules: list[Any], nodes: list[Any], **words: Any) -> dict[str, Outcome]:
        mesh = mesh_from_data({"format": 1, "modules": modules, "nodes": nodes})
        return decide(mesh, Settled(resolution=resolve(mesh)), self.standings, Words(**words))

    def push(self, modules: list[Any], nodes: list[Any], **words: Any) -> dict[str, Outcome]:
        outcomes = self.decide(modules, nodes, **words)
        for name, outcome in outcomes.items():
            if isinstance(outcome, Send):
                standing = self.standings.get(name, Standing(node=name))
                sent = (*standing.sent, evolve(outcome.sent, published=True))
                self.standings[name] = evolve(standing, last=outcome.sent.generation, sent=sent)
        return outcomes

    def report(self, **well: bool) -> None:
        self.standings = applied(self.standings, well)


def test_the_first_push_sends_generation_1_and_the_next_nothing() -> None:
    control = Control()
    first = control.push([WEB, DATABASE], [node("nas", "postgres"), node("pi", "web"), node("attic")])
    assert {n: o.sent.generation for n, o in first.items() if isinstance(o, Send)} == {"nas": 1, "pi": 1}
    assert first["attic"] == NothingToSay()
    again = control.push([WEB, DATABASE], [node("nas", "postgres"), node("pi", "web"), node("attic")])
    assert again == {"attic": NothingToSay(), "nas": Unchanged(generation=1), "pi": Unchanged(generation=1)}


def test_an_answer_that_moves_waits_for_a_pin_or_a_word() -> None:
    """> An answer that differs from the one last declared is not sent unless it is pinned or ..."""
    control = Control()
    control.push([WEB, DATABASE], [node("nas", "postgres"), node("vps"), node("pi", "web")])
    moved = [node("nas"), node("vps", "postgres"), node("pi", "web")]
    move = Moved(
        before=Answered(provision="database", node="nas", module="postgres"),
        after=Answered(provision="database", node="vps", module="postgres"),
    )
    assert control.decide([WEB, DATABASE], moved)["pi"] == Held(whys=(move,))
    said = control.decide([WEB, DATABASE], moved, moves={("pi", "database")})["pi"]
    assert isinstance(said, Send)
    assert said.meant == (move,)
    assert isinstance(control.decide([WEB, DATABASE], moved, moves={("nas", "database")})["pi"], Held)
    pinned = [*moved[:2], node("pi", "web", pins={"database": "vps"})]
    assert isinstance(control.decide([WEB, DATABASE], pinned)["pi"], Send)
    assert "mesh pin pi database vps" in why_it_waits("pi", move)[1]


def test_another_module_on_the_same_node_is_a_move_too() -> None:
    control = Control()
    modules = [WEB, DATABASE, OTHER]
    control.push(modules, [node("nas", "postgres"), node("pi", "web")])
    outcome = control.decide(modules, [node("nas", "mysql"), node("pi", "web")])["pi"]
    assert isinstance(outcome, Held)
    assert isinstance(outcome.whys[0], Moved)


def test_a_new_question_is_no_move() -> None:
    control = Control()
    control.push([WEB, DATABASE], [node("nas", "postgres"), node("pi")])
    assert isinstance(
        control.decide([WEB, DATABASE], [node("nas", "postgres"), node("pi", "web")])["pi"], Send
    )


def test_a_claim_waits_until_it_was_reported_let_go() -> None:
    """> waits until that node has reported letting go, and says for whom it waits"""
    control = Control()
    modules = [LEADER, TAKER]
    control.push(modules, [node("nas", "leader"), node("pi")])
    control.report(nas=True)
    moved = [node("nas"), node("pi", "taker")]
    held = Held(whys=(ClaimHeld(claim="scheduler", module="taker", node="nas"),))
    assert control.push(modules, moved, allow_removals={"nas"})["pi"] == held
    assert control.push(modules, moved)["pi"] == held, "it was sent, and not reported"
    control.report(nas=False)
    assert control.push(modules, moved)["pi"] == held, "what failed may still run"
    control.report(nas=True)
    assert isinstance(control.push(modules, moved)["pi"], Send)


def test_a_claim_that_was_never_reported_is_held_as_soon_as_it_is_sent() -> None:
    control = Control()
    control.push([LEADER, TAKER], [node("nas", "leader"), node("pi")])
    assert isinstance(control.decide([LEADER, TAKER], [node("nas"), node("pi", "taker")])["pi"], Held)


def test_a_take_from_a_refused_node_goes_out_if_that_node_was_sent_what_is_taken() -> None:
    """> A plan with an unsettled take is sent if the refused node was already sent the module ..."""
    control = Control()
    modules = [
        WEB,
        {**DATABASE, "provides": [{"name": "database", "scope": "mesh", "exports": {"port": "1"}}]},
        ML,
    ]
    refused = [node("nas", "postgres", "ml"), node("pi", "web")]
    outcomes = control.decide(modules, refused)
    assert outcomes["nas"] == TurnedDown(keeps=None)
    take = UnsettledTake(provision="database", node="nas", module="postgres")
    assert outcomes["pi"] == Held(whys=(take,))
    assert "nas" in why_it_waits("pi", take)[0]
    control.push(modules, [node("nas", "postgres")])
    newer = [
        WEB,
        {**DATABASE, "provides": [{"name": "database", "scope": "mesh", "exports": {"port": "2"}}]},
        ML,
    ]
    outcomes = control.decide(newer, refused)
    assert outcomes["nas"] == TurnedDown(keeps=1)
    pi = outcomes["pi"]
    assert isinstance(pi, Send)
    given = pi.declaration.modules[0].answers[0].given[0]
    assert given.exports == (("port", "1"),), "as the provider was last sent"


def test_many_removals_need_a_word_and_everything_does() -> None:
    """> writes the word for that generation (and `empty: true` where nothing is left)"""
    control = Control()
    many = {
        "name": "many",
        "version": "1",
        "resources": [{"kind": "file", "path": f"/etc/{n}", "content": ""} for n in range(10)],
    }
    one = {"name": "one", "version": "1"}
    control.push([many, one], [node("pi", "many", "one")])
    held = control.decide([many, one], [node("pi", "one")])["pi"]
    assert isinstance(held, Held)
    assert isinstance(held.whys[0], NeedsWord)
    assert (len(held.whys[0].going), held.whys[0].most, held.whys[0].empty) == (10, 5, False)
    word = control.decide([many, one], [node("pi", "one")], allow_removals={"pi"})["pi"]
    assert isinstance(word, Send)
    assert (word.declaration.allow_removals, word.declaration.empty) == (True, False)
    nothing = control.decide([many, one], [node("pi")])["pi"]
    assert isinstance(nothing, Held)
    assert isinstance(nothing.whys[0], NeedsWord)
    assert nothing.whys[0].empty
    empty = control.decide([many, one], [node("pi")], allow_removals={"pi"})["pi"]
    assert isinstance(empty, Send)
    assert (empty.declaration.allow_removals, empty.declaration.empty) == (True, True)


def test_a_few_removals_need_none() -> None:
    control = Control()
    few = {
        "name": "few",
        "version": "1",
        "resources": [{"kind": "file", "path": f"/etc/{n}", "content": ""} for n in range(5)],
    }
    one = {"name": "one", "version": "1"}
    control.push([few, one], [node("pi", "few", "one")])
    assert isinstance(control.decide([few, one], [node("pi", "one")])["pi"], Send)


def test_what_a_machine_that_was_away_may_still_have_counts_as_its_own() -> None:
    """It skips the generation that had the word, so the next one needs it as well."""
    control = Control()
    many = {
        "name": "many",
        "version": "1",
        "resources": [{"kind": "file", "path": f"/etc/{n}", "content": ""} for n in range(10)],
    }
    one, two = ({"name": name, "version": "1"} for name in ("one", "two"))
    modules = [many, one, two]
    control.push(modules, [node("pi", "many", "one")])
    control.push(modules, [node("pi", "one")], allow_removals={"pi"})
    assert isinstance(control.decide(modules, [node("pi", "two")])["pi"], Held)
    control.report(pi=True)
    assert isinstance(control.decide(modules, [node("pi", "two")])["pi"], Send)


def test_the_word_alone_is_sent_where_it_was_missing() -> None:
    control = Control()
    nodes = [node("nas", "postgres")]
    control.push([DATABASE], nodes)
    assert control.decide([DATABASE], nodes)["nas"] == Unchanged(generation=1)
    assert isinstance(control.decide([DATABASE], nodes, allow_removals={"nas"})["nas"], Send)
    control.report(nas=True)
    assert control.decide([DATABASE], nodes, allow_removals={"nas"})["nas"] == Unchanged(generation=1)


def test_what_is_too_large_is_not_sent_and_its_largest_parts_are_named() -> None:
    modules = [
        {
            "name": f"m{n}",
            "version": "1",
            "resources": [{"kind": "file", "path": f"/etc/{n}", "content": "x" * 1_000_000}],
        }
        for n in range(9)
    ]
    outcome = Control().decide(modules, [node("pi", *(f"m{n}" for n in range(9)))])["pi"]
    assert isinstance(outcome, Held)
    assert isinstance(outcome.whys[0], TooLarge)
    assert outcome.whys[0].size > 8 * 1024 * 1024
    assert outcome.whys[0].largest


def test_a_store_that_is_behind_goes_on_from_what_it_heard() -> None:
    """> A control plane that hears of a newer one than it sent ... goes on from the one it heard"""
    control = Control()
    control.push([DATABASE], [node("nas", "postgres")])
    control.standings["nas"] = evolve(control.standings["nas"], last=41, sent=())
    outcome = control.decide([DATABASE], [node("nas", "postgres")])["nas"]
    assert isinstance(outcome, Send)
    assert outcome.sent.generation == 42
