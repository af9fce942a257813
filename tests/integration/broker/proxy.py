"""A way to a broker that is slow, or is cut after so many bytes."""

from __future__ import annotations

import contextlib
import socket
import time
from threading import Thread
from types import TracebackType


class BadWay:
    """Listens on a port of its own; each connection is cut once so many bytes went to the broker.

    What the broker says takes its time.
    """

    def __init__(self, port: int, *, cut_after: int | None = None, late: float = 0.0) -> None:
        self._late = late
        self._target = port
        self._cut_after = cut_after
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port: int = self._listener.getsockname()[1]
        self._threads: list[Thread] = []

    def __enter__(self) -> BadWay:
        self._start(self._accept)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        shut(self._listener)
        for thread in self._threads:
            thread.join(10)

    def _start(self, run: object, *arguments: object) -> None:
        assert callable(run)
        thread = Thread(target=run, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                near, _ = self._listener.accept()
                far = socket.create_connection(("127.0.0.1", self._target))
                self._start(self._pump, near, far, self._cut_after, 0.0)
                self._start(self._pump, far, near, None, self._late)

    @staticmethod
    def _pump(source: socket.socket, target: socket.socket, left: int | None, late: float) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(4096):
                time.sleep(late)
                target.sendall(data)
                if left is not None and (left := left - len(data)) <= 0:
                    break
        shut(source)
        shut(target)


def shut(each: socket.socket) -> None:
    """End a socket, whoever waits for it."""
    with contextlib.suppress(OSError):
        each.shutdown(socket.SHUT_RDWR)
    each.close()
