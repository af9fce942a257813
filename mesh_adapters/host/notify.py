"""What systemd is told by a service of type notify: datagrams to the socket that it names.

Nothing is told where nobody asked, and nothing here ever raises: a service goes on without.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from time import monotonic

from mesh_adapters.host.commands import Command, Ended

_MARGIN = 60.0
"""Seconds beyond the limit of a command until what runs it counts as stuck."""


class Notifier:
    """Tells systemd that the service is ready, what it does, and that it is alive."""

    def __init__(self, environment: Mapping[str, str] = os.environ) -> None:
        where = environment.get("NOTIFY_SOCKET", "")
        self._where = "\0" + where[1:] if where.startswith("@") else where
        self._limit = _limit(environment)
        self._told_at = 0.0

    def ready(self) -> None:
        """The work loop runs."""
        self._tell("READY=1\nWATCHDOG=1")

    def status(self, line: str) -> None:
        """How it stands, in one line."""
        self._tell(f"STATUS={line}")

    def stopping(self) -> None:
        """It ends, as it was asked to."""
        self._tell("STOPPING=1")

    def alive(self) -> None:
        """Called from the work loop, as often as it likes: told at half of what the watchdog allows."""
        if self._limit and monotonic() - self._told_at >= self._limit / 2:
            self._told_at = monotonic()
            self._tell("WATCHDOG=1")

    def around(self, run: Callable[[Command], Ended]) -> Callable[[Command], Ended]:
        """The same run of a command, for which the watchdog waits as long as the command itself may take."""

        def patient(command: Command) -> Ended:
            if not self._limit or command.seconds + _MARGIN <= self._limit / 2:
                self.alive()
                return run(command)
            self._allow(command.seconds + _MARGIN)
            try:
                return run(command)
            finally:
                self._allow(self._limit)

        return patient

    def _allow(self, seconds: float) -> None:
        self._tell(f"WATCHDOG_USEC={int(max(seconds, self._limit) * 1_000_000)}\nWATCHDOG=1")

    def _tell(self, text: str) -> None:
        if not self._where:
            return
        with suppress(OSError, ValueError), socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sending:
            sending.settimeout(1.0)
            sending.sendto(text.encode("utf-8", "replace"), self._where)


def _limit(environment: Mapping[str, str]) -> float:
    """Seconds that the watchdog allows; 0 where it does not look, or not at this process."""
    said, whom = environment.get("WATCHDOG_USEC", ""), environment.get("WATCHDOG_PID")
    if not (said.isascii() and said.isdecimal()) or whom not in (None, str(os.getpid())):
        return 0.0
    return int(said) / 1_000_000
