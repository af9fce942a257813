"""`mesh-host owned` and `forget`: what the mesh has on this machine, and letting go of it."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.host.wiring import journal_at_work, journal_looked_at, put_aside
from mesh_cli.options import JsonOption, NoInputOption, YesOption
from mesh_cli.output import note, say, say_json, table, visible
from mesh_cli.roots import RootOption, root_of

if TYPE_CHECKING:
    from mesh_cli.host.wiring import Journal


def owned(*, root: RootOption = None, as_json: JsonOption = False) -> None:
    """List what the mesh has on this machine, and why.

    Also what was there before: that comes back when the mesh lets go.

    Example: mesh-host owned
    """
    with journal_looked_at(root_of(root)) as journal:
        found = _owned(journal)
    if as_json:
        say_json({"owned": [{key: one[key] for key in one if key != "words"} for one in found]})
        return
    if not found:
        say("the mesh has nothing on this machine")
        return
    from mesh_core.explain.host import thing

    rows = [[thing(one["identity"], one["kind"]), *one["words"]] for one in found]
    say(table(rows, ["WHAT", "WHY", "BEFORE"]))


def _owned(journal: Journal) -> list[dict[str, Any]]:
    from mesh_core.explain.host import before, reason

    declared = journal.fact("modules") or {}
    found = []
    for entry in journal.entries():
        one = entry.owned
        why = "came-along" if one.brought else "declared" if one.identity in declared else "going"
        modules = declared.get(one.identity, []) if why == "declared" else []
        state = one.before
        words = [reason(why, modules, in_flight=one.in_flight), before(one.kind, state)]
        found.append(
            {
                "identity": one.identity,
                "kind": one.kind,
                "why": why,
                "modules": modules,
                "before": None if state is None else state.as_data(),
                "unfinished": one.in_flight,
                "words": words,
            }
        )
    return found


def forget(
    identities: Annotated[
        list[str] | None,
        typer.Argument(metavar="WHAT", help="As in `owned --json`, or a path.", show_default=False),
    ] = None,
    *,
    everything: Annotated[
        bool, typer.Option("--everything", help="Start anew; the journal is put aside, damaged or not.")
    ] = False,
    yes: YesOption = False,
    no_input: NoInputOption = False,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> None:
    """Let go of something: it stays as it is, and is the mesh's no more.

    Nothing on the machine is touched. A declaration that names it finds it as there before the mesh.

    Example: mesh-host forget /etc/motd package:zsh
    """
    if everything == bool(identities):
        raise Stop(Exit.USAGE, "what", "say what to let go of (`mesh-host owned` lists it), or --everything")
    place, asks = root_of(root), not (yes or no_input) and sys.stdin.isatty()
    if everything:
        _forget_everything(place, asks=asks, as_json=as_json)
    else:
        _forget_some(place, identities or [], asks=asks, as_json=as_json)


def _forget_everything(place: Path, *, asks: bool, as_json: bool) -> None:
    if asks:
        note("the mesh lets go of everything here, and this machine of being a node; nothing is taken off")
        _confirm()
    folder = put_aside(place)
    if as_json:
        say_json({"forgotten": "everything", "put_aside": None if folder is None else str(folder)})
    elif folder is None:
        say("there is no journal here; nothing to let go of")
    else:
        line = "the mesh has nothing on this machine any more"
        say(f"{line}; its journal was put aside in {visible(str(folder))}")


def _forget_some(place: Path, said: Iterable[str], *, asks: bool, as_json: bool) -> None:
    with journal_looked_at(place) as looked_at:
        _known(said, looked_at)  # where nothing of that name is owned, no journal is made
    with journal_at_work(place) as journal:
        identities = _known(said, journal)
        if asks:
            note([f"the mesh lets go of {identity}; it stays as it is" for identity in identities])
            _confirm()
        journal.confirm(gone=identities, seen=None)
        journal.drop_unneeded()
    if as_json:
        say_json({"forgotten": identities, "put_aside": None})
        return
    from mesh_core.explain.host import forgotten

    say(visible(forgotten(identities)))


def _confirm() -> None:
    if not typer.confirm("Go on?", err=True):
        raise Stop(Exit.FAILED, "not-confirmed", "nothing was changed")


def _known(said: Iterable[str], journal: Journal) -> list[str]:
    """The identities that were meant, once each. Stops at one that is not owned, with the near ones."""
    from mesh_core.explain.words import near

    known = [entry.owned.identity for entry in journal.entries()]
    identities = []
    for name in said:
        identity = f"path:{name}" if name.startswith("/") else name
        if identity not in known:
            meant = near(identity, known)
            hint = f"near: {', '.join(meant)}" if meant else "`mesh-host owned` lists what it has"
            line = f"the mesh has no {name!r} here; {hint}"
            raise Stop(Exit.FAILED, "not-owned", line, {"name": name, "near": meant})
        identities.append(identity)
    return list(dict.fromkeys(identities))
