"""Where the program `mesh-builder` begins: what needs no command line is answered without one."""

from __future__ import annotations

import sys


def main() -> None:
    """Run `mesh-builder` with the arguments of the process, and end with its exit code."""
    from mesh_cli.program import interrupted

    try:
        _main()
    except KeyboardInterrupt:
        interrupted()


def _main() -> None:
    if sys.argv[1:] == ["--version"]:
        from mesh_cli.version import __version__

        print(f"mesh-builder {__version__}")
        return
    from mesh_cli.builder.main import main as run

    run()
