"""What joining asks of a broker: made ready once, a node invited, a node shut out."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from mesh_adapters.broker.principals import Login, account_of
from mesh_adapters.broker.topology import CONTROL_PLANE, permissions_of
from mesh_core.ports import Accounts, Broker, Store


@frozen(kw_only=True)
class Made:
    """What was not there before."""

    virtual_host: bool
    account: bool


def make_ready(accounts: Accounts, login: Login) -> Made:
    """Make the virtual host and the control plane's account there. Once more changes nothing of it."""
    virtual_host = accounts.ensure_virtual_host()
    account = accounts.ensure(login.account, login.password, CONTROL_PLANE)
    return Made(virtual_host=virtual_host, account=account)


def make_queues(broker: Broker, nodes: Iterable[str]) -> None:
    """Make what these nodes are told and answer through; without any, see that we are let in."""
    names = tuple(nodes)
    broker.add_nodes(names)
    broker.waiting(names[:1])


def invite(node: str, password: str, store: Store, broker: Broker, accounts: Accounts) -> bool:
    """Give a node's name to whichever machine comes with this password: whether another one had it.

    The old account goes first, with its connections: from then on nothing more of the old machine's comes.
    What it said last is dropped, so that it does not take the name back; then the name is free, and only
    then there is an account again. Whatever this is stopped at, another invitation goes on from there.
    """
    broker.add_nodes([node])
    replaced = accounts.revoke(account_of(node))
    _drop_what_was_said(node, broker)
    with store.writing() as session:
        session.give_to_another(node)
    accounts.ensure(account_of(node), password, permissions_of(node))
    return replaced


def _drop_what_was_said(node: str, broker: Broker) -> None:
    broker.listen([node])
    while (delivery := broker.take(0)) is not None:
        delivery.ack()
    broker.listen([])
