"""Ends what takes too long on a socket, whatever the library that uses it is doing.

A library's time-outs hold for one read or write each; a peer that dribbles, or a call that forgot its
time-out, goes past them. Shutting the socket down from beside wakes every one of them up.
"""

from __future__ import annotations

import socket
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread
from time import monotonic
from types import TracebackType


class Watchdog:
    """`with Watchdog(seconds, find): ...` shuts down the socket that `find` finds, once time is up."""

    def __init__(self, seconds: float, find: Callable[[], socket.socket | None]) -> None:
        self._seconds = seconds
        self._find = find
        self._until = monotonic() + seconds
        self._over = Event()
        self._thread = Thread(target=self._watch, name="broker-watchdog", daemon=True)
        self.bit = False
        """Was time up?"""

    def feed(self) -> None:
        """There was a sign of life: the whole time begins again."""
        self._until = monotonic() + self._seconds

    def left(self) -> float:
        """Seconds that are left, never less than none."""
        return max(0.0, self._until - monotonic())

    def _watch(self) -> None:
        while not self._over.wait(self.left()):
            if self.left() > 0:
                continue
            self.bit = True
            # There may be no socket yet, or another one a moment later, so look again.
            self._shut(self._find())
            self._over.wait(0.05)

    @staticmethod
    def _shut(found: socket.socket | None) -> None:
        if found is None:
            return
        with suppress(OSError):  # not connected yet, or closed already
            # Not an SSL socket's own method, which takes its state away from under the other thread.
            socket.socket.shutdown(found, socket.SHUT_RDWR)

    def __enter__(self) -> Watchdog:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()
