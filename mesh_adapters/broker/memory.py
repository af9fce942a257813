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

from attrs import define, field, frozen

from mesh_adapters.broker.address import MemoryAddress
from mesh_adapters.broker.outcomes import CLOSED, content_of, too_large
from mesh_core.ports import Confirmed, Delivery, Kind, Outcome, Outgoing, QueueMissing, Returned, SetAside

NO_ROUTE: Final = "312 NO_ROUTE"
REPORTED: Final = (Kind.REPORT, Kind.HELLO)


@frozen
class Letter:
    """A message as it lies in a queue."""

    body: bytes = field(repr=False)
    account: str
    headers: Mapping[str, object]
    again: bool = False


@define
class Queue:
    """Keeps the newest message that came, alone; whoever takes it holds it beside the queue."""

    newest: Letter | None = None


QueueKey = tuple[str, Kind]


class MemoryExchange:
    """What all ends of one in-process broker share."""

    def __init__(self) -> None:
        self.changed = Condition()
        self.queues: dict[QueueKey, Queue] = {}

    def add(self, node: str) -> None:
        """Make a node's queues."""
        with self.changed:
            for kind in Kind:
                self.queues.setdefault((node, kind), Queue())

    def remove(self, node: str) -> None:
        """Remove a node's queues."""
        with self.changed:
            for kind in Kind:
                self.queues.pop((node, kind), None)
            self.changed.notify_all()

    def send(self, key: QueueKey, letter: Letter) -> Outcome:
        """Put a message in a queue, in the place of what waits there."""
        with self.changed:
            queue = self.queues.get(key)
            if queue is None:
                return Returned(why=NO_ROUTE)
            queue.newest = letter
            self.changed.notify_all()
        return Confirmed()


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
            if queue is not None and queue.newest is not None and key not in self._held:
                letter, queue.newest = queue.newest, None
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
                if queue.newest is None:
                    queue.newest = Letter(letter.body, letter.account, letter.headers, again=True)
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

    def remove_node(self, node: str) -> None:
        """Remove a node's queues and everything in them."""
        self._open().remove(node)

    def publish(self, outgoing: Sequence[Outgoing]) -> tuple[Outcome, ...]:
        """Send declarations, and say of each what became of it."""
        exchange = self._open()
        return tuple(
            too_large(Kind.DECLARATION, sent.body)
            or exchange.send((sent.node, Kind.DECLARATION), Letter(sent.body, "control", {}))
            for sent in outgoing
        )

    def listen(self, nodes: Iterable[str]) -> None:
        """Hand over what these nodes report, from now on."""
        self._open()
        self._release_all()
        wanted = tuple(dict.fromkeys(nodes))
        self.add_nodes(wanted)
        keys = [(node, kind) for node in wanted for kind in REPORTED]
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
            return {node: sum(self._waits((node, kind)) for kind in REPORTED) for node in nodes}

    def _waits(self, key: QueueKey) -> bool:
        queue = self._exchange.queues.get(key)
        return queue is not None and queue.newest is not None


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
