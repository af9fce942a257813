"""`mesh-host probe`: what this machine has."""

from __future__ import annotations

from mesh_cli.host.wiring import probed
from mesh_cli.options import JsonOption
from mesh_cli.output import json_text, say, table


def probe(*, as_json: JsonOption = False) -> None:
    """Show what this machine has, as the control plane reads it.

    With --json it is a report: one object from capability to verdict, and nothing else, which
    `mesh node report NODE FILE` reads. What a probe fails at is absent, with the reason.

    Example: mesh-host probe --json
    """
    report = probed()
    if as_json:
        say(json_text(report))
        return
    rows = []
    for name, verdict in report.items():
        said = verdict if isinstance(verdict, dict) else {"present": verdict}
        rows.append([name, "present" if said["present"] else "absent", said.get("detail", "")])
    say(table(rows, ["CAPABILITY", "VERDICT", "DETAIL"]))
