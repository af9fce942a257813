"""Pushes over a real RabbitMQ, and everything that may be killed or lost meanwhile (hazards, *Faults*)."""

from __future__ import annotations

import time
from contextlib import suppress

import pytest

from mesh_adapters.flows.push import Asked, publish
from mesh_core.ports import BrokerOutage
from tests.integration.flows.conftest import pushed
from tests.integration.flows.test_push import marked, motd, node
from tests.integration.push.conftest import RabbitSite

LIMIT = 15.0
"""Seconds: > no publish blocks over 15 s"""


def test_a_push_a_report_and_a_second_push(site: RabbitSite) -> None:
    site.has([motd("1")], [node("pi", "motd"), node("nas", "motd")])
    assert site.push().publishing.confirmed == {"nas": 1, "pi": 1}
    host = site.host("pi")
    delivery = host.take(5)
    assert delivery is not None
    delivery.ack()
    host.close()
    site.report("pi", 1)
    assert set(site.collect().reports) == {"pi"}
    assert site.push().publishing.confirmed == {}


def test_a_host_that_was_away_for_three_generations_finds_the_newest(site: RabbitSite) -> None:
    for version in "1234":
        site.has([motd(version)], [node("pi", "motd")])
        site.push()
    host = site.host("pi")
    delivery = host.take(5)
    assert delivery is not None
    assert isinstance(delivery.content, bytes)
    assert b'"generation":4' in delivery.content
    delivery.ack()
    assert host.take(0.2) is None


def test_what_was_confirmed_is_there_after_the_broker_was_killed(site: RabbitSite) -> None:
    """> kill -9 of the broker: reconnects, outbox replays"""
    site.has([motd("1")], [node("pi", "motd")])
    site.push()
    site.server.kill()
    site.has_offline([motd("2")], [node("pi", "motd")])
    begun = time.monotonic()
    try:
        pushed(site.store, site.another_broker(), Asked())
    except BrokerOutage:
        pass
    else:
        raise AssertionError("there was no broker")
    assert time.monotonic() - begun < LIMIT
    assert marked(site) == {("pi", 1): 1, ("pi", 2): 0}
    site.server.start()
    host = site.host("pi")
    delivery = host.take(10)
    assert delivery is not None, "generation 1 was confirmed"
    delivery.ack()
    host.close()
    assert publish(site.store, site.another_broker()).confirmed == {"pi": 2}
    site.broker = site.another_broker()


def test_a_frozen_broker_is_given_up_in_time_and_nothing_is_marked(site: RabbitSite) -> None:
    """> no default confirm timeout: a frozen broker blocked a publish past 25 s"""
    site.has([motd("1")], [node("pi", "motd")])
    broker = site.another_broker()
    broker.add_nodes(["pi"])
    site.server.freeze()
    try:
        begun = time.monotonic()
        try:
            confirmed = pushed(site.store, broker, Asked()).publishing.confirmed
        except BrokerOutage:
            confirmed = {}
        assert time.monotonic() - begun < LIMIT
        assert confirmed == {}
        assert marked(site) == {("pi", 1): 0}
    finally:
        site.server.thaw()
    site.broker = site.another_broker()
    assert publish(site.store, site.broker).confirmed == {"pi": 1}


def test_connections_that_the_administrator_closes_lose_nothing(site: RabbitSite) -> None:
    site.has([motd("1")], [node("pi", "motd")])
    broker = site.another_broker()
    broker.waiting(["pi"])
    site.server.ctl("close_all_connections", "the administrator says so")
    with suppress(BrokerOutage):
        pushed(site.store, broker, Asked())
    while site.store.pending():
        publish(site.store, broker)
    assert marked(site) == {("pi", 1): 1}
    site.broker = site.another_broker()


def test_a_queue_that_was_deleted_is_made_again(site: RabbitSite) -> None:
    site.has([motd("1")], [node("pi", "motd")])
    site.another_broker().remove_node("pi")
    assert site.push().publishing.confirmed == {"pi": 1}
    delivery = site.host("pi").take(5)
    assert delivery is not None
    delivery.ack()


@pytest.mark.long
def test_a_thousand_nodes(site: RabbitSite) -> None:
    names = [f"node-{n:04}" for n in range(1_000)]
    site.has([motd("1")], [node(name, "motd") for name in names])
    done = site.push()
    assert done.publishing.confirmed == dict.fromkeys(names, 1)
    assert sum(marked(site).values()) == 1_000


def test_of_many_nodes_those_that_reported_are_taken_in(site: RabbitSite) -> None:
    names = [f"other-{n:04}" for n in range(200)]
    site.has([motd("1")], [node(name, "motd") for name in names])
    for name in names[:20]:
        site.report(name, None)
    assert set(site.collect().reports) == set(names[:20])
