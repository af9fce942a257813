"""Publishes a batch: all of it is sent, then its confirms are waited for, and each is matched.

Every batch has a channel of its own, since the broker numbers confirms for each channel: a late one of
an earlier batch can never be taken for one of this.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import Any, Final

import amqp  # type: ignore[import-untyped]
from attrs import field, frozen

from mesh_adapters.broker.link import Link, drain
from mesh_adapters.broker.outcomes import too_large
from mesh_adapters.broker.topology import PERSISTENT
from mesh_adapters.broker.watchdog import Watchdog
from mesh_core.ports import BrokerOutage, BrokerUnreachable, Confirmed, Kind, Outcome, Returned, Unconfirmed

CONFIRM_SECONDS: Final = 9.5
"""How long to wait for the next confirm; with the time to connect it is less than 15 seconds."""

AT_ONCE_SECONDS: Final = 1.0
NACKED: Final = "the broker could not take it"


@frozen(kw_only=True)
class Letter:
    """One message, and where it goes."""

    exchange: str
    key: str
    kind: Kind
    body: bytes = field(repr=False)


class Batch:
    """The messages of one batch, numbered from 1 as the broker counts them, and what became of each."""

    def __init__(self, letters: Sequence[Letter], account: str) -> None:
        self._account = account
        self._letters = letters
        self._refused = [too_large(letter.kind, letter.body) for letter in letters]
        self._sendable = [n for n, refused in enumerate(self._refused) if refused is None]
        self._outcomes: list[Outcome | None] = list(self._refused)
        self._returned: dict[int, Returned] = {}
        self._next = 0
        self._settled = 0
        self.sent = 0
        self.signs = 0
        """How often the broker said something of this batch."""

    def __len__(self) -> int:
        return len(self._sendable)

    @property
    def settled(self) -> bool:
        """Is it known of each what became of it?"""
        return self._settled == len(self._sendable)

    def watch(self, channel: Any) -> None:
        """Listen to what the broker says of this batch."""
        channel.events["basic_ack"].add(self._on_ack)
        channel.events["basic_nack"].add(self._on_nack)
        channel.events["basic_return"].add(self._on_return)

    def send_next(self, channel: Any) -> None:
        """Send the next message; `sent` counts them."""
        letter = self._letters[self._sendable[self.sent]]
        self.sent += 1
        message = amqp.Message(
            letter.body,
            content_type="application/json",
            delivery_mode=PERSISTENT,
            user_id=self._account,
            message_id=str(self.sent),
        )
        channel.basic_publish(message, exchange=letter.exchange, routing_key=letter.key, mandatory=True)

    def outcomes(self, why: str) -> tuple[Outcome, ...]:
        """What became of each, in their order; `why` stands where nothing was heard."""
        return tuple(outcome or Unconfirmed(why=why) for outcome in self._outcomes)

    def _on_ack(self, number: int, multiple: bool) -> None:
        self._settle(number, multiple, Confirmed())

    def _on_nack(self, number: int, multiple: bool, *_: object) -> None:
        self._settle(number, multiple, Unconfirmed(why=NACKED))

    def _on_return(self, error: Any, exchange: str, key: str, message: Any) -> None:
        # It comes before the confirm of the same message, which is confirmed all the same.
        number = int(message.properties["message_id"])
        self._returned[number] = Returned(why=f"{error.reply_code} {error.reply_text}")

    def _settle(self, number: int, multiple: bool, outcome: Outcome) -> None:
        self.signs += 1
        for each in range(self._next + 1 if multiple else number, number + 1):
            place = self._sendable[each - 1]
            if self._outcomes[place] is None:
                self._outcomes[place] = self._returned.pop(each, outcome)
                self._settled += 1
        if multiple:
            self._next = max(self._next, number)


def publish(link: Link, letters: Sequence[Letter]) -> tuple[Outcome, ...]:
    """Send the letters and say what became of each. An outage is raised only before anything is sent."""
    began = monotonic()
    link.refresh()
    fresh = not link.connected
    try:
        batch, why = _send(link, letters)
    except BrokerUnreachable:
        # The connection had ended while nobody looked; more than once, or after a long wait, is an outage.
        if fresh or monotonic() - began > AT_ONCE_SECONDS:
            raise
        batch, why = _send(link, letters)
    return batch.outcomes(why)


def _send(link: Link, letters: Sequence[Letter]) -> tuple[Batch, str]:
    batch = Batch(letters, link.address.account)
    if not len(batch):
        return batch, ""
    try:
        with link.using(CONFIRM_SECONDS) as (connection, watchdog):
            _exchange(connection, watchdog, batch)
    except BrokerOutage as outage:
        if not batch.sent:
            raise
        return batch, str(outage)
    return batch, ""


def _exchange(connection: Any, watchdog: Watchdog, batch: Batch) -> None:
    channel = connection.channel()
    channel.auto_decode = False
    channel.confirm_select()
    batch.watch(channel)
    signs = 0
    while not batch.settled:
        if batch.sent < len(batch):
            batch.send_next(channel)  # takes in one thing that the broker said, if there is any
        elif not drain(connection, watchdog.left()):
            raise TimeoutError
        if batch.signs > signs:
            signs = batch.signs
            watchdog.feed()
    channel.close()
