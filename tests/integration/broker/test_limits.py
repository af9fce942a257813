"""How much an account may have of a real RabbitMQ: enough for a machine that comes back, not for all."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from typing import Any

import amqp  # type: ignore[import-untyped]
import pytest
from attrs import evolve

from mesh_adapters.broker import topology
from mesh_adapters.broker.connecting import connect, drop
from mesh_adapters.broker.rabbit import RabbitBroker, RabbitHost
from mesh_core.ports import (
    REPORT_LIMIT,
    BrokerRefused,
    BrokerUnreachable,
    Confirmed,
    Kind,
    Refused,
    SetAside,
    Strange,
)
from tests.integration.broker.doors import PI, address, managed, until_ended
from tests.integration.broker.doors import broker as broker
from tests.integration.broker.harness import raw
from tests.integration.broker.server import RabbitServer

RIGHTS = topology.permissions_of("pi")


@pytest.fixture
def invited(server: RabbitServer, broker: RabbitBroker) -> Iterator[RabbitServer]:
    """A broker with queues and an account of pi's."""
    managed(server).ensure(PI, "first", RIGHTS)
    yield server
    managed(server).revoke(PI)


def left_behind(server: RabbitServer, stack: ExitStack) -> Any:
    """A connection whose other end never says anything again, as one of a machine that lost its power."""
    connection = connect(address(server, "first"), lambda _: None)
    stack.callback(drop, connection)
    channel = connection.channel()
    channel.basic_consume("mesh.node.pi")
    return connection


def test_a_machine_that_comes_back_is_let_in_beside_what_it_left_behind(invited: RabbitServer) -> None:
    """A broker keeps a connection that says nothing for a minute; a network may be lost every few seconds."""
    with ExitStack() as stack:
        for _ in range(12):
            left_behind(invited, stack)
        with closing(RabbitHost(address(invited, "first"), "pi")) as host:
            assert host.take(0) is None
            assert isinstance(host.hello(b"h"), Confirmed)
            assert isinstance(host.report(b"r"), Confirmed)
            assert host.take(0) is None


def test_there_are_channels_for_every_connection() -> None:
    """One too many ends the connection that it is in, and with it what the host was about."""
    most = 3  # it takes, it sends, and a subscription may be ending
    assert RIGHTS.channels >= RIGHTS.connections * most
    assert topology.CONTROL_PLANE.channels >= topology.CONTROL_PLANE.connections * most


def test_whoever_has_too_many_connections_is_told_that_and_not_that_a_queue_is_missing(
    invited: RabbitServer,
) -> None:
    managed(invited).ensure(PI, "first", evolve(RIGHTS, connections=1))
    with closing(RabbitHost(address(invited, "first"), "pi")) as host:
        with ExitStack() as stack:
            left_behind(invited, stack)
            for use in (lambda: host.take(0), lambda: host.hello(b"h")):
                with pytest.raises(BrokerRefused) as caught:
                    use()
                assert caught.value.what is Refused.LIMIT
        until_ended(managed(invited))
        assert host.take(0) is None, "once the other has ended it is let in"


def test_and_so_is_whoever_has_too_many_channels(invited: RabbitServer) -> None:
    managed(invited).ensure(PI, "first", evolve(RIGHTS, channels=1))
    with ExitStack() as stack:
        left_behind(invited, stack)
        host = stack.enter_context(closing(RabbitHost(address(invited, "first"), "pi")))
        with pytest.raises(BrokerRefused) as caught:
            host.take(0)
        assert caught.value.what is Refused.LIMIT


def test_a_program_that_ran_wild_leaves_the_broker_to_others(invited: RabbitServer) -> None:
    with ExitStack() as stack:
        for _ in range(RIGHTS.connections):
            left_behind(invited, stack)
        with pytest.raises(BrokerRefused) as caught:
            left_behind(invited, stack)
        assert caught.value.what is Refused.LIMIT
        with closing(RabbitHost(invited.address("nas"), "nas")) as host:
            assert host.take(0) is None


# What waits of what a node says.


@contextmanager
def limited(server: RabbitServer) -> Iterator[None]:
    """The limit is up, and the queues have heard of it."""
    managed(server).limit(topology.SAID)
    try:
        for kind in topology.REPORTED:
            until = time.monotonic() + 20
            while policy_of(server, topology.reported_by("pi", kind)) != topology.SAID.name:
                assert time.monotonic() < until
                time.sleep(0.2)
        assert policy_of(server, topology.declarations_of("pi")) is None
        yield
    finally:
        server.ctl("clear_operator_policy", topology.SAID.name)


def policy_of(server: RabbitServer, queue: str) -> str | None:
    """The operator's policy that a queue keeps to."""
    found: str | None = managed(server)._data(f"queues/%2F/{queue}").get("operator_policy")
    return found


def said(server: RabbitServer, size: int) -> None:
    """Confirmed by the broker, whatever it does with it."""
    with raw(address(server, "first")) as channel:
        channel.confirm_select()
        message = amqp.Message(b"x" * size, user_id=PI)
        channel.basic_publish_confirm(
            message, exchange="mesh.from.pi", routing_key=str(Kind.REPORT), mandatory=True
        )


def test_one_machine_cannot_silence_the_others(invited: RabbitServer, broker: RabbitBroker) -> None:
    """What is far too large is dropped by the broker; what may be is kept, and a little more is told."""
    with limited(invited):
        said(invited, REPORT_LIMIT)
        assert broker.waiting(["pi"]) == {"pi": 1}
        said(invited, topology.SAID.content + 1)
        assert broker.waiting(["pi"]) == {"pi": 0}
        said(invited, REPORT_LIMIT + 1)
        broker.listen(["pi", "nas"])
        delivery = broker.take(5)
        assert delivery is not None
        assert delivery.content == SetAside(why=Strange.TOO_LARGE, size=REPORT_LIMIT + 1)
        delivery.ack()


# How long a command may take at the broker beside its own work.


def test_what_has_so_many_seconds_takes_no_more(server: RabbitServer) -> None:
    """From the first word on, not for each: a broker may freeze once it has let somebody in."""
    with closing(RabbitBroker(server.address(), within=2)) as broker:
        broker.add_nodes(["pi"])
        server.freeze()
        try:
            began = time.monotonic()
            with pytest.raises(BrokerUnreachable):
                broker.add_nodes(["pi"])
            assert time.monotonic() - began < 6
        finally:
            server.thaw()
