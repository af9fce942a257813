"""The program `mesh-host`: its command line, and what it says of a journal that cannot be used."""

from __future__ import annotations

import sys
from typing import NoReturn

from mesh_cli.exits import Exit, Stop
from mesh_cli.host.app import app
from mesh_cli.running import Program, open_what_is_closed


def main() -> NoReturn:
    """Run `mesh-host` with the arguments of the process; never returns, never shows a traceback."""
    open_what_is_closed()
    sys.exit(run(sys.argv[1:]))


def run(arguments: list[str]) -> int:
    """Run `mesh-host` with some arguments; its exit code."""
    return _MESH_HOST.run(arguments)


def _told(error: Exception, _arguments: list[str]) -> Stop | None:
    from mesh_cli.host.wiring import journal_fault

    code = journal_fault(error)
    return None if code is None else Stop(Exit.OUT_OF_REACH, code, str(error))


_MESH_HOST = Program("mesh-host", app, interrupted="interrupted", told=_told)
