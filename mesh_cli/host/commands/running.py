"""`mesh-host run`: keep the machine what it is declared to be, until somebody ends it."""

from __future__ import annotations

import json
from typing import Annotated, Any

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.host import wiring
from mesh_cli.host.daemon import become
from mesh_cli.host.privileges import may_change
from mesh_cli.options import JsonOption
from mesh_cli.output import note, say, visible
from mesh_cli.roots import RootOption, root_of

_EVERY = 240.0


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
    from mesh_core.model.said import REPORTS_EVERY

    if not 0 < every < REPORTS_EVERY:
        line = f"--every {every:g}: a host looks at its machine more often than every {REPORTS_EVERY} seconds"
        raise Stop(Exit.USAGE, "every", line)
    place = root_of(root)
    may_change(place, "run", trying="run --root DIR")
    if not once:
        wiring.credential(place)  # what is wrong with it is told here
        become(place, every, as_json=as_json)
    report = wiring.daemon(place, every=every, say=note, heard=_nobody).once()
    if as_json:
        from mesh_core.wire.said import report_to_data

        say(json.dumps(report_to_data(report)))
    else:
        say(visible(f"{report.node}: generation {report.generation or 'none'}, {report.doing.value}"))


def _nobody(_report: dict[str, Any]) -> None:
    """What was reported is told once, when all is done."""
