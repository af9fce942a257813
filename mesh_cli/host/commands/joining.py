"""`mesh-host join` and `leave`: becoming a node of a mesh, and being none any more."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from mesh_cli import wiring_joining as common
from mesh_cli.exits import Exit, Stop
from mesh_cli.host import wiring
from mesh_cli.host import wiring_joining as joining
from mesh_cli.host.privileges import may_change
from mesh_cli.joining import used_up
from mesh_cli.options import JsonOption, NoInputOption, YesOption
from mesh_cli.output import note, say, say_json, visible
from mesh_cli.roots import RootOption, called, root_of


def join(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The invitation.", show_default=False)],
    *,
    no_start: Annotated[bool, typer.Option("--no-start", help="Do not start the host.")] = False,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make this machine a node, with an invitation.

    See `mesh node invite`. The broker is asked first; the invitation's file is
    removed once it was used. Where there is systemd, the host runs from then on.

    Example: mesh-host join nas.invitation.json
    """
    place = root_of(root)
    credential = common.invitation(file, joining.node())
    may_change(place, f"join {file}")
    _refuse_another_node(place, credential.name)
    common.see_the_broker(credential)
    kept = common.keep_credential(joining.place_of(place), credential)
    gone = not common.is_the_credential(joining.place_of(place), file) and used_up(file)
    key = _key_made(place)
    systemd = common.starts_units(place)
    if systemd:
        common.put_unit(joining.node(), start=not no_start)
    started = systemd and not no_start
    if as_json:
        facts = {"node": credential.name, "credential": kept, "file_removed": gone, "started": started}
        say_json(facts | {"key": key})
        return
    say(visible(f"this machine is {credential.name} now; its credential is {kept}"))
    if gone:
        say(visible(f"{file} was removed: an invitation serves once"))
    if key is None and place == Path("/"):
        say("it is in no network of the mesh until wg is there (Debian: apt install wireguard-tools)")
    following = f"next: {called('mesh-host run', root)}"
    say("mesh-host runs, and is started with the machine" if started else visible(following))


def _key_made(place: Path) -> str | None:
    try:
        return joining.make_key(place)
    except OSError as error:
        note(f"no key could be kept: {error.strerror or error}; the machine is in no network until one can")
        return None


def _refuse_another_node(place: Path, node: str) -> None:
    other = joining.other_node(place, node)
    if other is None:
        return
    lines = [
        f"refused: this machine is {other}, and the invitation is for {node}",
        "  `mesh-host leave` gives back what it has as that node; then it can join anew",
        "nothing was changed",
    ]
    raise Stop(Exit.REFUSED, "another-node", lines, {"node": node, "this": other})


def leave(
    *,
    keep: Annotated[bool, typer.Option("--keep", help="Leave everything as it is; only let go.")] = False,
    yes: YesOption = False,
    no_input: NoInputOption = False,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> None:
    """Give everything back, and be a node no longer.

    What was there before comes back, as when a declaration no longer names it.
    What cannot be taken off is told (ends with 4), and the machine has not left.

    Example: mesh-host leave --yes
    """
    place = root_of(root)
    may_change(place, "leave")
    if keep:
        here = joining.has_credential(place)
    else:
        with wiring.journal_looked_at(place) as journal:
            here = joining.has_credential(place) or journal.taken() is not None
    if not (yes or no_input) and sys.stdin.isatty():
        note("the mesh lets go of this machine" if keep else "everything that the mesh has here is taken off")
        if not typer.confirm("Go on?", err=True):
            raise Stop(Exit.FAILED, "not-confirmed", "nothing was changed")
    unit = place == Path("/") and common.take_unit_off(joining.node(), "nothing was given back")
    outcome = None if keep else _given_back(place, as_json=as_json)
    if outcome is not None and outcome["state"] != "applied":
        raise _not_left(outcome)
    stuck = () if keep else joining.leave_network(place)
    if stuck:
        lines = [*stuck, "put that right and `mesh-host leave` again, or leave with --keep"]
        raise Stop(Exit.SOME_REFUSED, "network-stays", lines)
    joining.drop_credential(place)
    folder = wiring.put_aside(place)
    _tell_left(here or unit or folder is not None, folder, outcome, keep=keep, as_json=as_json)


def _tell_left(
    was_node: bool, folder: Path | None, outcome: dict[str, Any] | None, *, keep: bool, as_json: bool
) -> None:
    aside = None if folder is None else str(folder)
    if as_json:
        given_back = [] if outcome is None else outcome["actions"]
        say_json({"left": was_node, "kept": keep, "actions": given_back, "put_aside": aside})
        return
    if not was_node:
        say("this machine is no node; nothing to leave")
        return
    say("what the mesh had here stays as it is" if keep else "what the mesh had here was given back")
    if aside is not None:
        say(visible(f"the journal was put aside in {aside}"))
    say("this machine is no node any more, and can join anew")


def _given_back(place: Path, *, as_json: bool) -> dict[str, Any] | None:
    """Take everything off that the journal owns: what came of it; None where nothing was ever taken."""
    with wiring.journal_looked_at(place) as journal:
        if joining.nothing_at_all(journal) is None:
            return None
    with wiring.journal_at_work(place) as journal:
        content = joining.nothing_at_all(journal)
        if content is None:
            return None
        host = wiring.host(place, journal)
        decided = wiring.decide(content, "leaving", host)
        try:
            # The network goes last, and in another way: also where its record cannot be read.
            return wiring.do(decided, host, _watch(decided, as_json=as_json), with_network=False)
        except KeyboardInterrupt:
            line = "interrupted; what was given back stands in the journal, and the next leave goes on"
            raise Stop(Exit.INTERRUPTED, "interrupted", line) from None


def _watch(decided: wiring.Decided, *, as_json: bool) -> Any:
    if as_json:
        return _nobody
    from mesh_cli.host.render import Rendering

    view = Rendering(wiring.planned(decided))
    return lambda data: say(view.action(data))


def _nobody(_data: dict[str, Any]) -> None:
    """Watches nothing: JSON is printed whole."""


def _not_left(outcome: dict[str, Any]) -> Stop:
    from mesh_core.explain.host import thing

    failed = [action for action in outcome["actions"] if action["outcome"] == "failed"]
    stuck = [trouble for trouble in outcome["troubles"] if not trouble["elsewhere"]]
    lines = [f"could not be taken off: {thing(one['identity'], one['kind'])}: {one['why']}" for one in failed]
    lines += [f"could not be looked at: {thing(one['identity'], one['kind'])}: {one['why']}" for one in stuck]
    lines.append("the machine has not left: put that right and `mesh-host leave` again, or leave with --keep")
    return Stop(Exit.SOME_REFUSED, "not-all-off", lines, {"failed": failed, "troubles": stuck})
