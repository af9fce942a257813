"""`mesh node invite` and `revoke`: letting a machine be a node, and shutting it out."""

from __future__ import annotations

import json
from typing import Annotated

import typer

from mesh_cli import wiring_broker
from mesh_cli.commands.broker import AdminOption
from mesh_cli.lookup import known_node
from mesh_cli.options import BrokerOption, JsonOption, NodeArgument, StoreOption, checked_name
from mesh_cli.output import note, say, say_json
from mesh_cli.wiring import opened_store

LOOPBACK = ("localhost", "127.0.0.1", "::1")


def invite(
    node: NodeArgument,
    *,
    admin: AdminOption,
    out: Annotated[
        str | None,
        typer.Option(
            "--out", metavar="FILE", help="Where to write it, - to print it (default: NODE.invitation.json)."
        ),
    ] = None,
    reach: Annotated[
        str | None,
        typer.Option("--reach", metavar="URL", help="The broker as the node reaches it (default: as here)."),
    ] = None,
    broker: BrokerOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Invite a machine to be this node.

    Writes one file, mode 0600: the broker's address and certificate, and an
    account for this node alone. It serves once, for `mesh-host join FILE`.
    A new invitation ends the one before, and shuts out who came with it.

    Example: mesh node invite nas --admin admin.json
    """
    name = checked_name("node", node)
    place = out or f"{name}.invitation.json"
    address = wiring_broker.rabbit_named(broker)
    invitation = wiring_broker.invitation(name, address, reach)
    accounts = wiring_broker.opened_accounts(address, admin)
    with opened_store(store) as opened:
        known_node(opened.mesh(), name)
        with wiring_broker.opened_broker(broker) as reached, wiring_broker.written(invitation, place):
            replaced = wiring_broker.invite(invitation, opened, reached, accounts)
    _tell(invitation, place, replaced=replaced, as_json=as_json)


def _tell(invitation: wiring_broker.Credential, place: str, *, replaced: bool, as_json: bool) -> None:
    printed = wiring_broker.invitation_text(invitation) if place == "-" else None
    file = None if place == "-" else place
    if as_json:
        facts = {"node": invitation.node, "account": invitation.account, "replaced": replaced}
        say_json({**facts, "file": file, "invitation": None if printed is None else json.loads(printed)})
        return
    if printed is not None:
        say(printed)
    told = [f"wrote {file}, for {invitation.node} alone; it serves once:"] if file else []
    told += [f"  mesh-host join {file or 'FILE'}     there, as root"]
    if replaced:
        told.append("the invitation before has ended, and whoever came with it is shut out")
    (note if place == "-" else say)(told)
    if invitation.host in LOOPBACK:
        note(f"only this machine reaches the broker at {invitation.host}; --reach says another address")


def revoke(
    node: NodeArgument,
    *,
    admin: AdminOption,
    broker: BrokerOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Shut a node's machine out of the broker, within five seconds.

    Its account goes, and every connection of it. The machine keeps what it has;
    `mesh-host leave` there gives it back, `mesh node invite` lets it in again.

    Example: mesh node revoke nas --admin admin.json
    """
    name = checked_name("node", node)
    accounts = wiring_broker.opened_accounts(wiring_broker.rabbit_named(broker), admin)
    _ = store  # the completion reads it: whoever has to be shut out must not wait for a store
    wiring_broker.revoke(name, accounts)
    if as_json:
        say_json({"node": name, "revoked": True})
        return
    keeps = "  its machine keeps what it has; `mesh-host leave` there gives it back"
    say([f"{name} is shut out of the broker", keeps])
