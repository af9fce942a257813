"""`mesh node invite` and `revoke`: letting a machine be a node, and shutting it out."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mesh_cli import at_broker, wiring_broker, wiring_flows
from mesh_cli import wiring_inviting as wiring
from mesh_cli.commands.broker import AdminOption
from mesh_cli.exits import Stop
from mesh_cli.lookup import known_node
from mesh_cli.options import BrokerOption, JsonOption, NodeArgument, StoreOption, checked_name
from mesh_cli.output import note, say, say_json
from mesh_cli.wiring import opened_store

if TYPE_CHECKING:
    from mesh_core.ports import Broker, Store

LOOPBACK = ("localhost", "127.0.0.1", "::1")

ReachOption = Annotated[
    str | None,
    typer.Option("--reach", metavar="URL", help="The broker as it is reached there (default: as here)."),
]


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
    reach: ReachOption = None,
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
    invitation = wiring.invitation("node", name, address, reach)
    accounts = wiring_broker.opened_accounts(address, admin)
    with opened_store(store) as opened:
        known_node(opened.mesh(), name)
        with wiring_broker.opened_broker(broker) as reached, wiring.written(invitation, place):
            replaced = wiring.invite(invitation, opened, reached, accounts)
    tell_invited(invitation, place, replaced=replaced, as_json=as_json)


def tell_invited(invitation: wiring.Credential, place: str, *, replaced: bool, as_json: bool) -> None:
    """Say where the invitation is, and what it ended; printed it is the only thing on stdout."""
    printed = wiring.invitation_text(invitation) if place == "-" else None
    file = None if place == "-" else place
    if as_json:
        facts = {invitation.role.value: invitation.name, "account": invitation.account, "replaced": replaced}
        say_json({**facts, "file": file, "invitation": None if printed is None else json.loads(printed)})
        return
    if printed is not None:
        say(printed)
    told = [f"wrote {file}, for {invitation.name} alone; it serves once:"] if file else []
    told += [f"  {invitation.role.program} join {file or 'FILE'}     there, as root"]
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

    Its account goes, and every connection of it; where the store has no such
    node any more, its queues too. The machine keeps what it has; `mesh-host
    leave` there gives it back, `mesh node invite` lets it in again.

    Example: mesh node revoke nas --admin admin.json
    """
    name = checked_name("node", node)
    accounts = wiring_broker.opened_accounts(wiring_broker.rabbit_named(broker), admin)
    revoked = wiring.shut_out("node", name, accounts)
    removed = _forgotten_queues(broker, name) if _is_forgotten(store, name) else None
    left_out = removed is None and _left_out(broker, store, name)
    if not revoked and not left_out and (removed is None or not removed.done):
        raise wiring.no_account("node", name, accounts)
    if removed is not None and removed.failed is not None:
        note(f"the queues of {name} stay at the broker: {removed.failed.lines[0]}; say this again then")
    if as_json:
        queues = {} if removed is None else {"queues": removed.facts("removed")}
        say_json({"node": name, "revoked": revoked, "left_out": left_out, **queues})
        return
    keeps = "  its machine keeps what it has; `mesh-host leave` there gives it back"
    told = [f"{name} is shut out of the broker", keeps] if revoked else [f"{name} had no account any more"]
    if removed is not None and removed.done:
        told.append("  its queues at the broker are gone: there is no such node any more")
    if left_out:
        told.append("  its key is forgotten: the next `mesh push` takes it out of the network of the others")
    say(told)


def _left_out(broker: str | None, store: Path | None, node: str) -> bool:
    """Forget the key of a machine that was shut out: whether it had one. Shutting out waits for no store.

    What it said before that waits at the broker is taken in first, so that nothing brings the key back.
    """
    from mesh_core.ports import StoreError, StoreMissing

    try:
        with opened_store(store) as opened:
            taken = at_broker.beside(broker, lambda reached: _taken_in(opened, reached))
            if taken is not None and taken.failed is not None:
                why = f"what it said before may wait at the broker: {taken.failed.lines[0]}"
                note(f"the key of {node} may come back: {why}; say this again then")
            return wiring.forget_key(opened, node)
    except (Stop, StoreMissing):
        return False  # without a store there is no network that the others were told of
    except StoreError as error:
        note(f"the key of {node} in the network is not forgotten: {error}; say this again then")
        return False


def _taken_in(store: Store, broker: Broker) -> bool:
    wiring_flows.collect(store, broker)
    return True


def _is_forgotten(store: Path | None, node: str) -> bool:
    """Whether the store says that there is no such node. Whoever has to be shut out waits for no store."""
    from mesh_core.ports import StoreError

    try:
        with opened_store(store) as opened:
            return opened.mesh().node(node) is None
    except (Stop, StoreError):
        return False


def _forgotten_queues(broker: str | None, node: str) -> at_broker.Beside | None:
    return at_broker.beside(broker, lambda reached: reached.remove_node(node))
