"""A line from one machine to another and its echo, by sockets of ours that are in the machines' networks."""

import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from tests.integration.lab.machine import LabMachine
from tests.integration.lab.namespace import made_in


def listening_on(machine: LabMachine, port: int) -> socket.socket:
    """Listens at every address that this machine has."""
    return made_in(machine.pid, lambda: socket.create_server(("0.0.0.0", port)))


def listening_outside() -> socket.socket:
    """Listens at the host's loopback, at a port that is free."""
    return socket.create_server(("127.0.0.1", 0))


@contextmanager
def echoing(listener: socket.socket) -> Iterator[int]:
    """The port at which each is told who they are and what they said."""
    answering = threading.Thread(target=_answer_all, args=(listener,), daemon=True)
    with listener:
        answering.start()
        yield listener.getsockname()[1]
        listener.shutdown(socket.SHUT_RDWR)
        answering.join()


def _answer_all(listener: socket.socket) -> None:
    with suppress(OSError):  # it was shut down
        while True:
            threading.Thread(target=_answer, args=listener.accept(), daemon=True).start()


def _answer(heard: socket.socket, who: tuple[str, int]) -> None:
    with heard, heard.makefile("rw") as lines, suppress(OSError):
        for line in lines:
            lines.write(f"{who[0]} said {line}")
            lines.flush()


def connect(machine: LabMachine, host: str, port: int, *, timeout: float = 5) -> socket.socket:
    """A connection from inside of it; OSError where there is none, TimeoutError where nobody says so."""
    return made_in(machine.pid, lambda: socket.create_connection((host, port), timeout))


def say(connection: socket.socket, line: str) -> str:
    """The answer; nothing when the other has ended the connection."""
    with connection.makefile("rw") as lines:
        lines.write(f"{line}\n")
        lines.flush()
        return lines.readline().rstrip("\n")


def ask(machine: LabMachine, host: str, port: int, line: str = "hello", *, timeout: float = 5) -> str:
    """Say one line from inside of it, and what was answered."""
    with connect(machine, host, port, timeout=timeout) as connection:
        return say(connection, line)
