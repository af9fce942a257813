"""One end's connection to a RabbitMQ: made when it is needed, thrown away after any fault.

Used by one thread. Every use of the connection is inside `using`, which ends it in time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any, Final

from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.connecting import CONNECT_SECONDS, FAULTS, connect, drop, outage_of, socket_of
from mesh_adapters.broker.outcomes import CLOSED
from mesh_adapters.broker.watchdog import Watchdog
from mesh_core.ports import BrokerOutage, BrokerUnreachable, Unreachable

CLOSE_SECONDS: Final = 2.0
BLOCKED: Final = "it takes nothing at present: it is short of memory or disk"


class Link:
    """A connection that comes and goes; `life` counts how often it was made.

    With `within` everything together takes no more than so many seconds from now on, then it fails.
    """

    def __init__(self, address: RabbitAddress, within: float | None = None) -> None:
        self.address = address
        self._until = None if within is None else monotonic() + within
        self.life = 0
        self.blocked = False
        """Does the broker refuse to take anything, for want of memory or disk?"""
        self._connection: Any = None
        self._closed = False

    @property
    def connected(self) -> bool:
        """Is there a connection, for all that is known?"""
        return self._connection is not None

    @contextmanager
    def using(self, seconds: float) -> Iterator[tuple[Any, Watchdog]]:
        """The connection, for so long; a fault, or leaving in any other bad way, throws it away.

        Raises the outages that `Broker` names.
        """
        if self._closed:
            raise RuntimeError(CLOSED)
        if self._connection is None:
            self.blocked = False
            self._connection = connect(self.address, self._set_blocked, self._at_most(CONNECT_SECONDS))
            self.life += 1
        connection = self._connection
        with Watchdog(self._at_most(seconds), lambda: socket_of(connection)) as watchdog:
            try:
                yield connection, watchdog
            except FAULTS as error:
                outage = self._outage(error, watchdog)
                self.throw_away()
                raise outage from error
            except BaseException:
                # Half a frame may have been written: nothing can be said on it any more.
                self.throw_away()
                raise

    def refresh(self) -> None:
        """Read what the broker said meanwhile: a connection that ended is found out and thrown away."""
        if self._connection is None:
            return
        try:
            with self.using(CLOSE_SECONDS) as (connection, _):
                drain(connection, 0)
                connection.heartbeat_tick()
        except BrokerOutage:
            pass  # the next use begins anew, and says what is wrong if anything still is

    def throw_away(self) -> None:
        """Let go of the connection, without a word to the broker."""
        if self._connection is not None:
            connection, self._connection = self._connection, None
            drop(connection)

    def close(self) -> None:
        """Say goodbye, for a short time, and never connect again."""
        if self._connection is not None:
            connection = self._connection
            with Watchdog(self._at_most(CLOSE_SECONDS), lambda: socket_of(connection)), suppress(*FAULTS):
                connection.close()
            self.throw_away()
        self._closed = True

    def _at_most(self, seconds: float) -> float:
        return seconds if self._until is None else max(0.0, min(seconds, self._until - monotonic()))

    def _outage(self, error: BaseException, watchdog: Watchdog) -> BrokerOutage:
        outage = outage_of(error, self.address, connected=True, late=watchdog.bit)
        if self.blocked and isinstance(outage, BrokerUnreachable):
            return BrokerUnreachable(str(self.address), Unreachable.TIMED_OUT, BLOCKED)
        return outage

    def _set_blocked(self, blocked: bool) -> None:
        self.blocked = blocked


def drain(connection: Any, seconds: float) -> bool:
    """Take in what the broker sends, waiting at most so long for the next; False where nothing came."""
    try:
        # No time at all would be a busy loop inside the library when half a frame has come.
        connection.drain_events(timeout=max(seconds, 0.001))
    except TimeoutError:
        return False
    return True
