"""Where the program `mesh` begins: the one question that needs no command line is answered without one."""

from __future__ import annotations

import sys
from collections.abc import Callable


def main() -> None:
    """Run `mesh` with the arguments of the process, and end with its exit code."""
    begin("mesh", _run)


def _run() -> None:
    from mesh_cli.main import main as run

    run()


def begin(name: str, run: Callable[[], None]) -> None:
    """Begin the program of that name; `run` loads its command line, and runs it."""
    try:
        if sys.argv[1:] == ["--version"]:
            from mesh_cli.version import __version__

            print(f"{name} {__version__}")
        else:
            run()
    except KeyboardInterrupt:
        interrupted()


def interrupted() -> None:
    """Ctrl-c before there is a command, or after it: nobody else catches it there."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # once more must not show a traceback after all
    if sys.stderr is not None:
        print("interrupted", file=sys.stderr)
    sys.exit(130)
