"""What joining asks of a broker: made ready once, a node or a builder invited, and shut out."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen

from mesh_adapters.broker.principals import (
    Login,
    account_of,
    account_of_builder,
    builders_among,
    nodes_among,
)
from mesh_adapters.broker.topology import CONTROL_PLANE, SAID, permissions_of
from mesh_adapters.broker.topology_of_builds import permissions_of as permissions_of_builder
from mesh_core.ports import Accounts, Amiss, Broker, Holding, How, Rights, Store


@frozen(kw_only=True)
class Ready:
    """What was not there before, what was not as it is to be, and what else was seen."""

    virtual_host: bool
    account: bool
    limit: How
    mended: Mapping[str, tuple[Amiss, ...]]
    """What was amiss with each account that was there: the control plane's, the nodes' and the builders'."""
    others: tuple[str, ...]
    """Nodes that have an account and are none of these."""
    other_builders: tuple[str, ...]
    """Builders in the same way."""
    holding: Holding | None


def make_ready(accounts: Accounts, login: Login, nodes: Sequence[str], builders: Sequence[str]) -> Ready:
    """Make the virtual host, the limit and the control plane's account there, and mend what others may do.

    Once more changes nothing of it. A node or builder without an account gets none: an invitation makes it,
    and knows its password. Accounts of other ones are left alone: they may be another mesh's.
    """
    virtual_host = accounts.ensure_virtual_host()
    limit = accounts.limit(SAID)
    wanted: dict[str, Rights] = {account_of(node): permissions_of(node) for node in nodes}
    wanted |= {account_of_builder(builder): permissions_of_builder(builder) for builder in builders}
    mended = accounts.mend(wanted | {login.account: CONTROL_PLANE})
    account = accounts.ensure(login.account, login.password, CONTROL_PLANE)
    names = accounts.names()
    return Ready(
        virtual_host=virtual_host,
        account=account,
        limit=limit,
        mended=mended,
        others=tuple(node for node in nodes_among(names) if node not in nodes),
        other_builders=tuple(name for name in builders_among(names) if name not in builders),
        holding=accounts.holding(),
    )


def make_queues(broker: Broker, nodes: Iterable[str], builders: Iterable[str]) -> None:
    """Make the queue of requests, and what these nodes and builders are told and answer through."""
    broker.add_nodes(nodes)
    broker.add_builders(builders)


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


def invite_builder(
    builder: str, password: str, at: str, store: Store, broker: Broker, accounts: Accounts
) -> bool:
    """Let whichever machine comes with this password be that builder: whether another one was.

    The old account goes first, with its connections, and what it has in hand goes to another builder. What it
    answered before still counts. Whatever this is stopped at, another invitation goes on from there.
    """
    broker.add_builders([builder])
    replaced = accounts.revoke(account_of_builder(builder))
    with store.writing() as session:
        session.add_builder(builder, at)
    accounts.ensure(account_of_builder(builder), password, permissions_of_builder(builder))
    return replaced


def _drop_what_was_said(node: str, broker: Broker) -> None:
    broker.listen([node])
    while (delivery := broker.take(0)) is not None:
        delivery.ack()
    broker.listen([])
