"""The contract of builds in `mesh_core.ports.broker`: requests that builders share, and their answers.

Each adapter inherits these tests, with a `harness` of its own.
"""

from __future__ import annotations

import pytest

from mesh_core.ports import (
    ANSWER_LIMIT,
    DELIVERIES,
    REQUEST_LIMIT,
    Broker,
    BrokerRefused,
    BuilderBroker,
    Confirmed,
    Delivery,
    Kind,
    Refused,
    SetAside,
    Strange,
    TooLarge,
)
from tests.integration.broker.harness import Harness

SOON = 10.0
"""Long enough for what must come."""
NOT = 0.3
"""Long enough for what must not come, most times."""


def taken(end: Broker | BuilderBroker, wait: float = SOON) -> Delivery:
    delivery = end.take(wait)
    assert delivery is not None
    return delivery


class ContractOfBuilds:
    @pytest.fixture
    def broker(self, harness: Harness) -> Broker:
        broker = harness.broker()
        broker.add_builders(["smith", "mason"])
        return broker

    # Requests.

    def test_requests_wait_in_their_order_and_each_is_for_one_builder(
        self, harness: Harness, broker: Broker
    ) -> None:
        """> one durable (quorum) queue that all builders share; takes one request at a time"""
        assert broker.ask([b"1", b"2", b"3"]) == (Confirmed(),) * 3
        smith, mason = harness.builder("smith"), harness.builder("mason")
        first, second = taken(smith), taken(mason)
        assert {first.content, second.content} == {b"1", b"2"}
        assert (first.node, first.kind, first.again) == ("", Kind.REQUEST, False)
        assert smith.take(NOT) is None, "while one is not acknowledged there is no other"
        first.ack()
        assert taken(smith).content == b"3"

    def test_a_request_waits_for_a_builder_that_comes_later(self, harness: Harness) -> None:
        broker = harness.broker()
        assert broker.ask([b"1"]) == (Confirmed(),), "the queue is made where it is missing"
        assert broker.requests_waiting() == 1
        broker.add_builders(["smith"])
        delivery = taken(harness.builder("smith"))
        assert delivery.content == b"1"
        assert broker.requests_waiting() == 0
        delivery.ack()

    def test_nothing_waits_where_there_is_no_queue(self, harness: Harness) -> None:
        broker = harness.broker()
        assert broker.requests_waiting() == 0
        with pytest.raises(BrokerRefused) as refused:
            harness.builder("smith").take(NOT)
        assert refused.value.what is Refused.UNFIT

    def test_what_a_builder_had_that_was_killed_goes_to_another(
        self, harness: Harness, broker: Broker
    ) -> None:
        broker.ask([b"1"])
        smith, mason = harness.builder("smith"), harness.builder("mason")
        taken(smith)
        assert mason.take(NOT) is None
        harness.kill(smith)
        again = taken(mason)
        assert (again.content, again.again) == (b"1", True)
        again.ack()
        harness.kill(mason)
        assert harness.builder("smith").take(NOT) is None, "what is acknowledged does not come again"

    def test_what_is_handed_out_too_often_is_given_up(self, harness: Harness, broker: Broker) -> None:
        """> What is `Confirmed` is there until [...] it was handed out `DELIVERIES` times."""
        broker.ask([b"poison", b"good"])
        for _ in range(DELIVERIES):
            smith = harness.builder("smith")
            assert taken(smith).content == b"poison"
            harness.kill(smith)
        assert taken(harness.builder("mason")).content == b"good"
        broker.listen([], ["smith"])
        given_up = taken(broker)
        assert (given_up.content, given_up.kind, given_up.node) == (b"poison", Kind.GIVEN_UP, "")
        given_up.ack()
        assert broker.take(NOT) is None

    def test_adding_again_keeps_what_waits(self, harness: Harness, broker: Broker) -> None:
        broker.ask([b"1"])
        harness.builder("smith").answer(b"a")
        broker.add_builders(["smith", "mason"])
        assert broker.requests_waiting() == 1
        broker.listen([], ["smith"])
        assert taken(broker).content == b"a"

    # Answers.

    def test_answers_wait_one_behind_the_other(self, harness: Harness, broker: Broker) -> None:
        """> Answers wait one behind the other: none takes the place of another."""
        smith, mason = harness.builder("smith"), harness.builder("mason")
        for body in (b"1", b"2", b"3"):
            assert smith.answer(body) == Confirmed()
        assert mason.answer(b"4") == Confirmed()
        broker.listen([], ["smith", "mason"])
        found = []
        while (delivery := broker.take(NOT)) is not None:
            assert delivery.kind is Kind.ANSWER
            assert delivery.account == delivery.node
            found.append((delivery.node, delivery.content))
            delivery.ack()
        assert sorted(found) == [("mason", b"4"), ("smith", b"1"), ("smith", b"2"), ("smith", b"3")]
        assert [body for name, body in found if name == "smith"] == [b"1", b"2", b"3"]

    def test_an_answer_that_was_not_acknowledged_comes_again(self, harness: Harness, broker: Broker) -> None:
        harness.builder("smith").answer(b"1")
        broker.listen([], ["smith"])
        assert taken(broker).content == b"1"
        harness.kill(broker)
        second = harness.broker()
        second.listen([], ["smith"])
        again = taken(second)
        assert (again.content, again.again) == (b"1", True)

    def test_only_builders_that_are_listened_to_are_heard(self, harness: Harness, broker: Broker) -> None:
        harness.builder("smith").answer(b"1")
        harness.builder("mason").answer(b"2")
        broker.listen([], ["mason"])
        assert taken(broker).content == b"2"
        assert broker.take(NOT) is None
        broker.listen([])
        assert broker.take(NOT) is None

    def test_reports_and_answers_come_through_one_door(self, harness: Harness, broker: Broker) -> None:
        broker.add_nodes(["pi"])
        harness.host("pi").report(b"r")
        harness.builder("smith").answer(b"a")
        broker.listen(["pi"], ["smith"])
        found = {(delivery.kind, delivery.node) for delivery in (taken(broker), taken(broker))}
        assert found == {(Kind.REPORT, "pi"), (Kind.ANSWER, "smith")}
        broker.remove_node("pi")

    def test_listening_makes_what_is_missing(self, harness: Harness, broker: Broker) -> None:
        broker.remove_builder("mason")
        broker.listen([], ["mason"])
        assert harness.builder("mason").answer(b"1") == Confirmed()
        assert taken(broker).content == b"1"

    def test_a_removed_builder_is_answered_by_nobody(self, harness: Harness, broker: Broker) -> None:
        mason = harness.builder("mason")
        assert mason.answer(b"1") == Confirmed()
        assert broker.remove_builder("mason")
        assert not broker.remove_builder("mason")
        broker.add_builders(["mason"])
        broker.listen([], ["mason"])
        assert broker.take(NOT) is None

    def test_a_name_may_be_a_nodes_and_a_builders(self, harness: Harness, broker: Broker) -> None:
        """> the builder (assign it to a node and that node builds)"""
        broker.add_nodes(["pi"])
        broker.add_builders(["pi"])
        harness.host("pi").report(b"r")
        assert broker.remove_builder("pi")
        assert broker.waiting(["pi"]) == {"pi": 1}
        broker.remove_node("pi")

    # Sizes.

    def test_what_is_too_large_is_not_sent(self, harness: Harness, broker: Broker) -> None:
        too_large = TooLarge(size=REQUEST_LIMIT + 1, limit=REQUEST_LIMIT)
        assert broker.ask([bytes(REQUEST_LIMIT + 1), bytes(REQUEST_LIMIT)]) == (too_large, Confirmed())
        smith = harness.builder("smith")
        assert taken(smith).content == bytes(REQUEST_LIMIT)
        too_large = TooLarge(size=ANSWER_LIMIT + 1, limit=ANSWER_LIMIT)
        assert smith.answer(bytes(ANSWER_LIMIT + 1)) == too_large
        assert smith.answer(bytes(ANSWER_LIMIT)) == Confirmed()

    def test_what_is_too_large_or_asks_for_copies_is_set_aside(
        self, harness: Harness, broker: Broker
    ) -> None:
        harness.inject("", Kind.REQUEST, bytes(REQUEST_LIMIT + 1), {})
        harness.inject("smith", Kind.ANSWER, b"1", {"CC": ["elsewhere"]})
        harness.inject("smith", Kind.ANSWER, b"2", {}, signed=False)
        smith = harness.builder("smith")
        assert taken(smith).content == SetAside(why=Strange.TOO_LARGE, size=REQUEST_LIMIT + 1)
        broker.listen([], ["smith"])
        copied = taken(broker)
        assert copied.content == SetAside(why=Strange.COPIED, size=1)
        copied.ack()
        assert taken(broker).content == SetAside(why=Strange.UNSIGNED, size=1)

    # The end of an end.

    def test_a_closed_end_refuses_everything_and_closes_twice(self, harness: Harness, broker: Broker) -> None:
        smith = harness.builder("smith")
        assert smith.take(0) is None
        for end in (smith, broker):
            end.close()
            end.close()
        for use in (
            lambda: smith.take(0),
            lambda: smith.answer(b""),
            lambda: broker.add_builders(["smith"]),
            lambda: broker.remove_builder("smith"),
            lambda: broker.ask([b""]),
            lambda: broker.requests_waiting(),
        ):
            with pytest.raises(RuntimeError):
                use()
