"""`mesh broker ...`: the broker through which nodes are told what to be."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from mesh_cli import wiring_broker
from mesh_cli.options import BrokerOption, JsonOption, StoreOption
from mesh_cli.output import say, say_json
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

    Makes its virtual host, the control plane's account, and the queues of every
    node; what is there stays. The administrator's file has mode 0600 and is
    {"management": "http://HOST:15672", "account": ..., "password": ...},
    or {"rabbitmqctl": true} for root on the broker's machine.

    Example: mesh broker setup --admin admin.json
    """
    address = wiring_broker.rabbit_named(broker)
    accounts = wiring_broker.opened_accounts(address, admin)
    with opened_store(store) as opened:
        nodes = [node.name for node in opened.mesh().nodes]
    done = wiring_broker.set_up(address, broker, accounts, nodes)
    if as_json:
        say_json(done)
    else:
        say(_lines(done))


def _lines(done: dict[str, Any]) -> list[str]:
    host, account, credential = done["virtual_host"], done["account"], done["credential"]
    return [
        f"virtual host {host['name']}: {_how(host['made'])}",
        f"account {account['name']}: {_how(account['made'])}, with its rights",
        f"credential {credential['file']}: {'written' if credential['made'] else 'used as it is'}",
        f"queues of {', '.join(done['nodes'])}" if done["nodes"] else "queues: none yet, there are no nodes",
        f"{done['broker']} is ready; next: mesh node invite NODE",
    ]


def _how(made: bool) -> str:
    return "made" if made else "there already"
