"""Which teller a push has: lines for people, objects for programs, a table on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from mesh_cli.output import redraws

if TYPE_CHECKING:
    from mesh_cli.render.push.teller import Teller


def teller(*, as_json: bool, watches: bool) -> Teller:
    """Lines for people, one JSON object a line, or what is drawn again, on a terminal.

    `watches` is whether it is going to watch the machines.
    """
    if as_json:
        from mesh_cli.render.push.objects import Objects

        return Objects()
    if not redraws():
        from mesh_cli.render.push.lines import Lines

        return Lines()
    from mesh_cli.render.push.live import OnTerminal

    return OnTerminal(watches=watches)
