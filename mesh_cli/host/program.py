"""Where the program `mesh-host` begins: the question that needs no command line is answered without one."""

from __future__ import annotations

from mesh_cli.program import begin


def main() -> None:
    """Run `mesh-host` with the arguments of the process, and end with its exit code."""
    begin("mesh-host", _run)


def _run() -> None:
    from mesh_cli.host.main import main as run

    run()
