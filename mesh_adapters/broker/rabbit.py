"""Both ends of the broker over RabbitMQ: see `Broker` and `HostBroker`, whose contract they keep."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

from mesh_adapters.broker import rabbit_builds, topology
from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.counting import counts
from mesh_adapters.broker.declaring import exchange, is_there, queue, settle
from mesh_adapters.broker.link import Link
from mesh_adapters.broker.publishing import Letter, publish
from mesh_adapters.broker.receiving import ANSWER_SECONDS, Source, Taker
from mesh_core.ports import BrokerRefused, Delivery, Kind, Outcome, Outgoing, QueueMissing, Refused

AT_ONCE: Final = 25
"""Nodes that are made, or asked for, in one go, before the broker is heard again."""


class RabbitBroker:
    """The control plane's end; with `within`, for no more than so many seconds."""

    def __init__(self, address: RabbitAddress, within: float | None = None) -> None:
        self._link = Link(address, within)
        self._taker = Taker(self._link)

    def add_nodes(self, nodes: Iterable[str]) -> None:
        """Make the queues of these nodes, and what they answer through.

        What all declarations go through is made without any node as well: a push to the first node could
        not tell otherwise that its queue is missing.
        """
        self._link.refresh()
        waiting = iter(nodes)
        some = tuple(islice(waiting, AT_ONCE))
        while True:
            with self._link.using(ANSWER_SECONDS) as (connection, _):
                channel = connection.channel()
                exchange(channel, topology.NODES)
                for node in some:
                    _declare(channel, node)
                settle(channel)
            if not (some := tuple(islice(waiting, AT_ONCE))):
                return

    def remove_node(self, node: str) -> bool:
        """Remove a node's queues and everything in them."""
        self._link.refresh()
        with self._link.using(ANSWER_SECONDS) as (connection, _):
            channel = connection.channel()
            there = [is_there(channel, binding.queue) for binding in topology.bindings_of(node)]
            for binding in topology.bindings_of(node):
                channel.queue_delete(binding.queue, nowait=True)
            channel.exchange_delete(topology.exchange_of(node), nowait=True)
            settle(channel)
        return any(there)

    def publish(self, outgoing: Sequence[Outgoing]) -> tuple[Outcome, ...]:
        """Send declarations, and say of each what became of it."""
        return publish(
            self._link,
            [
                Letter(exchange=topology.NODES, key=sent.node, kind=Kind.DECLARATION, body=sent.body)
                for sent in outgoing
            ],
        )

    def add_builders(self, builders: Iterable[str]) -> None:
        """Make the queue of requests, and what these builders answer through."""
        rabbit_builds.make(self._link, builders)

    def remove_builder(self, builder: str) -> bool:
        """Remove what a builder answers through, and what waits there."""
        return rabbit_builds.remove(self._link, builder)

    def ask(self, requests: Sequence[bytes]) -> tuple[Outcome, ...]:
        """Send requests to the queue that all builders share."""
        return rabbit_builds.ask(self._link, requests)

    def requests_waiting(self) -> int:
        """How many requests wait for a builder."""
        return rabbit_builds.waiting(self._link)

    def listen(self, nodes: Iterable[str], builders: Iterable[str] = ()) -> None:
        """Hand over what these nodes report and these builders answer, from now on."""
        wanted, answering = tuple(dict.fromkeys(nodes)), tuple(dict.fromkeys(builders))
        self._link.refresh()
        reported = (
            Source(topology.reported_by(node, kind), node, kind)
            for node in wanted
            for kind in topology.REPORTED
        )
        self._taker.sources([*reported, *rabbit_builds.sources_of(answering)])
        try:
            self._taker.subscribe()
        except BrokerRefused as refused:
            if refused.what is not Refused.UNFIT:
                raise
            self.add_nodes(wanted)
            if answering:
                self.add_builders(answering)
            self._taker.subscribe()

    def take(self, wait: float) -> Delivery | None:
        """The next report or hello."""
        return self._taker.take(wait)

    def waiting(self, nodes: Iterable[str]) -> Mapping[str, int]:
        """How many reports and hellos wait, by node."""
        self._link.refresh()
        asked = [(node, topology.reported_by(node, kind)) for node in nodes for kind in topology.REPORTED]
        with self._link.using(ANSWER_SECONDS) as (connection, watchdog):
            channel = connection.channel()
            found = counts(channel, [queue for _, queue in asked], watchdog.feed)
            channel.close()
        waiting = dict.fromkeys((node for node, _ in asked), 0)
        for (node, _), count in zip(asked, found, strict=True):
            waiting[node] += count
        return waiting

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


def _declare(channel: Any, node: str) -> None:
    exchange(channel, topology.exchange_of(node))
    for binding in topology.bindings_of(node):
        queue(channel, binding.queue, topology.NEWEST_ONLY)
        channel.queue_bind(binding.queue, binding.exchange, binding.key, nowait=True)
