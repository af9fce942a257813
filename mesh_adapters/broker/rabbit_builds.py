"""Builds over RabbitMQ: a builder's end, and what the control plane's end does for builds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import amqp  # type: ignore[import-untyped]

from mesh_adapters.broker import topology_of_builds as topology
from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.declaring import exchange, is_there, queue, settle
from mesh_adapters.broker.link import Link
from mesh_adapters.broker.publishing import Letter, publish
from mesh_adapters.broker.receiving import ANSWER_SECONDS, Source, Taker
from mesh_adapters.broker.topology import Binding
from mesh_core.ports import BrokerRefused, Delivery, Kind, Outcome, Refused


class RabbitBuilder:
    """The end of one builder."""

    def __init__(self, address: RabbitAddress, builder: str) -> None:
        self._link = Link(address)
        self._builder = builder
        self._taker = Taker(self._link)

    def take(self, wait: float) -> Delivery | None:
        """The next request."""
        if not self._taker.listens:
            self._taker.sources([Source(topology.REQUESTS, "", Kind.REQUEST)])
        delivery = self._taker.take(wait)
        if not self._taker.listens:
            raise BrokerRefused(str(self._link.address), Refused.UNFIT, "the queue of requests was removed")
        return delivery

    def answer(self, body: bytes) -> Outcome:
        """Say something of a request."""
        through = topology.binding_of(self._builder)
        letter = Letter(exchange=through.exchange, key=through.key, kind=Kind.ANSWER, body=body)
        (outcome,) = publish(self._link, [letter])
        return outcome

    def close(self) -> None:
        """Let go of the broker."""
        self._taker.close()
        self._link.close()


def make(link: Link, builders: Iterable[str]) -> None:
    """Make what all builders share, and what these answer through."""
    link.refresh()
    with link.using(ANSWER_SECONDS) as (connection, watchdog):
        channel = connection.channel()
        for binding, arguments in topology.OF_ALL:
            _bound(channel, binding, arguments)
        for builder in builders:
            _bound(channel, topology.binding_of(builder), topology.IN_TURN)
            watchdog.feed()
        settle(channel)


def _bound(channel: Any, binding: Binding, arguments: Any) -> None:
    exchange(channel, binding.exchange)
    queue(channel, binding.queue, arguments)
    channel.queue_bind(binding.queue, binding.exchange, binding.key, nowait=True)


def remove(link: Link, builder: str) -> bool:
    """Remove what a builder answers through: whether there was any."""
    link.refresh()
    with link.using(ANSWER_SECONDS) as (connection, _):
        channel = connection.channel()
        there = is_there(channel, topology.answers_of(builder))
        channel.queue_delete(topology.answers_of(builder), nowait=True)
        channel.exchange_delete(topology.answered_through(builder), nowait=True)
        settle(channel)
    return there


def ask(link: Link, requests: Sequence[bytes]) -> tuple[Outcome, ...]:
    """Send requests to the queue that all builders share, which is made where it is missing."""
    make(link, ())
    return publish(
        link,
        [
            Letter(exchange=topology.BUILDS, key=str(Kind.REQUEST), kind=Kind.REQUEST, body=body)
            for body in requests
        ],
    )


def waiting(link: Link) -> int:
    """How many requests wait for a builder; none where there is no queue."""
    link.refresh()
    with link.using(ANSWER_SECONDS) as (connection, _):
        channel = connection.channel()
        try:
            count = int(channel.queue_declare(topology.REQUESTS, passive=True).message_count)
        except amqp.NotFound:  # the library has opened the channel again by then
            count = 0
        channel.close()
    return count


def sources_of(builders: Iterable[str]) -> Iterator[Source]:
    """What the control plane hears of these builders; of none, where there are none."""
    answers = [Source(topology.answers_of(builder), builder, Kind.ANSWER) for builder in builders]
    yield from answers
    if answers:
        yield Source(topology.GIVEN_UP, "", Kind.GIVEN_UP)
