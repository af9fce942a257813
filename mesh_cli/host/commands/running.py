"""`mesh-host run`: keep the machine what it is declared to be, until somebody ends it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.host import wiring
from mesh_cli.host.daemon import become
from mesh_cli.host.options import RootOption, root_of
from mesh_cli.options import JsonOption
from mesh_cli.output import FORMAT, note, say, visible

_EVERY = 240.0
_LONGEST = 300.0


def run(
    *,
    every: Annotated[
        float, typer.Option("--every", metavar="SECONDS", help="How often to look, below 300.")
    ] = _EVERY,
    once: Annotated[bool, typer.Option("--once", help="Take what waits, apply, report, and end.")] = False,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> None:
    """Keep this machine what it is declared to be.

    It takes declarations from the broker that this machine joined, applies
    them, and reports; without the broker it keeps up what it has. SIGTERM or
    ctrl-c ends it between two actions. With --json each report is one line.

    Example: mesh-host run --every 60
    """
    if not 0 < every < _LONGEST:
        line = f"--every {every:g}: a host looks at its machine more often than every {_LONGEST:g} seconds"
        raise Stop(Exit.USAGE, "every", line)
    place = root_of(root)
    _may_change(place)
    if not once:
        wiring.credential(place)  # what is wrong with it is told here
        become(place, every, as_json=as_json)
    report = wiring.daemon(place, every=every, say=note, heard=_nobody).once()
    if as_json:
        say(json.dumps({"format": FORMAT} | wiring.told(report)))
    else:
        say(visible(f"{report.node}: generation {report.generation or 'none'}, {report.doing.value}"))


def _nobody(_report: dict[str, Any]) -> None:
    """What was reported is told once, when all is done."""


def _may_change(place: Path) -> None:
    if wiring.privileged():
        return
    if place == Path("/"):
        lines = [
            "this machine can be changed by root only, and you are not root",
            "  sudo mesh-host run     or, for trying: mesh-host run --root DIR",
        ]
        raise Stop(Exit.FAILED, "needs-root", lines)
    note("you are not root: what is made is yours, and no owner or group is given")
