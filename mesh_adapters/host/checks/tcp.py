"""`tcp`: something accepts connections at a port.

{kind = "tcp", port = 5432}
{kind = "tcp", host = "10.0.0.5", port = 25, seconds = 20}
"""

from __future__ import annotations

import socket
from collections.abc import Iterator, Mapping
from typing import Any

from mesh_adapters.host.attributes import text
from mesh_adapters.host.checks.kind import Look, within
from mesh_adapters.host.kind import Attribute, AttributeFault
from mesh_adapters.host.machine import Machine


class Tcp:
    """The kind of check `tcp`."""

    name = "tcp"
    attributes: tuple[Attribute, ...] = (
        Attribute(
            name="port",
            wanted="a number from 1 to 65535",
            fits=lambda value: type(value) is int and 1 <= value <= 65535,
            needed=True,
        ),
        text("host", "the name or the address of a machine"),
    )

    def faults(self, given: Mapping[str, Any]) -> Iterator[AttributeFault]:
        """Nothing beyond the attributes."""
        yield from ()

    def look(self, given: Mapping[str, Any], machine: Machine, seconds: float) -> Look:
        """Connect, and hang up."""
        host, port = given.get("host", "127.0.0.1"), given["port"]
        place = f"{host}:{port}"

        def connect() -> Look:
            try:
                socket.create_connection((host, port), timeout=seconds).close()
            except (OSError, UnicodeError) as error:
                return Look(passed=False, detail=f"{place}: {_words(error)}")
            return Look(passed=True, detail=f"{place} accepts connections")

        return within(seconds, connect, place)


def _words(error: Exception) -> str:
    if isinstance(error, TimeoutError):
        return "no answer in time"
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
