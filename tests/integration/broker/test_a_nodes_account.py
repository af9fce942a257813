"""What a node's account may do: read its own queue, write to its own exchange, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from typing import Any

import amqp  # type: ignore[import-untyped]
import pytest
from attrs import evolve

from mesh_adapters.broker.inviting import invite
from mesh_adapters.broker.management import ManagedAccounts
from mesh_adapters.broker.principals import Login, Management, account_of
from mesh_adapters.broker.rabbit import RabbitBroker, RabbitHost
from mesh_adapters.store import SqliteStore
from mesh_core import Node, PutNode
from mesh_core.ports import BrokerRefused, QueueMissing, Refused
from tests.integration.broker.doors import PI, address, managed
from tests.integration.broker.harness import raw
from tests.integration.broker.server import RabbitServer
from tests.integration.broker.test_rabbit import FORBIDDEN, published
from tests.integration.store.helpers import record

MORE_FORBIDDEN: dict[str, Callable[[Any], object]] = {
    "write to its own queue": lambda ch: published(ch, "", "mesh.node.pi"),
    "write to an exchange of the broker's": lambda ch: published(ch, "amq.direct", "pi"),
    "write to the log": lambda ch: published(ch, "amq.rabbitmq.log", "pi"),
    "purge what it said": lambda ch: ch.queue_purge("mesh.reports.pi"),
    "purge what another said": lambda ch: ch.queue_purge("mesh.hellos.nas"),
    "delete another's": lambda ch: ch.queue_delete("mesh.node.nas"),
    "delete what another said": lambda ch: ch.queue_delete("mesh.reports.nas"),
    "delete the exchange of all": lambda ch: ch.exchange_delete("mesh.nodes"),
    "delete another's exchange": lambda ch: ch.exchange_delete("mesh.from.nas"),
    "make a queue without a name": lambda ch: ch.queue_declare("", exclusive=True),
    "make its queue anew": lambda ch: ch.queue_declare("mesh.node.pi", durable=True, auto_delete=False),
    "bind its exchange to that of all": lambda ch: ch.exchange_bind("mesh.nodes", "mesh.from.pi", "report"),
    "bind that of all to its own": lambda ch: ch.exchange_bind("mesh.from.pi", "mesh.nodes", "nas"),
    "bind another's to its own": lambda ch: ch.exchange_bind("mesh.from.pi", "mesh.from.nas", "report"),
    "unbind its own": lambda ch: ch.queue_unbind("mesh.node.pi", "mesh.nodes", "pi"),
    "unbind another's": lambda ch: ch.queue_unbind("mesh.node.nas", "mesh.nodes", "nas"),
    "take what it said itself": lambda ch: ch.basic_consume("mesh.hellos.pi"),
    "take as a reply": lambda ch: published(ch, "", "amq.rabbitmq.reply-to.x"),
    "be another's account": lambda ch: published(ch, "mesh.from.pi", "report", user_id=account_of("nas")),
}


@pytest.fixture(scope="module")
def invited(session_server: RabbitServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RabbitServer]:
    """A broker to which pi and nas were invited."""
    accounts = managed(session_server)
    with (
        closing(RabbitBroker(session_server.address())) as broker,
        closing(SqliteStore.create(str(tmp_path_factory.mktemp("invited") / "mesh.db"))) as store,
    ):
        for node in ("pi", "nas"):
            record(store, PutNode(node=Node(name=node)))
            invite(node, "first", store, broker, accounts)
    yield session_server
    for node in ("pi", "nas"):
        accounts.revoke(account_of(node))


@pytest.mark.parametrize("attempt", [*FORBIDDEN, *MORE_FORBIDDEN])
def test_a_nodes_account_can_not(invited: RabbitServer, attempt: str) -> None:
    with raw(address(invited, "first")) as channel:
        with pytest.raises((amqp.AccessRefused, amqp.PreconditionFailed)) as caught:
            (FORBIDDEN | MORE_FORBIDDEN)[attempt](channel)
        assert caught.value.reply_code == (406 if attempt.startswith("be ") else 403)


def test_a_nodes_account_can_what_it_should(invited: RabbitServer) -> None:
    with raw(address(invited, "first")) as channel:
        published(channel, "mesh.from.pi", "report", user_id=PI)
        published(channel, "mesh.from.pi", "hello", user_id=PI)
        channel.basic_get("mesh.node.pi")


@pytest.mark.parametrize("header", ["CC", "BCC"])
def test_copies_that_it_asks_for_reach_nobody_else(invited: RabbitServer, header: str) -> None:
    elsewhere = ["nas", "mesh.node.nas", "mesh.reports.nas", "mesh.hellos.nas"]
    with closing(RabbitBroker(invited.address())) as broker:
        for node in ("pi", "nas"):
            broker.remove_node(node)
        broker.add_nodes(["pi", "nas"])
        with raw(address(invited, "first")) as channel:
            headers = {header: elsewhere}
            published(channel, "mesh.from.pi", "report", user_id=PI, application_headers=headers)
        assert broker.waiting(["pi", "nas"]) == {"pi": 1, "nas": 0}
        with closing(RabbitHost(address(invited, "first", account_of("nas")), "nas")) as host:
            assert host.take(0.3) is None


def test_a_nodes_account_gets_neither_into_the_management_nor_into_another_virtual_host(
    invited: RabbitServer,
) -> None:
    login = Login(account=PI, password="first")
    with pytest.raises(BrokerRefused) as caught:
        ManagedAccounts(Management(url=invited.management, login=login), "/").names()
    assert caught.value.what is Refused.PERMISSION
    invited.ctl("add_vhost", "elsewhere")
    try:
        elsewhere = evolve(address(invited, "first"), virtual_host="elsewhere")
        with closing(RabbitHost(elsewhere, "pi")) as host, pytest.raises((BrokerRefused, QueueMissing)):
            host.take(0)
    finally:
        invited.ctl("delete_vhost", "elsewhere")


def test_no_nodes_account_is_ever_the_control_planes() -> None:
    from mesh_adapters.broker.principals import CONTROL_ACCOUNT

    assert "." in CONTROL_ACCOUNT, "no node has a dot in its name"
    assert not CONTROL_ACCOUNT.startswith("mesh.node.")
    assert account_of("control") != CONTROL_ACCOUNT
