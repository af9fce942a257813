"""The port of a broker's accounts: who may connect to it, and what each of them may do there."""

from __future__ import annotations

from typing import Protocol


class Rights(Protocol):
    """What an account may make, send to and take from: regular expressions of whole names."""

    @property
    def configure(self) -> str:
        """What it may make and remove."""

    @property
    def write(self) -> str:
        """What it may send to, and bind to something."""

    @property
    def read(self) -> str:
        """What it may take from, and bind something to."""


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

    def revoke(self, account: str) -> bool:
        """Remove the account and end its connections, all within five seconds: whether there was one.

        Once this returns nobody is connected by that name, or an outage was raised. Where there is no such
        account, connections that one of that name left are ended all the same.
        """

    def names(self) -> tuple[str, ...]:
        """The names of all accounts of the broker, sorted; other programs' too."""
