"""Both ends of the broker over RabbitMQ: see `Broker` and `HostBroker`, whose contract they keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import amqp  # type: ignore[import-untyped]

from mesh_adapters.broker import topology
from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.link import Link
from mesh_adapters.broker.publishing import Letter, publish
from mesh_adapters.broker.receiving import ANSWER_SECONDS, Source, Taker
from mesh_core.ports import BrokerRefused, Delivery, Kind, Outcome, Outgoing, QueueMissing, Refused

AT_ONCE: Final = 25
"""Nodes that are made, or asked for, in one go, before the broker is heard again."""


class RabbitBroker:
    """The control plane's end."""

    def __init__(self, address: RabbitAddress) -> None:
        self._link = Link(address)
        self._taker = Taker(self._link)

    def add_nodes(self, nodes: Iterable[str]) -> None:
        """Make the queues of these nodes, and what they answer through."""
        self._link.refresh()
        waiting = iter(nodes)
        while some := tuple(islice(waiting, AT_ONCE)):
            with self._link.using(ANSWER_SECONDS) as (connection, _):
                channel = connection.channel()
                _exchange(channel, topology.NODES)
                for node in some:
                    _declare(channel, node)
                _settle(channel)

    def remove_node(self, node: str) -> None:
        """Remove a node's queues and everything in them."""
        self._link.refresh()
        with self._link.using(ANSWER_SECONDS) as (connection, _):
            channel = connection.channel()
            for binding in topology.bindings_of(node):
                channel.queue_delete(binding.queue, nowait=True)
            channel.exchange_delete(topology.exchange_of(node), nowait=True)
            _settle(channel)

    def publish(self, outgoing: Sequence[Outgoing]) -> tuple[Outcome, ...]:
        """Send declarations, and say of each what became of it."""
        return publish(
            self._link,
            [
                Letter(exchange=topology.NODES, key=sent.node, kind=Kind.DECLARATION, body=sent.body)
                for sent in outgoing
            ],
        )

    def listen(self, nodes: Iterable[str]) -> None:
        """Hand over what these nodes report, from now on."""
        wanted = tuple(dict.fromkeys(nodes))
        self._link.refresh()
        self._taker.sources(
            Source(topology.reported_by(node, kind), node, kind)
            for node in wanted
            for kind in topology.REPORTED
        )
        try:
            self._taker.subscribe()
        except BrokerRefused as refused:
            if refused.what is not Refused.UNFIT:
                raise
            self.add_nodes(wanted)
            self._taker.subscribe()

    def take(self, wait: float) -> Delivery | None:
        """The next report or hello."""
        return self._taker.take(wait)

    def waiting(self, nodes: Iterable[str]) -> Mapping[str, int]:
        """How many reports and hellos wait, by node."""
        self._link.refresh()
        counts = {}
        with self._link.using(ANSWER_SECONDS) as (connection, watchdog):
            channel = connection.channel()
            for node in nodes:
                queues = (topology.reported_by(node, kind) for kind in topology.REPORTED)
                counts[node] = sum(_count(channel, queue) for queue in queues)
                watchdog.feed()
            channel.close()
        return counts

    def close(self) -> None:
        """Let go of the broker."""
        self._taker.close()
        self._link.close()


class RabbitHost:
    """The end of one node's host."""

    def __init__(self, address: RabbitAddress, node: str) -> None:
        self._link = Link(address)
        self._node = node
        self._taker = Taker(self._link)
        self._source = Source(topology.declarations_of(node), node, Kind.DECLARATION)

    def take(self, wait: float) -> Delivery | None:
        """This node's declaration."""
        if not self._taker.listens:
            self._taker.sources([self._source])
        try:
            delivery = self._taker.take(wait)
        except BrokerRefused as refused:
            if refused.what is not Refused.UNFIT:
                raise
            raise QueueMissing(str(self._link.address), self._node) from refused
        if not self._taker.listens:
            raise QueueMissing(str(self._link.address), self._node)
        return delivery

    def report(self, body: bytes) -> Outcome:
        """Send a report."""
        return self._say(Kind.REPORT, body)

    def hello(self, body: bytes) -> Outcome:
        """Say hello."""
        return self._say(Kind.HELLO, body)

    def _say(self, kind: Kind, body: bytes) -> Outcome:
        letter = Letter(exchange=topology.exchange_of(self._node), key=str(kind), kind=kind, body=body)
        (outcome,) = publish(self._link, [letter])
        return outcome

    def close(self) -> None:
        """Let go of the broker."""
        self._taker.close()
        self._link.close()


def _exchange(channel: Any, name: str) -> None:
    channel.exchange_declare(name, topology.EXCHANGE_TYPE, durable=True, auto_delete=False, nowait=True)


def _declare(channel: Any, node: str) -> None:
    _exchange(channel, topology.exchange_of(node))
    for binding in topology.bindings_of(node):
        channel.queue_declare(
            binding.queue,
            durable=True,
            auto_delete=False,
            arguments=dict(topology.NEWEST_ONLY),
            nowait=True,
        )
        channel.queue_bind(binding.queue, binding.exchange, binding.key, nowait=True)


def _settle(channel: Any) -> None:
    # Answered once all before it is done. What the broker refused of that is said by then: a channel that
    # is being closed would not hear it.
    channel.basic_qos(0, 1, False)
    channel.close()


def _count(channel: Any, queue: str) -> int:
    try:
        count: int = channel.queue_declare(queue, passive=True).message_count
    except amqp.NotFound:  # the library has opened the channel again by then
        return 0
    return count
