"""The contract of `Broker` and `HostBroker` in `mesh_core.ports`, sentence by sentence.

Each adapter inherits these tests, with a `harness` of its own.
"""

from __future__ import annotations

from collections.abc import Iterable

import pytest

from mesh_core.ports import (
    DECLARATION_LIMIT,
    REPORT_LIMIT,
    Broker,
    Confirmed,
    Delivery,
    HostBroker,
    Kind,
    Outcome,
    Outgoing,
    QueueMissing,
    Returned,
    SetAside,
    Strange,
    TooLarge,
)
from tests.integration.broker.harness import Harness

SOON = 10.0
"""Long enough for what must come."""
NOT = 0.3
"""Long enough for what must not come, most times."""

GARBAGE = (b"", b"\xff\xfe\0", b"{", b"null", b"\x1f\x8b" + bytes(100), "é".encode("latin-1"))


def send(broker: Broker, node: str, *bodies: bytes) -> tuple[Outcome, ...]:
    return broker.publish([Outgoing(node=node, body=body) for body in bodies])


def sent(broker: Broker, node: str, *bodies: bytes) -> None:
    assert send(broker, node, *bodies) == (Confirmed(),) * len(bodies)


def taken(end: Broker | HostBroker, wait: float = SOON) -> Delivery:
    delivery = end.take(wait)
    assert delivery is not None
    return delivery


def all_taken(broker: Broker) -> list[Delivery]:
    found = []
    while (delivery := broker.take(0)) is not None:
        found.append(delivery)
        delivery.ack()
    return found


def facts(deliveries: Iterable[Delivery]) -> set[tuple[str, Kind, bytes | SetAside]]:
    return {(delivery.node, delivery.kind, delivery.content) for delivery in deliveries}


