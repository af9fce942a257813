"""Takes messages out of queues, one at a time from each, and hands them over as bytes.

What comes in is never decoded here, nor by the library below.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from functools import partial
from time import monotonic
from typing import Any, Final

from attrs import frozen

from mesh_adapters.broker.connecting import HEARTBEAT_SECONDS
from mesh_adapters.broker.link import Link, drain
from mesh_adapters.broker.outcomes import content_of
from mesh_core.ports import BrokerOutage, Kind, SetAside

SLICE_SECONDS: Final = 2.0
"""The longest wait between two looks at the heartbeat."""
ANSWER_SECONDS: Final = 10.0


@frozen
class Source:
    """A queue, and what a message that was in it is."""

    queue: str
    node: str
    kind: Kind


class RabbitDelivery:
    """See `mesh_core.ports.Delivery`."""

    def __init__(self, taker: Taker, source: Source, message: Any) -> None:
        headers: Mapping[str, object] = message.headers or {}
        self.node = source.node
        self.kind = source.kind
        self.account: str = message.properties.get("user_id", "")
        self.again: bool = message.delivery_info["redelivered"]
        self.content: bytes | SetAside = content_of(source.kind, _bytes(message.body), headers, self.account)
        self._taker = taker
        self._tag: int | None = message.delivery_tag
        self._life = taker.life

    def ack(self) -> None:
        """The broker may forget it."""
        tag, self._tag = self._tag, None
        if tag is not None and self._life == self._taker.life:
            self._taker.acknowledge(tag)


def _bytes(body: bytes | str) -> bytes:
    # The library starts from an empty text, and a message without a body leaves it there.
    return body if isinstance(body, bytes) else body.encode("utf-8")


class Taker:
    """Consumes from a set of queues, over a link that may come and go."""

    def __init__(self, link: Link) -> None:
        self._link = link
        self._sources: tuple[Source, ...] = ()
        self._channel: Any = None
        self._arrived: deque[RabbitDelivery] = deque()
        self.life = 0
        """Grows with each subscription: what one of them handed over no other can acknowledge."""
        self._link_life = 0

    @property
    def listens(self) -> bool:
        """Is there a queue to take from?"""
        return bool(self._sources)

    def sources(self, sources: Iterable[Source]) -> None:
        """Take from these queues, from the next `take` on."""
        self._forget()
        self._sources = tuple(sources)

    def subscribe(self) -> None:
        """Consume, unless it is done already; once it returns what waited has arrived.

        Raises outages; `BrokerRefused` where a queue is missing.
        """
        if self._channel is not None and self._link.connected and self._link_life == self._link.life:
            return
        self._forget()
        if not self._sources:
            return
        with self._link.using(ANSWER_SECONDS) as (connection, watchdog):
            channel = connection.channel()
            channel.auto_decode = False
            # For each consumer: a limit for the whole channel is refused by some queues and newer brokers.
            channel.basic_qos(0, 1, False)
            for number, source in enumerate(self._sources):
                channel.basic_consume(
                    source.queue,
                    consumer_tag=str(number),
                    callback=partial(self._arrive, source),
                    on_cancel=partial(self._lose, source),
                    nowait=True,
                )
            # A queue answers with its first message before the next word of the channel is read. Two
            # rounds: the first may overtake what a queue said in the meantime, the second cannot.
            channel.basic_qos(0, 1, False)
            watchdog.feed()
            channel.basic_qos(0, 1, False)
        self._channel = channel
        self._link_life = self._link.life

    def take(self, wait: float) -> RabbitDelivery | None:
        """The next message; None when there was none for so long. Raises outages."""
        self.subscribe()
        until = monotonic() + wait
        while not self._arrived:
            left = until - monotonic()
            with self._link.using(SLICE_SECONDS + ANSWER_SECONDS) as (connection, _):
                longest = min(SLICE_SECONDS, (connection.heartbeat or HEARTBEAT_SECONDS) / 4)
                came = drain(connection, min(longest, max(left, 0)))
                connection.heartbeat_tick()
            if not came and left <= 0:
                return None
        return self._arrived.popleft()

    def acknowledge(self, tag: int) -> None:
        """Say so to the broker, where that is still possible."""
        if self._channel is None or not self._link.connected or self._link_life != self._link.life:
            return
        try:
            with self._link.using(ANSWER_SECONDS):
                self._channel.basic_ack(tag)
        except BrokerOutage:
            pass  # it comes again

    def close(self) -> None:
        """What was taken can be acknowledged no more."""
        self.life += 1
        self._arrived.clear()
        self._channel = None

    def _arrive(self, source: Source, message: Any) -> None:
        self._arrived.append(RabbitDelivery(self, source, message))

    def _lose(self, source: Source, tag: str) -> None:
        # Its queue was removed; the others go on.
        self._sources = tuple(other for other in self._sources if other != source)

    def _forget(self) -> None:
        self.life += 1
        self._arrived.clear()
        channel, self._channel = self._channel, None
        if channel is not None and self._link.connected and self._link_life == self._link.life:
            try:
                with self._link.using(ANSWER_SECONDS):
                    channel.close()
            except BrokerOutage:
                pass
