"""Both ends of the broker inside one process: see `Broker` and `HostBroker`, whose contract they keep.

For the demo and quick tests; nothing of it outlives the process. An end belongs to one thread, as with
any broker; what they share is guarded, so hosts may have threads of their own.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from threading import Condition
from time import monotonic
from typing import Final

from attrs import evolve

from mesh_adapters.broker.address import MemoryAddress
from mesh_adapters.broker.memory_queues import (
    GIVEN_UP,
    REPORTED,
    REQUESTS,
    Letter,
    MemoryExchange,
    Queue,
    QueueKey,
)
from mesh_adapters.broker.outcomes import CLOSED, content_of, too_large
from mesh_core.ports import (
    BrokerRefused,
    Delivery,
    Kind,
    Outcome,
    Outgoing,
    QueueMissing,
    Refused,
    SetAside,
)

_EXCHANGES: Final[dict[str, MemoryExchange]] = {}
_MAKING: Final = Condition()


def exchange_at(address: MemoryAddress) -> MemoryExchange:
    """The broker of that name in this process."""
    with _MAKING:
        return _EXCHANGES.setdefault(address.name, MemoryExchange())


class MemoryDelivery:
    """See `mesh_core.ports.Delivery`."""

    def __init__(self, key: QueueKey, letter: Letter, release: Callable[[], None]) -> None:
        self.node, self.kind = key
        self.account = letter.account
        self.again = letter.again
        self.content: bytes | SetAside = content_of(self.kind, letter.body, letter.headers, letter.account)
        self._release = release

    def ack(self) -> None:
        """The broker may forget it."""
        self._release()


class _End:
    """What both ends have: queues that they take from, and what they took and still hold."""

    def __init__(self, exchange: MemoryExchange) -> None:
        self._exchange = exchange
        self._held: dict[QueueKey, tuple[Queue, Letter]] = {}
        self._closed = False

    def _open(self) -> MemoryExchange:
        if self._closed:
            raise RuntimeError(CLOSED)
        return self._exchange

    def _next(self, keys: Iterable[QueueKey], wait: float) -> MemoryDelivery | None:
        exchange = self._open()
        until = monotonic() + wait
        with exchange.changed:
            while (found := self._hold_one(keys)) is None:
                left = until - monotonic()
                if left <= 0:
                    return None
                exchange.changed.wait(left)
            return found

    def _hold_one(self, keys: Iterable[QueueKey]) -> MemoryDelivery | None:
        for key in keys:
            queue = self._queue(key)
            letter = queue.take() if queue is not None and key not in self._held else None
            if queue is not None and letter is not None:
                self._held[key] = held = (queue, letter)
                return MemoryDelivery(key, letter, partial(self._let_go, key, held))
        return None

    def _queue(self, key: QueueKey) -> Queue | None:
        return self._exchange.queues.get(key)

    def _let_go(self, key: QueueKey, held: tuple[Queue, Letter]) -> None:
        with self._exchange.changed:
            if self._held.get(key) is held:
                del self._held[key]
                self._exchange.changed.notify_all()

    def close(self) -> None:
        """Let go of the broker: what is held comes again, unless a newer one has come."""
        self._closed = True
        self._release_all()

    def _release_all(self) -> None:
        with self._exchange.changed:
            for queue, letter in self._held.values():
                queue.back(evolve(letter, times=letter.times + 1))
            self._held.clear()
            self._exchange.changed.notify_all()


class MemoryBroker(_End):
    """The control plane's end."""

    def __init__(self, exchange: MemoryExchange) -> None:
        super().__init__(exchange)
        self._listened: dict[QueueKey, Queue] = {}

    def add_nodes(self, nodes: Iterable[str]) -> None:
        """Make the queues of these nodes."""
        exchange = self._open()
        for node in nodes:
            exchange.add(node)

    def remove_node(self, node: str) -> bool:
        """Remove a node's queues and everything in them."""
        return self._open().remove(node)

    def publish(self, outgoing: Sequence[Outgoing]) -> tuple[Outcome, ...]:
        """Send declarations, and say of each what became of it."""
        exchange = self._open()
        return tuple(
            too_large(Kind.DECLARATION, sent.body)
            or exchange.send((sent.node, Kind.DECLARATION), Letter(sent.body, "control", {}))
            for sent in outgoing
        )

    def add_builders(self, builders: Iterable[str]) -> None:
        """Make the queue of requests, and what these builders answer through."""
        self._open().add_builders(builders)

    def remove_builder(self, builder: str) -> bool:
        """Remove what a builder answers through, and what waits there."""
        return self._open().remove_builder(builder)

    def ask(self, requests: Sequence[bytes]) -> tuple[Outcome, ...]:
        """Send requests to the queue that all builders share."""
        exchange = self._open()
        exchange.add_builders(())
        return tuple(
            too_large(Kind.REQUEST, body) or exchange.send(REQUESTS, Letter(body, "control", {}))
            for body in requests
        )

    def requests_waiting(self) -> int:
        """How many requests wait for a builder."""
        return self._open().waiting(REQUESTS)

    def listen(self, nodes: Iterable[str], builders: Iterable[str] = ()) -> None:
        """Hand over what these nodes report and these builders answer, from now on."""
        self._open()
        self._release_all()
        wanted, answering = tuple(dict.fromkeys(nodes)), tuple(dict.fromkeys(builders))
        self.add_nodes(wanted)
        keys = [(node, kind) for node in wanted for kind in REPORTED]
        if answering:
            self.add_builders(answering)
            keys += [*((builder, Kind.ANSWER) for builder in answering), GIVEN_UP]
        self._listened = {key: self._exchange.queues[key] for key in keys}

    def take(self, wait: float) -> Delivery | None:
        """The next report or hello."""
        return self._next(self._listened, wait)

    def _queue(self, key: QueueKey) -> Queue | None:
        queue = super()._queue(key)
        return queue if queue is self._listened.get(key) else None

    def waiting(self, nodes: Iterable[str]) -> Mapping[str, int]:
        """How many reports and hellos wait, by node."""
        exchange = self._open()
        with exchange.changed:
            return {node: sum(exchange.waiting((node, kind)) for kind in REPORTED) for node in nodes}


