"""The process as which `mesh-host run` goes on: without a command line, which is a quarter of its memory.

It is `python -P -m mesh_cli.host.daemon ROOT SECONDS [--json]`.
"""

from __future__ import annotations

import os
import signal
import sys
from pathlib import Path
from typing import Any, NoReturn

from mesh_cli.exits import Exit, Stop
from mesh_cli.going_on import note, print_object, signals
from mesh_cli.host import wiring

_MODULE = "mesh_cli.host.daemon"


def become(root: Path, every: float, *, as_json: bool) -> NoReturn:
    """Go on as the daemon: this process, its number and its streams, with nothing of what it was before."""
    sys.stdout.flush()
    sys.stderr.flush()
    more = ["--json"] if as_json else []
    # -P: nothing is imported from the directory that somebody happens to be in.
    os.execv(sys.executable, [sys.executable, "-P", "-m", _MODULE, str(root), repr(every), *more])


def main() -> NoReturn:
    """Run with the arguments of the process, and end with its exit code."""
    root, every, *more = sys.argv[1:]
    try:
        code = run(Path(root), float(every), as_json="--json" in more)
    except Stop as stop:
        for line in stop.lines:
            note(line)
        code = stop.exit_code
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    sys.exit(int(code))


def run(root: Path, every: float, *, as_json: bool) -> Exit:
    """Work until SIGTERM or ctrl-c comes. Raises `Stop` where the machine did not join, or cannot be used."""
    with signals() as (stop, which):
        try:
            wiring.daemon(root, every=every, say=note, heard=print_object if as_json else _nobody).run(stop)
        except Exception as error:
            code = wiring.journal_fault(error)
            if code is None:
                raise
            raise Stop(Exit.OUT_OF_REACH, code, str(error)) from None
    if which() == signal.SIGINT:
        raise Stop(Exit.INTERRUPTED, "interrupted", "interrupted; the next run goes on from there")
    return Exit.DONE


def _nobody(_report: dict[str, Any]) -> None:
    """Reports go to the broker alone."""


if __name__ == "__main__":
    main()
