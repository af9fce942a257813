"""`mesh init`, `backup`, `history`: the store itself."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from mesh_cli.options import JsonOption, StoreOption
from mesh_cli.output import ago, say, say_json, table, visible
from mesh_cli.settings import store_path
from mesh_cli.wiring import create_store, now, opened_store


def init(*, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Make a new, empty store.

    It is where --store says, else MESH_STORE, else the line store = "PATH" in the config file
    (a relative PATH begins beside that file), else in your data folder.

    Example: mesh init
    """
    path = store_path(store)
    create_store(path)
    if as_json:
        say_json({"store": str(path)})
    else:
        say(
            [
                f"made {visible(str(path))}",
                "Next: mesh module add FILE, mesh node add NAME, or mesh import MESH",
            ]
        )


def backup(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A new file.", show_default=False)],
    *,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Write the whole store, as it is at this moment, to a new file.

    Copying the store with cp can lose what was written last; this cannot.

    Example: mesh backup mesh-2026-12-01.db
    """
    with opened_store(store) as opened:
        opened.backup(str(file))
    if as_json:
        say_json({"backup": str(file)})
    else:
        typed = visible(shlex.quote(str(file)))
        say(f"wrote {visible(str(file))}; it opens as a store: mesh plan --store {typed}")


def history(
    *,
    limit: Annotated[int, typer.Option("--limit", "-n", min=1, help="How many of the newest.")] = 20,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show who did what, when, the newest first.

    Example: mesh history --limit 5
    """
    with opened_store(store) as opened:
        recorded = opened.history(limit)
    if as_json:
        from mesh_core.wire.changes import change_to_data

        events = [
            {
                "number": entry.number,
                "at": entry.event.at,
                "who": entry.event.who,
                "command": entry.event.command,
                "changes": [change_to_data(change) for change in entry.event.changes],
            }
            for entry in recorded
        ]
        say_json({"events": events})
        return
    if not recorded:
        say("nothing was recorded yet")
        return
    instant = now()
    rows = [
        [str(entry.number), ago(entry.event.at, instant), entry.event.who, entry.event.command]
        for entry in recorded
    ]
    say(table(rows, ["NUMBER", "WHEN", "WHO", "COMMAND"]))