class BrokerContract:
    @pytest.fixture
    def broker(self, harness: Harness) -> Broker:
        broker = harness.broker()
        broker.add_nodes(["pi", "nas"])
        return broker

    # Declarations.

    def test_the_newest_declaration_is_kept_alone(self, harness: Harness, broker: Broker) -> None:
        sent(broker, "pi", b"1")
        sent(broker, "pi", b"2", b"3")
        host = harness.host("pi")
        delivery = taken(host)
        assert (delivery.content, delivery.node, delivery.kind) == (b"3", "pi", Kind.DECLARATION)
        assert not delivery.again
        delivery.ack()
        assert host.take(NOT) is None

    def test_a_taker_that_waits_gets_it_when_it_comes(self, harness: Harness, broker: Broker) -> None:
        host = harness.host("pi")
        assert host.take(0) is None
        sent(broker, "pi", b"1")
        assert taken(host).content == b"1"

    def test_what_has_no_queue_is_returned_and_the_others_go_out(
        self, harness: Harness, broker: Broker
    ) -> None:
        nodes = ("pi", "ghost", "nas", "spectre")
        outcomes = broker.publish([Outgoing(node=node, body=node.encode()) for node in nodes])
        assert [type(outcome) for outcome in outcomes] == [Confirmed, Returned, Confirmed, Returned]
        (returned,) = {outcome.why for outcome in outcomes if isinstance(outcome, Returned)}
        assert returned.startswith("312")
        assert taken(harness.host("pi")).content == b"pi"
        assert taken(harness.host("nas")).content == b"nas"

    def test_nothing_to_send_is_nothing(self, broker: Broker) -> None:
        assert broker.publish([]) == ()

    @pytest.mark.parametrize("body", GARBAGE)
    def test_bodies_are_bytes_whatever_is_in_them(
        self, harness: Harness, broker: Broker, body: bytes
    ) -> None:
        sent(broker, "pi", body)
        assert taken(harness.host("pi")).content == body
        host = harness.host("nas")
        assert host.report(body) == Confirmed()
        broker.listen(["nas"])
        assert taken(broker, 0).content == body

    def test_a_batch_of_200_arrives_each_in_its_queue(self, harness: Harness, broker: Broker) -> None:
        nodes = [f"b{number}" for number in range(200)]
        broker.add_nodes(nodes)
        bodies = {node: node.encode() * 500 for node in nodes}
        outcomes = broker.publish([Outgoing(node=node, body=bodies[node]) for node in nodes])
        assert outcomes == (Confirmed(),) * 200
        for node in nodes[::40]:
            assert taken(self.any_host(harness, node)).content == bodies[node]

    def any_host(self, harness: Harness, node: str) -> HostBroker:
        """An end of a node that has no account of its own."""
        return harness.host(node)

    def test_what_was_not_acknowledged_comes_again(self, harness: Harness, broker: Broker) -> None:
        sent(broker, "pi", b"1")
        first = harness.host("pi")
        assert not taken(first).again
        harness.kill(first)
        again = taken(harness.host("pi"))
        assert (again.content, again.again) == (b"1", True)

    def test_what_was_acknowledged_does_not_come_again(self, harness: Harness, broker: Broker) -> None:
        sent(broker, "pi", b"1")
        first = harness.host("pi")
        taken(first).ack()
        first.close()
        assert harness.host("pi").take(NOT) is None

    def test_a_killed_taker_brings_nothing_old_back_over_something_new(
        self, harness: Harness, broker: Broker
    ) -> None:
        sent(broker, "pi", b"1")
        first = harness.host("pi")
        taken(first)
        sent(broker, "pi", b"2")
        harness.kill(first)
        host = harness.host("pi")
        newest = taken(host)
        assert newest.content == b"2"
        newest.ack()
        assert host.take(NOT) is None

    def test_while_one_is_held_there_is_no_other_and_then_the_newest(
        self, harness: Harness, broker: Broker
    ) -> None:
        host = harness.host("pi")
        sent(broker, "pi", b"1")
        held = taken(host)
        sent(broker, "pi", b"2")
        sent(broker, "pi", b"3")
        assert host.take(NOT) is None
        held.ack()
        newest = taken(host)
        assert newest.content == b"3"
        newest.ack()
        assert host.take(NOT) is None

    def test_ack_after_close_does_nothing_and_it_comes_again(self, harness: Harness, broker: Broker) -> None:
        sent(broker, "pi", b"1")
        first = harness.host("pi")
        late = taken(first)
        first.close()
        late.ack()
        assert taken(harness.host("pi")).content == b"1"

    def test_ack_after_a_loss_does_nothing_and_it_comes_again(self, harness: Harness, broker: Broker) -> None:
        sent(broker, "pi", b"1")
        first = harness.host("pi")
        late = taken(first)
        harness.kill(first)
        second = harness.host("pi")
        again = taken(second)
        late.ack()
        assert second.take(0) is None
        harness.kill(second)
        assert taken(harness.host("pi")).content == again.content == b"1"

    def test_ack_twice_acknowledges_nothing_else(self, harness: Harness, broker: Broker) -> None:
        sent(broker, "pi", b"1")
        host = harness.host("pi")
        first = taken(host)
        first.ack()
        sent(broker, "pi", b"2")
        assert taken(host).content == b"2"
        first.ack()
        assert host.take(NOT) is None
        harness.kill(host)
        assert taken(harness.host("pi")).content == b"2"

    def test_nodes_do_not_see_each_others(self, harness: Harness, broker: Broker) -> None:
        sent(broker, "pi", b"for pi")
        nas = harness.host("nas")
        assert nas.take(NOT) is None
        sent(broker, "nas", b"for nas")
        assert taken(harness.host("pi")).content == b"for pi"
        assert taken(nas).content == b"for nas"

    # Adding and removing.

    def test_adding_again_keeps_what_waits(self, harness: Harness, broker: Broker) -> None:
        sent(broker, "pi", b"1")
        assert harness.host("pi").report(b"r") == Confirmed()
        broker.add_nodes(["pi", "nas"])
        assert taken(harness.host("pi")).content == b"1"
        assert broker.waiting(["pi"]) == {"pi": 1}

    def test_a_removed_node_has_nothing(self, harness: Harness, broker: Broker) -> None:
        sent(broker, "pi", b"1")
        assert harness.host("pi").hello(b"h") == Confirmed()
        assert broker.remove_node("pi")
        assert not broker.remove_node("pi")
        assert isinstance(send(broker, "pi", b"2")[0], Returned)
        assert broker.waiting(["pi", "nas"]) == {"pi": 0, "nas": 0}
        with pytest.raises(QueueMissing) as missing:
            harness.host("pi").take(0)
        assert missing.value.node == "pi"
        broker.add_nodes(["pi"])
        assert harness.host("pi").take(NOT) is None
        sent(broker, "nas", b"still there")

    # Reports and hellos.

    def test_a_report_and_a_hello_say_which_node_they_are_from(
        self, harness: Harness, broker: Broker
    ) -> None:
        for node in ("pi", "nas"):
            host = harness.host(node)
            assert host.report(b'{"node": "somebody else"}') == Confirmed()
            assert host.hello(b"hello") == Confirmed()
        broker.listen(["pi", "nas"])
        found = all_taken(broker)
        assert facts(found) == {
            (node, kind, body)
            for node in ("pi", "nas")
            for kind, body in ((Kind.REPORT, b'{"node": "somebody else"}'), (Kind.HELLO, b"hello"))
        }
        assert len(found) == 4
        assert all(delivery.account == delivery.node for delivery in found)

    def test_the_newest_report_is_kept_alone_and_beside_the_newest_hello(
        self, harness: Harness, broker: Broker
    ) -> None:
        host = harness.host("pi")
        for number in (b"1", b"2", b"3"):
            assert host.hello(b"h" + number) == Confirmed()
            assert host.report(b"r" + number) == Confirmed()
        assert broker.waiting(["pi", "nas", "ghost"]) == {"pi": 2, "nas": 0, "ghost": 0}
        assert broker.waiting(["pi"]) == {"pi": 2}
        assert broker.waiting(["ghost", "pi", "shade"]) == {"ghost": 0, "pi": 2, "shade": 0}
        broker.listen(["pi"])
        assert facts(all_taken(broker)) == {("pi", Kind.REPORT, b"r3"), ("pi", Kind.HELLO, b"h3")}
        assert broker.waiting(["pi"]) == {"pi": 0}

    def test_a_listener_gets_what_comes_later_too(self, harness: Harness, broker: Broker) -> None:
        broker.listen(["pi", "nas"])
        assert broker.take(0) is None
        assert harness.host("pi").report(b"1") == Confirmed()
        held = taken(broker)
        assert held.content == b"1"
        assert harness.host("pi").report(b"2") == Confirmed()
        assert harness.host("nas").report(b"3") == Confirmed()
        assert taken(broker).content == b"3"
        assert broker.take(NOT) is None
        held.ack()
        assert taken(broker).content == b"2"

    def test_only_those_listened_to_are_handed_over(self, harness: Harness, broker: Broker) -> None:
        for node in ("pi", "nas"):
            assert harness.host(node).report(node.encode()) == Confirmed()
        broker.listen(["nas"])
        assert facts(all_taken(broker)) == {("nas", Kind.REPORT, b"nas")}
        broker.listen(["pi"])
        assert facts(all_taken(broker)) == {("pi", Kind.REPORT, b"pi")}
        broker.listen([])
        assert harness.host("pi").report(b"more") == Confirmed()
        assert broker.take(NOT) is None

    def test_all_that_waited_is_there_once_listening_returns(self, harness: Harness, broker: Broker) -> None:
        nodes = [f"n{number}" for number in range(60)]
        broker.add_nodes(nodes)
        expected = {(node, kind, node.encode()) for node in nodes for kind in (Kind.REPORT, Kind.HELLO)}
        for node, kind, body in expected:
            harness.inject(node, kind, body, {})
        for _ in range(3):  # what is not acknowledged comes again
            other = harness.broker()
            other.listen(nodes)
            found = []
            while (delivery := other.take(0)) is not None:
                found.append(delivery)
            assert len(found) == 120
            assert facts(found) == expected
            other.close()

    def test_a_report_that_was_not_acknowledged_comes_again(self, harness: Harness, broker: Broker) -> None:
        assert harness.host("pi").report(b"1") == Confirmed()
        broker.listen(["pi"])
        assert taken(broker).content == b"1"
        harness.kill(broker)
        second = harness.broker()
        second.listen(["pi"])
        again = taken(second)
        assert (again.content, again.again) == (b"1", True)
        again.ack()
        second.close()
        third = harness.broker()
        third.listen(["pi"])
        assert third.take(NOT) is None

    def test_listening_anew_hands_over_again_what_was_not_acknowledged(
        self, harness: Harness, broker: Broker
    ) -> None:
        assert harness.host("pi").report(b"1") == Confirmed()
        broker.listen(["pi"])
        late = taken(broker)
        broker.listen(["pi", "nas"])
        again = taken(broker)
        assert (again.content, again.again) == (b"1", True)
        late.ack()
        assert broker.take(0) is None
        harness.kill(broker)
        second = harness.broker()
        second.listen(["pi"])
        assert taken(second).content == b"1"

    def test_listening_makes_what_is_missing(self, harness: Harness, broker: Broker) -> None:
        broker.remove_node("nas")
        broker.listen(["pi", "nas"])
        assert harness.host("nas").report(b"1") == Confirmed()
        assert taken(broker).content == b"1"
        sent(broker, "nas", b"2")

    def test_what_is_removed_meanwhile_is_listened_to_no_more_and_the_others_are(
        self, harness: Harness, broker: Broker
    ) -> None:
        broker.listen(["pi", "nas"])
        for remover in (broker, harness.broker()):
            remover.remove_node("nas")
            assert broker.take(0) is None
            assert harness.host("pi").report(b"1") == Confirmed()
            delivery = taken(broker)
            assert (delivery.node, delivery.content) == ("pi", b"1")
            delivery.ack()
            broker.add_nodes(["nas"])
            assert harness.host("nas").report(b"2") == Confirmed()
            assert broker.take(NOT) is None
            broker.listen(["pi", "nas"])
            assert facts(all_taken(broker)) == {("nas", Kind.REPORT, b"2")}

    def test_a_host_whose_queue_is_removed_is_told_and_goes_on_once_it_is_back(
        self, harness: Harness, broker: Broker
    ) -> None:
        host = harness.host("pi")
        assert host.take(0) is None
        broker.remove_node("pi")
        for _ in range(2):
            with pytest.raises(QueueMissing):
                host.take(NOT)
        broker.add_nodes(["pi"])
        assert host.take(0) is None
        sent(broker, "pi", b"1")
        assert taken(host).content == b"1"

    def test_publishing_and_listening_do_not_disturb_each_other(
        self, harness: Harness, broker: Broker
    ) -> None:
        broker.listen(["pi"])
        assert harness.host("pi").report(b"1") == Confirmed()
        sent(broker, "pi", b"a", b"b")
        held = taken(broker)
        sent(broker, "pi", b"c")
        held.ack()
        assert broker.take(NOT) is None
        assert broker.waiting(["pi"]) == {"pi": 0}

    # Sizes, and what is set aside.

    def test_what_is_too_large_is_not_sent_and_the_others_are(self, harness: Harness, broker: Broker) -> None:
        largest = bytes(DECLARATION_LIMIT)
        outcomes = broker.publish(
            [
                Outgoing(node="pi", body=largest + b"x"),
                Outgoing(node="pi", body=largest),
                Outgoing(node="nas", body=b"1"),
                Outgoing(node="nas", body=largest + b"x"),
            ]
        )
        refused = TooLarge(size=DECLARATION_LIMIT + 1, limit=DECLARATION_LIMIT)
        assert outcomes == (refused, Confirmed(), Confirmed(), refused)
        assert taken(harness.host("pi")).content == largest
        assert taken(harness.host("nas")).content == b"1"

    def test_a_report_has_a_limit_of_its_own(self, harness: Harness, broker: Broker) -> None:
        host = harness.host("pi")
        refused = TooLarge(size=REPORT_LIMIT + 1, limit=REPORT_LIMIT)
        assert host.report(bytes(REPORT_LIMIT + 1)) == host.hello(bytes(REPORT_LIMIT + 1)) == refused
        assert broker.waiting(["pi"]) == {"pi": 0}
        assert host.report(bytes(REPORT_LIMIT)) == Confirmed()
        broker.listen(["pi"])
        assert taken(broker).content == bytes(REPORT_LIMIT)

    def test_what_is_too_large_is_set_aside_where_it_arrives(self, harness: Harness, broker: Broker) -> None:
        harness.inject("pi", Kind.DECLARATION, bytes(DECLARATION_LIMIT + 1), {})
        harness.inject("pi", Kind.REPORT, bytes(REPORT_LIMIT + 1), {})
        host = harness.host("pi")
        broker.listen(["pi"])
        for end, limit in ((host, DECLARATION_LIMIT), (broker, REPORT_LIMIT)):
            strange = taken(end)
            assert strange.content == SetAside(why=Strange.TOO_LARGE, size=limit + 1)
            strange.ack()
            assert end.take(NOT) is None
        sent(broker, "pi", b"1")
        assert taken(host).content == b"1"

    @pytest.mark.parametrize("header", ["CC", "BCC"])
    def test_what_asks_for_copies_is_set_aside(self, harness: Harness, broker: Broker, header: str) -> None:
        if header == "BCC":
            self.bcc_reaches_us(harness, broker)
        harness.inject("pi", Kind.REPORT, b"1", {"CC": ["elsewhere"]})
        harness.inject("pi", Kind.DECLARATION, b"1", {"CC": []})
        broker.listen(["pi"])
        assert taken(broker).content == SetAside(why=Strange.COPIED, size=1)
        assert taken(harness.host("pi")).content == SetAside(why=Strange.COPIED, size=1)

    def bcc_reaches_us(self, harness: Harness, broker: Broker) -> None:
        """Where a broker leaves the header in."""
        harness.inject("nas", Kind.REPORT, b"1", {"BCC": ["elsewhere"]})
        broker.listen(["nas"])
        assert taken(broker).content == SetAside(why=Strange.COPIED, size=1)

    def test_what_no_account_signed_is_set_aside(self, harness: Harness, broker: Broker) -> None:
        harness.inject("pi", Kind.HELLO, b"12", {}, signed=False)
        broker.listen(["pi"])
        strange = taken(broker)
        assert strange.content == SetAside(why=Strange.UNSIGNED, size=2)
        assert (strange.node, strange.kind, strange.account) == ("pi", Kind.HELLO, "")

    # The end of an end.

    def test_a_closed_end_refuses_everything_and_closes_twice(self, harness: Harness, broker: Broker) -> None:
        host = harness.host("pi")
        assert host.take(0) is None
        for end in (host, broker):
            end.close()
            end.close()
        for use in (
            lambda: host.take(0),
            lambda: host.report(b""),
            lambda: host.hello(b""),
            lambda: broker.add_nodes(["pi"]),
            lambda: broker.remove_node("pi"),
            lambda: broker.publish([Outgoing(node="pi", body=b"")]),
            lambda: broker.listen(["pi"]),
            lambda: broker.waiting(["pi"]),
        ):
            with pytest.raises(RuntimeError):
                use()
