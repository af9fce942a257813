"""A way from another network, such as that of a machine of the lab, to a port of this host's loopback."""

import select
import socket
import struct
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.integration.lab.machine import LabError
from tests.integration.lab.namespace import made_in

AT_ONCE = struct.pack("ii", 1, 0)
"""For SO_LINGER: what was not sent yet is not sent any more."""


@contextmanager
def way_out(pid: int, port: int) -> Iterator[int]:
    """What connects to the port that this gives, inside the machine of that process, arrives at ours."""
    way = Way(pid, port)
    way.open()
    try:
        yield way.port
    finally:
        way.close()


class Way:
    """While it is open, who connects to `host`:`port` in the network of `pid` arrives at our port `to`."""

    def __init__(self, pid: int, to: int, *, host: str = "127.0.0.1", port: int = 0) -> None:
        self.host = host
        self.port = port
        """0 is any that is free: then it is known when this was opened for the first time."""
        self._pid = pid
        self._to = to
        self._over = threading.Event()
        self._serving: threading.Thread | None = None

    def open(self) -> None:
        """Also again after `close`, at the same port."""
        if self._serving is not None:
            raise LabError(f"the way at {self.host}:{self.port} is open already")
        listener = made_in(self._pid, lambda: socket.create_server((self.host, self.port)))
        self.port = listener.getsockname()[1]
        self._over.clear()
        self._serving = threading.Thread(target=_serve, args=(listener, self._to, self._over), daemon=True)
        self._serving.start()

    def close(self) -> None:
        """From now on who connects is refused, and every connection there was is cut."""
        serving, self._serving = self._serving, None
        if serving is not None:
            self._over.set()
            serving.join()


def _serve(listener: socket.socket, port: int, over: threading.Event) -> None:
    passing: list[_Passing] = []
    with listener:
        listener.settimeout(0.1)
        while not over.is_set():
            with suppress(TimeoutError):
                inside, _ = listener.accept()
                passing.append(_Passing(inside, port))
                passing[-1].start()
    for each in passing:
        each.cut()


class _Passing(threading.Thread):
    """One connection from inside, and the one to our loopback that was made for it."""

    def __init__(self, inside: socket.socket, port: int) -> None:
        super().__init__(daemon=True)
        self._inside = inside
        self._outside = socket.socket()
        self._port = port

    def run(self) -> None:
        with self._inside, self._outside, suppress(OSError):
            self._outside.connect(("127.0.0.1", self._port))
            self._pass_on()

    def _pass_on(self) -> None:
        to = {self._inside: self._outside, self._outside: self._inside}
        while True:
            for source in select.select(list(to), [], [])[0]:
                some = source.recv(65536)
                if not some:
                    return
                to[source].sendall(some)

    def cut(self) -> None:
        """Also where one end takes nothing any more, on which `run` then waits."""
        for end in (self._inside, self._outside):
            with suppress(OSError):  # it has ended by itself
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, AT_ONCE)
                end.shutdown(socket.SHUT_RDWR)
        self.join()
