"""The port of a broker's accounts: who may connect to it, what each of them may do there, and how much."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Protocol

from attrs import frozen


class Rights(Protocol):
    """What an account may make, send to and take from: regular expressions of whole names; and how often
    it may be connected.
    """

    @property
    def configure(self) -> str:
        """What it may make and remove."""

    @property
    def write(self) -> str:
        """What it may send to, and bind to something."""

    @property
    def read(self) -> str:
        """What it may take from, and bind something to."""

    @property
    def connections(self) -> int:
        """The most connections that it may have at once."""

    @property
    def channels(self) -> int:
        """The most channels, in all its connections together: one more ends the connection it is in."""


class Bound(Protocol):
    """A limit of how many bytes may wait in queues; a message over it is dropped, and confirmed."""

    @property
    def name(self) -> str:
        """What the limit is called at the broker."""

    @property
    def queues(self) -> str:
        """A regular expression of the queues' names."""

    @property
    def content(self) -> int:
        """The most bytes."""


class Amiss(StrEnum):
    """What of an account was not as it is to be."""

    RIGHTS = "rights"
    LIMITS = "limits"
    POWERS = "powers"
    """It had a say over the broker itself."""


class How(StrEnum):
    """How something that is to be there stands once that was seen to."""

    MADE = "made"
    THERE = "there"
    FORBIDDEN = "forbidden"
    """The broker's configuration lets nobody make it."""


@frozen(kw_only=True)
class Holding:
    """How long a broker lets a message be held before it takes it back; None for as long as one likes."""

    seconds: float | None


class Accounts(Protocol):
    """The accounts of one broker, as its administrator sees them; rights hold in one virtual host.

    An account is spoken of by its name. No password is ever said: it goes in, and is not in any outage.
    Every method raises `BrokerUnreachable` and `BrokerRefused`: the broker's administration is a door of
    the broker's. What was done until then stays done, and each may be called again.
    """

    def ensure_virtual_host(self) -> bool:
        """Make the virtual host, where it is missing: whether it was."""

    def ensure(self, account: str, password: str, rights: Rights) -> bool:
        """Make the account, or give it this password and these rights in place of what it had: whether it
        was made.

        It gets no other rights here, and none over the broker. Who is connected stays so.
        """

    def mend(self, wanted: Mapping[str, Rights]) -> Mapping[str, tuple[Amiss, ...]]:
        """Give those of these accounts that there are their rights back: what was amiss, for each of them.

        Passwords stay, and so does who is connected, even where it is more than it may be.
        """

    def limit(self, bound: Bound) -> How:
        """Put the limit up, in place of another of its name; queues that are there keep to it as well."""

    def holding(self) -> Holding | None:
        """How long a message may be held; None where this way to the broker cannot see it."""

    def revoke(self, account: str) -> bool:
        """Remove the account and end its connections, all within five seconds: whether there was one.

        Once this returns nobody is connected by that name, or an outage was raised. Where there is no such
        account, connections that one of that name left are ended all the same.
        """

    def names(self) -> tuple[str, ...]:
        """The names of all accounts of the broker, sorted; other programs' too."""
