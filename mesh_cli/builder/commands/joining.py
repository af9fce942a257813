"""`mesh-builder join` and `leave`: becoming a builder of a mesh, and being none any more."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from mesh_cli import wiring_joining as common
from mesh_cli.builder import wiring
from mesh_cli.exits import Exit, Stop
from mesh_cli.joining import used_up
from mesh_cli.options import JsonOption
from mesh_cli.output import say, say_json, visible
from mesh_cli.roots import RootOption, called, root_of


def join(
    file: Annotated[str, typer.Argument(metavar="FILE", help="The invitation.", show_default=False)],
    *,
    no_start: Annotated[bool, typer.Option("--no-start", help="Do not start the builder.")] = False,
    root: RootOption = None,
    as_json: JsonOption = False,
) -> None:
    """Become a builder, with an invitation.

    See `mesh builder invite`. The broker is asked first; the invitation's file is
    removed once it was used. For root where there is systemd, the builder runs
    from then on: say before, in /etc/mesh-builder/builder.toml, where what it
    builds goes (see `mesh-builder run --help`).

    Example: mesh-builder join nas.builder.json
    """
    place, role = root_of(root), common.role_called("builder")
    found = wiring.places_under(place)
    credential = common.invitation(file, role)
    _refuse_another(found.credential, credential.name)
    systemd = os.geteuid() == 0 and common.starts_units(place)
    if systemd and not no_start:
        wiring.told_for_unit(found)  # what would keep it from running is told before anything is changed
    common.see_the_broker(credential)
    kept = common.keep_credential(found.credential, credential)
    gone = not common.is_the_credential(found.credential, file) and used_up(file)
    if systemd:
        common.put_unit(role, start=not no_start)
    started = systemd and not no_start
    if as_json:
        facts = {"builder": credential.name, "credential": kept, "file_removed": gone, "started": started}
        say_json(facts)
        return
    say(visible(f"this is the builder {credential.name} now; its credential is {kept}"))
    if gone:
        say(visible(f"{file} was removed: an invitation serves once"))
    following = f"next: {called('mesh-builder run', root)}{wiring.yet_to_say(found)}"
    say("mesh-builder runs, and is started with the machine" if started else visible(following))


def _refuse_another(place: Path, name: str) -> None:
    other = common.joined_as(place, common.role_called("builder"))
    if other is None or other == name:
        return
    lines = [
        f"refused: this is the builder {other}, and the invitation is for {name}",
        "  `mesh-builder leave` ends that; then it can join anew",
        "nothing was changed",
    ]
    raise Stop(Exit.REFUSED, "another-builder", lines, {"builder": name, "this": other})


def leave(*, root: RootOption = None, as_json: JsonOption = False) -> None:
    """Be a builder no longer.

    Takes off its unit, which ends the builder, and its credential. What was built
    stays where it is; what is being built goes to another builder.

    Example: mesh-builder leave
    """
    place, role = root_of(root), common.role_called("builder")
    found = wiring.places_under(place)
    here = found.credential.is_file()
    unit = (
        os.geteuid() == 0 and place == Path("/") and common.take_unit_off(role, "it is a builder as before")
    )
    common.drop([found.state / wiring.ca_file(), found.credential])
    if as_json:
        say_json({"left": here or unit})
    elif here or unit:
        say("this is no builder any more, and can join anew; `mesh builder revoke` ends its account")
    else:
        say("there is no builder here; nothing to leave")
