"""The program `mesh-builder`: its command line, and what it says of a broker that cannot be used."""

from __future__ import annotations

import sys
from typing import NoReturn

from mesh_cli.builder.app import app
from mesh_cli.exits import Stop
from mesh_cli.running import Program, open_what_is_closed


def main() -> NoReturn:
    """Run `mesh-builder` with the arguments of the process; never returns, never shows a traceback."""
    open_what_is_closed()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run `mesh-builder` with some arguments; its exit code."""
    return _MESH_BUILDER.run(arguments)


def _told(error: Exception, _arguments: list[str]) -> Stop | None:
    from mesh_cli.outages import broker_told
    from mesh_core.ports import BrokerOutage

    return broker_told(error) if isinstance(error, BrokerOutage) else None


_MESH_BUILDER = Program("mesh-builder", app, interrupted="interrupted", told=_told)
