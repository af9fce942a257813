"""Who may change this machine: root, and under a root directory of their own anybody."""

from __future__ import annotations

from pathlib import Path

from mesh_cli.exits import Exit, Stop
from mesh_cli.host.wiring import privileged
from mesh_cli.output import note


def may_change(place: Path, line: str, *, trying: str | None = None) -> None:
    """Stops where the machine itself would be changed and one is not root; elsewhere it is said.

    `line` is what was typed after the program's name, `trying` how to try it without being root.
    """
    if privileged():
        return
    if place == Path("/"):
        otherwise = f"     or, for trying: mesh-host {trying}" if trying is not None else ""
        lines = [
            "this machine can be changed by root only, and you are not root",
            f"  sudo mesh-host {line}{otherwise}",
        ]
        raise Stop(Exit.FAILED, "needs-root", lines)
    note("you are not root: what is made is yours, and no owner or group is given")
