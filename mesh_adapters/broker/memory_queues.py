"""The queues of the in-process broker, and what all of its ends share."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from threading import Condition
from typing import Final, Protocol

from attrs import define, field, frozen

from mesh_core.ports import DELIVERIES, Confirmed, Kind, Outcome, Returned

NO_ROUTE: Final = "312 NO_ROUTE"
REPORTED: Final = (Kind.REPORT, Kind.HELLO)
OF_A_NODE: Final = (Kind.DECLARATION, *REPORTED)


@frozen
class Letter:
    """A message as it lies in a queue."""

    body: bytes = field(repr=False)
    account: str
    headers: Mapping[str, object]
    times: int = 0
    """How often it was handed out and came back."""

    @property
    def again(self) -> bool:
        """Was it handed out before?"""
        return self.times > 0


class Queue(Protocol):
    """Where letters wait; whoever takes one holds it beside the queue."""

    def put(self, letter: Letter) -> None:
        """One that comes."""

    def take(self) -> Letter | None:
        """The next."""

    def back(self, letter: Letter) -> None:
        """One that was taken and comes back, as one that was handed out once more."""

    def __len__(self) -> int:
        """How many wait."""


@define
class Newest:
    """Keeps what came last, alone: one that comes back is dropped where something newer is there."""

    letter: Letter | None = None

    def put(self, letter: Letter) -> None:
        """In the place of the one before."""
        self.letter = letter

    def take(self) -> Letter | None:
        """The one that waits."""
        taken, self.letter = self.letter, None
        return taken

    def back(self, letter: Letter) -> None:
        """Unless a newer one came."""
        self.letter = self.letter or letter

    def __len__(self) -> int:
        return self.letter is not None


@define
class InTurn:
    """Keeps all that came, in its order; one that came back too often goes to `given_up`, if there is one."""

    given_up: Queue | None = None
    letters: deque[Letter] = field(factory=deque)

    def put(self, letter: Letter) -> None:
        """Behind all others."""
        self.letters.append(letter)

    def take(self) -> Letter | None:
        """The first."""
        return self.letters.popleft() if self.letters else None

    def back(self, letter: Letter) -> None:
        """In front of all others."""
        if self.given_up is not None and letter.times >= DELIVERIES:
            self.given_up.put(letter)
        else:
            self.letters.appendleft(letter)

    def __len__(self) -> int:
        return len(self.letters)


QueueKey = tuple[str, Kind]
REQUESTS: Final = ("", Kind.REQUEST)
GIVEN_UP: Final = ("", Kind.GIVEN_UP)


class MemoryExchange:
    """What all ends of one in-process broker share."""

    def __init__(self) -> None:
        self.changed = Condition()
        self.queues: dict[QueueKey, Queue] = {}

    def add(self, node: str) -> None:
        """Make a node's queues."""
        with self.changed:
            for kind in OF_A_NODE:
                self.queues.setdefault((node, kind), Newest())

    def add_builders(self, builders: Iterable[str]) -> None:
        """Make the queue of requests, and what these builders answer through."""
        with self.changed:
            given_up = self.queues.setdefault(GIVEN_UP, InTurn())
            self.queues.setdefault(REQUESTS, InTurn(given_up=given_up))
            for builder in builders:
                self.queues.setdefault((builder, Kind.ANSWER), InTurn())

    def remove_builder(self, builder: str) -> bool:
        """Remove what a builder answers through: whether there was any."""
        with self.changed:
            removed = self.queues.pop((builder, Kind.ANSWER), None)
            self.changed.notify_all()
        return removed is not None

    def waiting(self, key: QueueKey) -> int:
        """How many letters wait in a queue; none where there is no queue."""
        queue = self.queues.get(key)
        return 0 if queue is None else len(queue)

    def remove(self, node: str) -> bool:
        """Remove a node's queues: whether there were any."""
        with self.changed:
            removed = [self.queues.pop((node, kind), None) for kind in OF_A_NODE]
            self.changed.notify_all()
        return any(queue is not None for queue in removed)

    def send(self, key: QueueKey, letter: Letter) -> Outcome:
        """Put a message in a queue."""
        with self.changed:
            queue = self.queues.get(key)
            if queue is None:
                return Returned(why=NO_ROUTE)
            queue.put(letter)
            self.changed.notify_all()
        return Confirmed()