class MemoryHost(_End):
    """The end of one node's host."""

    def __init__(self, exchange: MemoryExchange, node: str) -> None:
        super().__init__(exchange)
        self._node = node

    def take(self, wait: float) -> Delivery | None:
        """This node's declaration."""
        exchange = self._open()
        key = (self._node, Kind.DECLARATION)
        if key not in exchange.queues:
            raise QueueMissing("memory://", self._node)
        return self._next([key], wait)

    def report(self, body: bytes) -> Outcome:
        """Send a report."""
        return self._say(Kind.REPORT, body)

    def hello(self, body: bytes) -> Outcome:
        """Say hello."""
        return self._say(Kind.HELLO, body)

    def _say(self, kind: Kind, body: bytes) -> Outcome:
        exchange = self._open()
        letter = Letter(body, self._node, {})
        return too_large(kind, body) or exchange.send((self._node, kind), letter)


class MemoryBuilder(_End):
    """The end of one builder."""

    def __init__(self, exchange: MemoryExchange, builder: str) -> None:
        super().__init__(exchange)
        self._builder = builder

    def take(self, wait: float) -> Delivery | None:
        """The next request."""
        if REQUESTS not in self._open().queues:
            raise BrokerRefused("memory://", Refused.UNFIT, "there is no queue of requests")
        return self._next([REQUESTS], wait)

    def answer(self, body: bytes) -> Outcome:
        """Say something of a request."""
        exchange = self._open()
        letter = Letter(body, self._builder, {})
        return too_large(Kind.ANSWER, body) or exchange.send((self._builder, Kind.ANSWER), letter)
