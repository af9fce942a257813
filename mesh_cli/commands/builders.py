"""`mesh builder ...`: the builders, which build modules from their sources."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mesh_cli import at_broker, wiring_broker
from mesh_cli import wiring_inviting as wiring
from mesh_cli.commands.broker import AdminOption
from mesh_cli.commands.inviting import ReachOption, tell_invited
from mesh_cli.exits import Stop
from mesh_cli.options import BrokerOption, JsonOption, StoreOption, checked_name, completed
from mesh_cli.output import ago, note, say, say_json, table
from mesh_cli.wiring import now, opened_store

if TYPE_CHECKING:
    from mesh_core.model.build import Build

group = typer.Typer(
    help="Builders, which build modules from their sources.", rich_markup_mode=None, no_args_is_help=True
)

BuilderArgument = Annotated[
    str,
    typer.Argument(metavar="NAME", autocompletion=completed("builders"), show_default=False, hidden=True),
]


@group.command("invite")
def invite(
    name: BuilderArgument,
    *,
    admin: AdminOption,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE", help="Where to write it, - to print it (default: NAME.builder.json)."
        ),
    ] = None,
    reach: ReachOption = None,
    broker: BrokerOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Invite a machine to be this builder.

    Writes one file, mode 0600: the broker's address and certificate, and an
    account for this builder alone. It serves once, for `mesh-builder join FILE`.
    A new invitation ends the one before, and shuts out who came with it.
    A node may have the same name.

    Example: mesh builder invite nas --admin admin.json
    """
    builder = checked_name("node", name)
    place = out or f"{builder}.builder.json"
    address = wiring_broker.rabbit_named(broker)
    invitation = wiring.invitation("builder", builder, address, reach)
    accounts = wiring_broker.opened_accounts(address, admin)
    with (
        opened_store(store) as opened,
        wiring_broker.opened_broker(broker) as reached,
        wiring.written(invitation, place),
    ):
        replaced = wiring.invite(invitation, opened, reached, accounts)
    tell_invited(invitation, place, replaced=replaced, as_json=as_json)


@group.command("revoke")
def revoke(
    name: BuilderArgument,
    *,
    admin: AdminOption,
    broker: BrokerOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Shut a builder out of the broker, and forget it.

    Within five seconds its account goes, and every connection of it; so does what
    it said and nobody took in. What it has in hand goes to another builder; what it built stays.

    Example: mesh builder revoke nas --admin admin.json
    """
    builder = checked_name("node", name)
    accounts = wiring_broker.opened_accounts(wiring_broker.rabbit_named(broker), admin)
    revoked = wiring.shut_out("builder", builder, accounts)
    queues = at_broker.beside(broker, lambda reached: reached.remove_builder(builder))
    forgotten = _forget(store, builder)
    if not (revoked or forgotten is True or (queues is not None and queues.done)):
        raise wiring.no_account("builder", builder, accounts)
    if queues is not None and queues.failed is not None:
        note(f"the queue of {builder} stays at the broker: {queues.failed.lines[0]}; say this again then")
    if isinstance(forgotten, str):
        note(f"{builder} stays in the store: {forgotten}; say this again then")
    if as_json:
        facts = {"queues": queues.facts("removed")} if queues is not None else {}
        say_json({"builder": builder, "revoked": revoked, "forgotten": forgotten is True, **facts})
        return
    shut_out = f"{builder} is shut out of the broker"
    say(shut_out if revoked else f"{builder} had no account any more")
    if forgotten is True:
        say("  it is forgotten; what it built stays, and what it had in hand goes to another builder")


def _forget(store: Path | None, builder: str) -> bool | str:
    """Whether the store had such a builder; why it was not asked, where it could not be.

    Whoever has to be shut out waits for no store.
    """
    from mesh_cli.outages import told
    from mesh_core.ports import StoreError

    try:
        with opened_store(store) as opened, opened.writing() as session:
            return session.remove_builder(builder)
    except Stop as stop:
        return stop.lines[0]
    except StoreError as error:
        return told(error).lines[0]


@group.command("list")
def list_builders(*, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the builders, with what each of them did last.

    Example: mesh builder list
    """
    with opened_store(store) as opened:
        names, last = opened.builders(), _last_of(opened.builds())
    if as_json:
        say_json({"builders": [_to_data(name, last.get(name)) for name in names]})
        return
    if not names:
        say("there are no builders; mesh builder invite NAME invites one")
        return
    rows = [[name, *_did(last.get(name))] for name in names]
    say(table(rows, ["BUILDER", "LAST", "STATE", "WHEN", ""]))


def _last_of(builds: Iterable[Build]) -> dict[str, Build]:
    """By builder, the newest build that it took or answered."""
    found: dict[str, Build] = {}
    for build in builds:
        builder = _builder_of(build)
        if builder is not None:
            found.setdefault(builder, build)
    return found


def _builder_of(build: Build) -> str | None:
    return build.taken_by if build.answer is None else build.answer.builder


def _to_data(name: str, last: Build | None) -> dict[str, Any]:
    from mesh_core.explain.builds import build_to_data

    return {"builder": name, "last": None if last is None else build_to_data(last)}


def _did(last: Build | None) -> list[str]:
    from mesh_core.builds.state import state_of_build
    from mesh_core.explain.builds import build_called, why_failed

    if last is None:
        return ["-", "", "", ""]
    instant = last.answered_at or last.taken_at or last.asked_at
    return [build_called(last), state_of_build(last).value, ago(instant, now()), why_failed(last)]
