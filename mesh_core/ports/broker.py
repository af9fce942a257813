"""The port of the broker: how declarations reach nodes, and how nodes answer; sizes, outcomes, outages.

Two ends: `Broker` is the control plane's, `HostBroker` is that of one node's host. Bodies are bytes,
whatever is in them: nobody here reads them. Delivery is at least once; only a generation, which is in
the body, says what is newer.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from attrs import field, frozen

from mesh_core.wire.text import ANSWER_LIMIT as ANSWER_LIMIT
from mesh_core.wire.text import DECLARATION_LIMIT as DECLARATION_LIMIT
from mesh_core.wire.text import REPORT_LIMIT as REPORT_LIMIT
from mesh_core.wire.text import REQUEST_LIMIT as REQUEST_LIMIT

DELIVERIES = 4
"""How often a request is handed out before it is given up: whoever had it was lost with it each time."""


@frozen(kw_only=True)
class Outgoing:
    """A declaration on its way to a node."""

    node: str
    body: bytes = field(repr=False)


@frozen(kw_only=True)
class Confirmed:
    """The broker has it, on its disk: it is there after the broker is killed and started again."""


@frozen(kw_only=True)
class Returned:
    """There is no queue for it; `why` is the broker's word. Nobody will ever get this message."""

    why: str


@frozen(kw_only=True)
class Unconfirmed:
    """It may have arrived or not: no confirm came, and `why` says what came in its place."""

    why: str


@frozen(kw_only=True)
class TooLarge:
    """It was not sent: it has `size` bytes and may have `limit`."""

    size: int
    limit: int


Outcome = Confirmed | Returned | Unconfirmed | TooLarge
"""What became of one message. Whatever is not `Confirmed` is still to be sent."""


class Kind(StrEnum):
    """What a message says."""

    DECLARATION = "declaration"
    REPORT = "report"
    HELLO = "hello"
    REQUEST = "request"
    """For a build: to whichever builder is free."""
    ANSWER = "answer"
    """What a builder says of a request."""
    GIVEN_UP = "given-up"
    """A request that was handed out too often, as it was sent."""


class Strange(StrEnum):
    """Why a message is not even looked into."""

    TOO_LARGE = "too-large"
    COPIED = "copied"
    """It asks, in its header, for copies to be sent elsewhere (CC, BCC), which nobody here does."""
    UNSIGNED = "unsigned"
    """It does not say by which account it was sent."""


@frozen(kw_only=True)
class SetAside:
    """What stands in place of the body of a message that is not to be read; it had `size` bytes."""

    why: Strange
    size: int


class Delivery(Protocol):
    """A message that was handed over, and that the broker keeps until it is acknowledged."""

    @property
    def node(self) -> str:
        """The node that it is for, or from; the builder that an answer is from; else empty.

        Known from the queue that it was in, never from its text.
        """

    @property
    def kind(self) -> Kind:
        """What it is, known from the queue too."""

    @property
    def content(self) -> bytes | SetAside:
        """The body as it was sent, to be decoded by whoever takes it; or why it is not handed out.

        What was set aside is to be counted, and acknowledged like any other.
        """

    @property
    def account(self) -> str:
        """The account that sent it, vouched for by the broker; empty where it was set aside for that."""

    @property
    def again(self) -> bool:
        """Was it handed out before, to somebody who may not have acknowledged it?"""

    def ack(self) -> None:
        """It has been saved: the broker may forget it. Never raises.

        Once the end that handed it over is closed, or has lost the broker since, this does nothing,
        and the message comes again, unless a newer one has taken its place. A second time is nothing.
        """


class Broker(Protocol):
    """The control plane's end.

    What holds of every broker:

    - A node's queue keeps the newest declaration that arrived, alone: one that comes while another
      waits takes its place, and so while another is taken and not yet acknowledged.
    - What was taken and not acknowledged when its taker is lost comes again, unless a newer one has
      come. Nothing is ever put back on purpose.
    - What is `Confirmed` survives the broker's being killed.
    - A newer report of a node takes the place of its older one that nobody took, and so with hellos:
      however long nobody listens, at most one of each waits for each node.
    - Nodes neither see nor displace each other's messages.
    - One thread uses an end. No call waits for ever: publishing fails at most 15 seconds after the
      broker's last sign of life.

    Every method raises `BrokerUnreachable`, after a few tries, and `BrokerRefused`; the next call
    begins anew, with a new connection. `RuntimeError` once the end is closed.
    """

    def add_nodes(self, nodes: Iterable[str]) -> None:
        """Make the queues of these nodes, and what they answer through.

        What is there already stays as it is, with what waits in it.
        """

    def remove_node(self, node: str) -> bool:
        """Remove a node's queues and everything that waits in them: whether there were any."""

    def publish(self, outgoing: Sequence[Outgoing]) -> tuple[Outcome, ...]:
        """Send declarations, and say of each, in the same order, what became of it.

        They are sent in one go, and then the confirms are waited for: as long as some come, and at
        most 10 seconds for the next. Two for one node arrive in their order. `TooLarge` are those
        over `DECLARATION_LIMIT`; the others are sent all the same. An outage is raised only before
        anything was sent; what is lost on the way is `Unconfirmed`.
        """

    def listen(self, nodes: Iterable[str], builders: Iterable[str] = ()) -> None:
        """From now on `take` hands over what these nodes report and these builders answer, and no others.

        With builders it also hands over the requests that were given up. Answers wait one behind the other:
        none takes the place of another.

        Once this returns, what waited has arrived: `take(0)` hands it over, one after the other, and
        its first None says that this was all. What a node lacks of its queues is made. A node that is
        removed later is listened to no more, and the others go on. What was taken before and is not
        acknowledged comes again.
        """

    def take(self, wait: float) -> Delivery | None:
        """The next report or hello, or None when there was none for `wait` seconds.

        The next one of a node and kind comes after the one before was acknowledged. After an outage the
        next call takes from the same queues again, or raises `BrokerRefused` (unfit) where one is gone
        meanwhile: whether it should be there, whoever calls `listen` knows. Whoever listens calls this
        every few seconds: it is also what keeps the connection alive.
        """

    def add_builders(self, builders: Iterable[str]) -> None:
        """Make the queue of requests, and what these builders answer through.

        What is there already stays as it is, with what waits in it.
        """

    def remove_builder(self, builder: str) -> bool:
        """Remove what a builder answers through, and what waits there: whether there was any of it."""

    def ask(self, requests: Sequence[bytes]) -> tuple[Outcome, ...]:
        """Send requests for builds to the one queue that all builders share; see `publish`.

        The queue is made where it is missing. `TooLarge` over `REQUEST_LIMIT`. What is `Confirmed` is there
        until one builder has acknowledged it, or it was handed out `DELIVERIES` times.
        """

    def requests_waiting(self) -> int:
        """How many requests wait for a builder, those left out that one has; 0 where there is no queue."""

    def waiting(self, nodes: Iterable[str]) -> Mapping[str, int]:
        """By node, how many of its reports and hellos wait to be taken; changes nothing.

        A node without queues has none.
        """

    def close(self) -> None:
        """Let go of the broker. What was taken and not acknowledged comes again. Twice is nothing."""


