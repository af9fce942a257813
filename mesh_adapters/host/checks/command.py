"""`command`: a text for the shell ends with 0.

{kind = "command", run = "pg_isready -q", seconds = 20}
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from mesh_adapters.host.attributes import text
from mesh_adapters.host.checks.kind import Look
from mesh_adapters.host.commands import command
from mesh_adapters.host.kind import Attribute, AttributeFault
from mesh_adapters.host.machine import Machine


class CommandCheck:
    """The kind of check `command`."""

    name = "command"
    attributes: tuple[Attribute, ...] = (text("run", "text for the shell", needed=True),)

    def faults(self, given: Mapping[str, Any]) -> Iterator[AttributeFault]:
        """Nothing beyond the attributes."""
        yield from ()

    def look(self, given: Mapping[str, Any], machine: Machine, seconds: float) -> Look:
        """Run it; it is ended with everything that it started where it takes too long."""
        ended = machine.run(command("/bin/sh", "-c", given["run"], seconds=seconds))
        return Look(
            passed=ended.well, detail=f"{given['run']}: {'ended well' if ended.well else ended.words}"
        )
