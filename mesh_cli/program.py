"""Where the program `mesh` begins: the one question that needs no command line is answered without one."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `mesh` with the arguments of the process, and end with its exit code."""
    if sys.argv[1:] == ["--version"]:
        from mesh_cli.version import __version__

        print(f"mesh {__version__}")
        return
    from mesh_cli.main import main as run

    run()