class HostBroker(Protocol):
    """The end of one node's host; what holds of every broker (see `Broker`) holds here.

    Every method raises `BrokerUnreachable`, after a few tries, and `BrokerRefused`; the next call
    begins anew. `RuntimeError` once the end is closed.
    """

    def take(self, wait: float) -> Delivery | None:
        """This node's declaration, or None when there was none for `wait` seconds.

        One at a time: while one is not acknowledged there is no other, and then the newest. It is
        saved first and acknowledged then, at once: a broker takes it back after some minutes. Raises
        `QueueMissing` where the node has no queue. To be called every few seconds, also while an
        older one is being applied: it is also what keeps the connection alive.
        """

    def report(self, body: bytes) -> Outcome:
        """Send a report; it takes the place of an older one that still waits. See `Broker.publish`.

        `TooLarge` over `REPORT_LIMIT`.
        """

    def hello(self, body: bytes) -> Outcome:
        """Say hello, in the same way. It does not take a report's place."""

    def close(self) -> None:
        """Let go of the broker. What was taken and not acknowledged comes again. Twice is nothing."""


class BuilderBroker(Protocol):
    """The end of one builder; what holds of every broker (see `Broker`) holds here.

    Every method raises `BrokerUnreachable`, after a few tries, and `BrokerRefused`; the next call begins
    anew. `RuntimeError` once the end is closed.
    """

    def take(self, wait: float) -> Delivery | None:
        """The next request, or None when there was none for `wait` seconds.

        One at a time: while one is not acknowledged there is no other. One that is not acknowledged when the
        connection is lost goes to whichever builder is free. To be called every few seconds, also while one
        is at work: it is also what keeps the connection alive. Raises `BrokerRefused` (unfit) where there is
        no queue of requests.
        """

    def answer(self, body: bytes) -> Outcome:
        """Say something of a request. See `Broker.publish`; `TooLarge` over `ANSWER_LIMIT`."""

    def close(self) -> None:
        """Let go of the broker. A request that is not acknowledged comes again. Twice is nothing."""


class Unreachable(StrEnum):
    """Why a broker cannot be reached."""

    NO_ADDRESS = "no-address"
    """Its name is not known."""
    NO_ANSWER = "no-answer"
    """Nobody listens there, or there is no way there."""
    TIMED_OUT = "timed-out"
    """It does not answer in time: frozen, blocked, or cut off without a word."""
    NOT_TRUSTED = "not-trusted"
    """Its certificate is not one that we trust, or it speaks no TLS."""
    NO_BROKER = "no-broker"
    """Something else answers there."""
    LOST = "lost"
    """It was there, and the connection ended."""


class Refused(StrEnum):
    """What a broker refused."""

    CREDENTIALS = "credentials"
    PERMISSION = "permission"
    """The account may not do that."""
    LIMIT = "limit"
    """The account has as many connections or channels as it may; some of them may be half open still."""
    UNFIT = "unfit"
    """What is there is not as it should be: other queues of that name, no such virtual host."""


class BrokerOutage(Exception):
    """A broker did not do what was asked. `broker` says which, without its password."""

    def __init__(self, broker: str, sentence: str) -> None:
        self.broker = broker
        super().__init__(sentence)


class BrokerUnreachable(BrokerOutage):
    """Out of reach: `reason` says why, `detail` (for people) in whose words."""

    def __init__(self, broker: str, reason: Unreachable, detail: str) -> None:
        self.reason = reason
        self.detail = detail
        super().__init__(broker, f"{broker} is out of reach: {detail or reason}")


class BrokerRefused(BrokerOutage):
    """It is there, and refuses: `what` says what, `detail` (for people) in its own words."""

    def __init__(self, broker: str, what: Refused, detail: str) -> None:
        self.what = what
        self.detail = detail
        super().__init__(broker, f"{broker} refuses: {detail or what}")


class QueueMissing(BrokerOutage):
    """`node` has no queue there: never added, removed since, or lost. A hello is how to ask for it."""

    def __init__(self, broker: str, node: str) -> None:
        self.node = node
        super().__init__(broker, f"{broker} has no queue for {node}")
