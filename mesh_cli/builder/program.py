"""Where the program `mesh-builder` begins: what needs no command line is answered without one."""

from __future__ import annotations

from mesh_cli.program import begin


def main() -> None:
    """Run `mesh-builder` with the arguments of the process, and end with its exit code."""
    begin("mesh-builder", _run)


def _run() -> None:
    from mesh_cli.builder.main import main as run

    run()
