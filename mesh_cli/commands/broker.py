"""`mesh broker ...`: the broker through which nodes are told what to be."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mesh_cli import wiring_broker
from mesh_cli.options import BrokerOption, JsonOption, StoreOption
from mesh_cli.output import note, say, say_json
from mesh_cli.wiring import opened_store

group = typer.Typer(help="The broker.", rich_markup_mode=None, no_args_is_help=True)

AdminOption = Annotated[
    str,
    typer.Option(
        "--admin", metavar="FILE", help="The broker administrator's file, JSON.", show_default=False
    ),
]


@group.command("setup")
def setup(
    *,
    admin: AdminOption,
    broker: BrokerOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make the broker ready, as its administrator.

    Makes its virtual host, the control plane's account, the queues of every
    node and builder, and limits for all of them; the rights of accounts that are there are
    put back, their passwords stay. The administrator's file has mode 0600:
    {"management": "http://HOST:15672", "account": ..., "password": ...},
    or {"rabbitmqctl": true} for root on the broker's machine.

    Example: mesh broker setup --admin admin.json
    """
    address = wiring_broker.rabbit_named(broker)
    accounts = wiring_broker.opened_accounts(address, admin)
    with opened_store(store) as opened:
        nodes = [node.name for node in opened.mesh().nodes]
        builders = opened.builders()
    done = wiring_broker.set_up(address, broker, accounts, nodes, builders)
    if as_json:
        say_json(done)
    else:
        say(_lines(done))
    note(_notes(done))


def _lines(done: dict[str, Any]) -> list[str]:
    host, account, credential = done["virtual_host"], done["account"], done["credential"]
    return [
        f"virtual host {host['name']}: {_how(host['made'])}",
        f"account {account['name']}: {_how(account['made'])}, with its rights and limits",
        *_mended(done["accounts"]),
        f"credential {credential['file']}: {'written' if credential['made'] else 'used as it is'}",
        f"queues of {', '.join(done['nodes'])}" if done["nodes"] else "queues: none yet, there are no nodes",
        "queue of requests for builds" + _and_answers(done["builders"]),
        f"{done['broker']} is ready; next: mesh node invite NODE",
    ]


def _and_answers(builders: list[str]) -> str:
    return f", and of the answers of {', '.join(builders)}" if builders else ""


_AMISS = {"rights": "its rights", "limits": "its limits", "powers": "no say over the broker"}


def _mended(accounts: list[dict[str, Any]]) -> list[str]:
    """What was put back, of accounts that were there."""
    return [
        f"account {account['name']}: put back {', '.join(_AMISS[what] for what in account['mended'])}"
        for account in accounts
        if account["mended"]
    ]


def _notes(done: dict[str, Any]) -> list[str]:
    """What the broker's owner may want to see to."""
    lines = []
    if done["limit"]["state"] == "forbidden":
        lines.append(
            f"{done['broker']} lets nobody limit what waits in queues; a machine's account may fill it"
        )
    lines += [
        f"there is an account of {node}, and no such node; `mesh node revoke {node}` ends it"
        for node in done["accounts_without_node"]
    ]
    lines += [
        f"there is an account of the builder {name}, and no such one; `mesh builder revoke {name}` ends it"
        for name in done["accounts_without_builder"]
    ]
    return lines + _about_holding(done["consumer_timeout"])


def _about_holding(timeout: dict[str, Any]) -> list[str]:
    needed = f"a build may hold its request for {timeout['needed'] // 60} minutes"
    if not timeout["seen"]:
        return [f"consumer_timeout: not seen from here (`rabbitmqctl environment` there has it); {needed}"]
    if not timeout["enough"]:
        return [f"consumer_timeout: {timeout['seconds']:g} s in the broker's configuration; {needed}"]
    return []


def _how(made: bool) -> str:
    return "made" if made else "there already"
