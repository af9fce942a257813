"""A way from inside a machine of the lab, which has a loopback of its own, to a port of this one."""

from __future__ import annotations

import ctypes
import os
import select
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

CLONE_NEWNET = 0x40000000


@contextmanager
def way_out(pid: int, port: int) -> Iterator[int]:
    """What connects to the port that this gives, inside the machine of that process, arrives at ours."""
    with _listening_in(pid) as listener:
        over = threading.Event()
        serving = threading.Thread(target=_serve, args=(listener, port, over))
        serving.start()
        try:
            yield listener.getsockname()[1]
        finally:
            over.set()
            serving.join()


def _listening_in(pid: int) -> socket.socket:
    """A socket of the other's network. A thread of its own goes there, and ends there."""
    made: list[socket.socket] = []

    def make() -> None:
        namespace = os.open(f"/proc/{pid}/ns/net", os.O_RDONLY | os.O_CLOEXEC)
        try:
            if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET):
                return
            made.append(socket.create_server(("127.0.0.1", 0)))
        finally:
            os.close(namespace)

    there = threading.Thread(target=make)
    there.start()
    there.join()
    (listener,) = made
    return listener


def _serve(listener: socket.socket, port: int, over: threading.Event) -> None:
    listener.settimeout(0.1)
    passing: list[threading.Thread] = []
    while not over.is_set():
        with suppress(TimeoutError):
            inside, _ = listener.accept()
            passing.append(threading.Thread(target=_pass_on, args=(inside, port, over)))
            passing[-1].start()
    for each in passing:
        each.join()


def _pass_on(inside: socket.socket, port: int, over: threading.Event) -> None:
    with inside, suppress(OSError), socket.create_connection(("127.0.0.1", port)) as outside:
        to = {inside: outside, outside: inside}
        while not over.is_set():
            for source in select.select(list(to), [], [], 0.1)[0]:
                some = source.recv(65536)
                if not some:
                    return
                to[source].sendall(some)
