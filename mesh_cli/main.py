"""The program `mesh`: its command line, and what it says of a store or a broker that cannot be used."""

from __future__ import annotations

import sys
from typing import NoReturn

from mesh_cli.app import app
from mesh_cli.exits import Stop
from mesh_cli.running import Program, open_what_is_closed


def main() -> NoReturn:
    """Run `mesh` with the arguments of the process; never returns, never shows a traceback."""
    open_what_is_closed()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run `mesh` with some arguments; its exit code."""
    return _MESH.run(arguments)


def _told(error: Exception, arguments: list[str]) -> Stop | None:
    from mesh_core.ports import BrokerOutage, StoreError

    if not isinstance(error, StoreError | BrokerOutage):
        return None
    from mesh_cli.outages import broker_told, told

    if isinstance(error, BrokerOutage):
        return broker_told(error)

    said = any(word == "--store" or word.startswith("--store=") for word in arguments)
    return told(error, store_was_said=said)


_MESH = Program("mesh", app, interrupted="interrupted; nothing was recorded", told=_told)
