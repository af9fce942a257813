"""Push: decided and written down at once, published, looked at again, marked (design, part 8)."""

from __future__ import annotations

import sqlite3
from typing import Any

import pytest

from mesh_adapters.flows.push import Asked, publish
from mesh_core.ports import BrokerUnreachable, Outcome, Outgoing, Returned, Unconfirmed, Unreachable
from mesh_core.push import TurnedDown
from tests.integration.flows.conftest import Site, pushed


def motd(version: str) -> dict[str, Any]:
    return {
        "name": "motd",
        "version": version,
        "resources": [{"kind": "file", "path": "/etc/motd", "content": version}],
    }


def node(name: str, *assign: str) -> dict[str, Any]:
    return {"name": name, "assign": list(assign)}


def marked(site: Site) -> dict[tuple[str, int], int]:
    """Every row of the outbox, in the table itself, and whether it is marked."""
    with sqlite3.connect(site.path) as db:
        return {
            (row[0], row[1]): row[2] for row in db.execute("SELECT node, generation, published FROM sent")
        }


class Killed(BaseException):
    """The process ends here."""


STEPS = ("written down", "before publishing", "published", "looked again", "marked")


def test_a_push_sends_each_node_its_own_and_a_second_sends_nothing(site: Site) -> None:
    site.has([motd("1")], [node("pi", "motd"), node("nas", "motd"), node("attic")])
    assert site.push().publishing.confirmed == {"nas": 1, "pi": 1}
    assert marked(site) == {("nas", 1): 1, ("pi", 1): 1}
    declaration = site.waiting("pi")
    assert declaration is not None
    assert (declaration.node, declaration.generation) == ("pi", 1)
    assert site.push().publishing.confirmed == {}
    assert site.waiting("pi") is None


def test_only_the_nodes_that_are_named_are_sent_anything(site: Site) -> None:
    site.has([motd("1")], [node("pi", "motd"), node("nas", "motd")])
    assert site.push(nodes=["pi"]).publishing.confirmed == {"pi": 1}
    assert marked(site) == {("pi", 1): 1}


def test_a_refused_node_keeps_what_it_has_and_the_others_go_out(site: Site) -> None:
    site.has([motd("1")], [node("pi", "motd"), node("nas", "motd")])
    site.push()
    site.has([motd("2")], [node("pi", "motd", "ghost"), node("nas", "motd")])
    done = site.push()
    assert done.looked.outcomes["pi"] == TurnedDown(keeps=1)
    assert done.publishing.confirmed == {"nas": 2}


@pytest.mark.parametrize("at", STEPS)
def test_a_push_that_is_killed_at_any_step_loses_nothing(site: Site, at: str) -> None:
    """> kill -9 of itself: outbox replays"""
    site.has([motd("1")], [node("pi", "motd")])

    def kill(step: str) -> None:
        if step == at:
            raise Killed

    with pytest.raises(Killed):
        site.push(kill)
    publish(site.store, site.broker)
    declaration = site.waiting("pi")
    assert declaration is not None
    assert declaration.generation == 1
    assert marked(site) == {("pi", 1): 1}
    assert site.push().publishing.confirmed == {}


@pytest.mark.parametrize("at", STEPS)
def test_of_two_pushes_that_overlap_the_newer_is_what_waits(site: Site, at: str) -> None:
    """> push A stopped between transaction and publish, push B complete, A continued ...: it ends at B's"""
    site.has([motd("1")], [node("pi", "motd")])

    def another(step: str) -> None:
        if step == at:
            site.has([motd("2")], [node("pi", "motd")])
            pushed(site.another_store(), site.another_broker(), Asked())

    site.push(another)
    declaration = site.waiting("pi")
    assert declaration is not None
    assert declaration.generation == 2
    assert marked(site)["pi", 2] == 1


class Failing:
    """A broker that does something else when it is to publish, once."""

    def __init__(self, site: Site, outcome: Outcome | Exception) -> None:
        self._real = site.another_broker()
        self._outcome: Outcome | Exception | None = outcome

    def publish(self, outgoing: list[Outgoing]) -> tuple[Outcome, ...]:
        outcome, self._outcome = self._outcome, None
        if isinstance(outcome, Exception):
            raise outcome
        if outcome is not None:
            return tuple(outcome for _ in outgoing)
        return self._real.publish(outgoing)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)


def test_what_is_not_confirmed_stays_pending_and_goes_out_with_the_next(site: Site) -> None:
    """> a returned or unconfirmed message is a failure that keeps its row pending"""
    site.has([motd("1")], [node("pi", "motd")])
    broker: Any = Failing(site, Unconfirmed(why="nothing came"))
    done = pushed(site.store, broker, Asked())
    assert done.publishing.failed == {"pi": Unconfirmed(why="nothing came")}
    assert marked(site) == {("pi", 1): 0}
    assert site.push().publishing.confirmed == {"pi": 1}
    assert marked(site) == {("pi", 1): 1}


def test_a_broker_that_is_away_leaves_it_written_down(site: Site) -> None:
    site.has([motd("1")], [node("pi", "motd")])
    away = BrokerUnreachable("amqp://nowhere", Unreachable.NO_ANSWER, "")
    broker: Any = Failing(site, away)
    with pytest.raises(BrokerUnreachable):
        pushed(site.store, broker, Asked())
    assert marked(site) == {("pi", 1): 0}
    assert site.push().publishing.confirmed == {"pi": 1}


def test_a_queue_that_is_gone_is_made_again(site: Site) -> None:
    """> queue missing or purged: 312, pending; sent again"""
    site.has([motd("1")], [node("pi", "motd"), node("nas", "motd")])
    site.broker.remove_node("pi")
    assert site.push().publishing.confirmed == {"nas": 1, "pi": 1}
    assert site.waiting("pi") is not None


def test_what_is_returned_twice_stays_pending(site: Site) -> None:
    site.has([motd("1")], [node("pi", "motd")])

    class Gone(Failing):
        def publish(self, outgoing: list[Outgoing]) -> tuple[Outcome, ...]:
            return tuple(Returned(why="312 NO_ROUTE") for _ in outgoing)

    broker: Any = Gone(site, Returned(why=""))
    assert pushed(site.store, broker, Asked()).publishing.failed == {"pi": Returned(why="312 NO_ROUTE")}
    assert marked(site) == {("pi", 1): 0}


def test_generations_go_on_for_a_node_that_was_removed_and_added_again(site: Site) -> None:
    """> Generations only grow, for a node's name, for ever: they are kept when the node is removed."""
    from mesh_core.change import DropNode
    from mesh_core.event import Event
    from tests.integration.flows.conftest import AT

    site.has([motd("1")], [node("pi", "motd")])
    site.push()
    with site.store.writing() as session:
        session.record(Event(at=AT, who="test", command="test", changes=[DropNode(node="pi")]))
    assert marked(site) == {}
    site.has([motd("1")], [node("pi", "motd")])
    assert site.push().publishing.confirmed == {"pi": 2}
