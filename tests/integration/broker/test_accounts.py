"""The accounts of a real RabbitMQ, through both doors: what each may do, and how one is shut out."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any, ClassVar

import amqp  # type: ignore[import-untyped]
import pytest
from attrs import evolve

from mesh_adapters.broker import RabbitAddress, topology
from mesh_adapters.broker import accounts as doors
from mesh_adapters.broker.accounts import ManagedAccounts, open_accounts
from mesh_adapters.broker.inviting import invite
from mesh_adapters.broker.principals import Login, Management, OnTheMachine, account_of, nodes_among
from mesh_adapters.broker.rabbit import RabbitBroker, RabbitHost
from mesh_adapters.broker.rabbitmqctl import LocalAccounts
from mesh_adapters.store import SqliteStore
from mesh_core import Node, PutNode
from mesh_core.ports import (
    Accounts,
    BrokerOutage,
    BrokerRefused,
    BrokerUnreachable,
    Confirmed,
    Outgoing,
    QueueMissing,
    Refused,
    Unreachable,
)
from tests.integration.broker.harness import raw
from tests.integration.broker.server import PROGRAMS, RabbitServer
from tests.integration.broker.test_rabbit import FORBIDDEN, published
from tests.integration.store.helpers import record

WITHIN = 5.0
"""Issue: a revoked account and every connection of it are gone within five seconds."""

PI = account_of("pi")


def managed(server: RabbitServer, account: str = "control", virtual_host: str = "/") -> ManagedAccounts:
    login = Login(account=account, password=f"{account}-secret")
    return ManagedAccounts(Management(url=server.management, login=login), virtual_host)


def local(server: RabbitServer, virtual_host: str = "/") -> LocalAccounts:
    return LocalAccounts(virtual_host, str(PROGRAMS / "rabbitmqctl"), server.environment)


Doors = ManagedAccounts | LocalAccounts


@pytest.fixture(params=[managed, local], ids=["management", "rabbitmqctl"])
def accounts(request: pytest.FixtureRequest, server: RabbitServer) -> Iterator[Doors]:
    """One door, and no account of pi's before or after."""
    door: Doors = request.param(server)
    managed(server).revoke(PI)
    yield door
    managed(server).revoke(PI)


@pytest.fixture
def broker(server: RabbitServer) -> Iterator[RabbitBroker]:
    with closing(RabbitBroker(server.address())) as broker:
        for node in ("pi", "nas"):
            broker.remove_node(node)
        broker.add_nodes(["pi", "nas"])
        yield broker


def address(server: RabbitServer, password: str, account: str = PI) -> RabbitAddress:
    return evolve(server.address(), account=account, password=password)


def lets_in(server: RabbitServer, password: str) -> bool:
    """Whether the broker takes this password for pi's."""
    with closing(RabbitHost(address(server, password), "pi")) as host:
        try:
            host.take(0)
        except BrokerRefused as refused:
            return refused.what is not Refused.CREDENTIALS
    return True


# Through both doors.


def test_an_account_is_made_and_gets_another_password(
    server: RabbitServer, broker: RabbitBroker, accounts: Doors
) -> None:
    rights = topology.permissions_of("pi")
    assert PI not in accounts.names()
    assert accounts.ensure(PI, "first", rights)
    assert PI in accounts.names()
    assert list(accounts.names()) == sorted(accounts.names())
    assert lets_in(server, "first")
    assert not accounts.ensure(PI, "second", rights)
    assert not lets_in(server, "first")
    assert lets_in(server, "second")
    assert "pi" in nodes_among(accounts.names())


def test_an_account_has_the_rights_that_were_given_and_none_over_the_broker(
    server: RabbitServer, accounts: Doors
) -> None:
    server.add_account(PI, topology.CONTROL_PLANE)
    server.ctl("set_user_tags", PI, "administrator")
    rights = topology.permissions_of("pi")
    assert not accounts.ensure(PI, "first", rights)
    (listed,) = [line.split("\t") for line in server.ctl("list_users").splitlines() if line.startswith(PI)]
    assert listed == [PI, "[]"]
    shown = server.ctl("list_user_permissions", PI).splitlines()[-1].split("\t")
    assert shown == ["/", rights.configure, rights.write, rights.read]


def test_a_virtual_host_is_made_once(server: RabbitServer) -> None:
    for door in (managed, local):
        name = f"of {door.__name__}/1"
        try:
            accounts = door(server, virtual_host=name)
            assert accounts.ensure_virtual_host()
            assert not accounts.ensure_virtual_host()
            accounts.ensure(PI, "first", topology.permissions_of("pi"))
            shown = server.ctl("list_user_permissions", PI).splitlines()[-1].split("\t")
            assert shown[0] == name
            accounts.revoke(PI)
        finally:
            server.ctl("delete_vhost", name)


def test_a_revoked_account_is_cut_off_in_time(
    server: RabbitServer, broker: RabbitBroker, accounts: Doors
) -> None:
    accounts.ensure(PI, "first", topology.permissions_of("pi"))
    with consuming(server, "first") as ended, consuming(server, "first") as other:
        began = time.monotonic()
        assert accounts.revoke(PI)
        assert PI not in accounts.names()
        for each in (ended, other):
            assert each() - began < WITHIN
    assert not lets_in(server, "first")
    assert not accounts.revoke(PI), "and once more is nothing"


def test_connections_that_outlive_their_account_are_ended(
    server: RabbitServer, broker: RabbitBroker, accounts: Doors
) -> None:
    """Removing an account ends those that the broker knows of by then; this ends one that it missed."""
    accounts.ensure(PI, "first", topology.permissions_of("pi"))
    with consuming(server, "first") as ended:
        assert accounts._is_connected(PI)
        assert not accounts._is_connected(account_of("nas"))
        accounts._end_all(PI)
        ended()
        assert not accounts._is_connected(PI)


@pytest.mark.parametrize("fails", [1, 99])
def test_an_account_that_is_still_connected_is_not_told_to_be_gone(
    monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    """The looks decide, whatever ending them said: they may end by themselves meanwhile."""
    monkeypatch.setattr(doors, "GONE_SECONDS", 0.2)
    monkeypatch.setattr(doors, "BETWEEN_LOOKS", 0.05)
    looks: list[str] = []

    def is_connected(account: str) -> bool:
        looks.append(account)
        return len(looks) <= fails

    if fails == 1:
        doors.until_gone("there", PI, is_connected, lambda _: None)
        assert len(looks) == 3, "none is seen twice, since one may just be made"
    else:
        with pytest.raises(BrokerRefused, match=r"mesh\.node\.pi is removed, and still connected"):
            doors.until_gone("there", PI, is_connected, lambda _: None)


@contextmanager
def consuming(server: RabbitServer, password: str) -> Iterator[Callable[[], float]]:
    """A host that waits for its declaration; what is given says when its connection ended."""
    ends: list[float] = []
    with raw(address(server, password)) as channel:
        channel.basic_consume("mesh.node.pi")

        def wait() -> None:
            try:
                while True:
                    channel.connection.drain_events(timeout=30)
            except (amqp.AMQPError, OSError):
                ends.append(time.monotonic())

        waiting = threading.Thread(target=wait, daemon=True)
        waiting.start()

        def ended() -> float:
            waiting.join(10)
            assert ends, "it is connected still"
            return ends[0]

        yield ended


# What a node's account may do: read its own queue, write to its own exchange, and nothing else.

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


# An invitation.


@pytest.fixture
def store(tmp_path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.create(str(tmp_path / "mesh.db"))) as store:
        record(store, PutNode(node=Node(name="pi")))
        yield store


def test_a_new_invitation_ends_the_old_credential(
    server: RabbitServer, broker: RabbitBroker, accounts: Doors, store: SqliteStore
) -> None:
    assert not invite("pi", "first", store, broker, accounts)
    with closing(RabbitHost(address(server, "first"), "pi")) as old:
        assert isinstance(old.hello(b"it is me, the old one"), Confirmed)
        with consuming(server, "first") as ended:
            began = time.monotonic()
            assert invite("pi", "second", store, broker, accounts)
            assert ended() - began < WITHIN
        with pytest.raises(BrokerOutage):
            old.take(0.5)
        with pytest.raises(BrokerRefused):
            old.hello(b"it is me, the old one, again")
    assert broker.waiting(["pi"]) == {"pi": 0}, "what the old one said last does not take the name back"
    assert not lets_in(server, "first")
    assert lets_in(server, "second")


def test_an_invitation_makes_the_queues_and_keeps_what_waits_for_the_node(
    server: RabbitServer, broker: RabbitBroker, store: SqliteStore
) -> None:
    accounts = managed(server)
    broker.remove_node("pi")
    invite("pi", "first", store, broker, accounts)
    broker.publish([Outgoing(node="pi", body=b"43")])
    invite("pi", "second", store, broker, accounts)
    with closing(RabbitHost(address(server, "second"), "pi")) as host:
        delivery = host.take(5)
        assert delivery is not None
        assert delivery.content == b"43"
        delivery.ack()
    accounts.revoke(PI)


def test_an_invitation_gives_the_name_to_whoever_comes_next(
    server: RabbitServer, broker: RabbitBroker, store: SqliteStore
) -> None:
    accounts = managed(server)
    with store.writing() as session:
        assert session.seen("pi", "the old machine", "2026-12-01T22:20:02Z")
        assert not session.seen("pi", "the new machine", "2026-12-01T22:20:02Z")
    invite("pi", "first", store, broker, accounts)
    with store.writing() as session:
        assert session.seen("pi", "the new machine", "2026-12-01T22:20:03Z")
        assert not session.seen("pi", "the old machine", "2026-12-01T22:20:03Z")
    accounts.revoke(PI)


# Outages, and passwords.


def test_who_is_no_administrator_is_refused(server: RabbitServer) -> None:
    with pytest.raises(BrokerRefused) as caught:
        managed(server, "nobody").names()
    assert caught.value.what is Refused.CREDENTIALS
    server.add_account("looker", topology.permissions_of("looker"))
    server.ctl("set_user_tags", "looker", "management")
    for use in (
        lambda: managed(server, "looker").names(),
        lambda: managed(server, "looker").revoke("pi"),
        lambda: managed(server, "looker", "/new").ensure_virtual_host(),
    ):
        with pytest.raises(BrokerRefused) as caught:
            use()
        assert caught.value.what is Refused.PERMISSION
    server.ctl("delete_user", "looker")
    assert "pi" in managed(server).names()


def test_rights_in_a_virtual_host_that_is_not_there(server: RabbitServer) -> None:
    for accounts in (managed(server, virtual_host="/no"), local(server, "/no")):
        with pytest.raises(BrokerRefused) as caught:
            accounts.ensure(PI, "first", topology.permissions_of("pi"))
        assert caught.value.what is Refused.UNFIT
        accounts.revoke(PI)


class Elsewhere(BaseHTTPRequestHandler):
    """Sends everybody on, and remembers what they asked for."""

    came: ClassVar[list[str]] = []
    to = ""

    def do_GET(self) -> None:
        Elsewhere.came.append(self.path)
        self.send_response(302 if Elsewhere.to else 200)
        self.send_header("Location", Elsewhere.to)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """It says nothing."""


@contextmanager
def elsewhere() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Elsewhere) as web:
        serving = threading.Thread(target=web.serve_forever, daemon=True)
        serving.start()
        try:
            yield f"http://127.0.0.1:{web.server_port}"
        finally:
            web.shutdown()
            serving.join()


def at(url: str) -> ManagedAccounts:
    return ManagedAccounts(Management(url=url, login=Login(account="a", password="hunter2")), "/")


def test_what_is_no_management_interface(server: RabbitServer) -> None:
    with elsewhere() as web:
        for url, reason in (
            (web, Unreachable.NO_BROKER),
            ("http://127.0.0.1:1", Unreachable.NO_ANSWER),
            ("http://nowhere.invalid", Unreachable.NO_ADDRESS),
            (server.management.replace("http:", "https:"), Unreachable.NOT_TRUSTED),
        ):
            with pytest.raises(BrokerUnreachable) as caught:
                at(url).names()
            assert (url, caught.value.reason) == (url, reason)
            assert "hunter2" not in str(caught.value)


def test_the_password_goes_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    with elsewhere() as web:
        Elsewhere.came.clear()
        Elsewhere.to = f"{web}/elsewhere"
        try:
            with pytest.raises(BrokerUnreachable):
                at(web).names()
            assert Elsewhere.came == ["/api/users?columns=name"]
            monkeypatch.setenv("http_proxy", web)
            with pytest.raises(BrokerUnreachable):
                at("http://127.0.0.1:1").names()
            assert len(Elsewhere.came) == 1
        finally:
            Elsewhere.to = ""


def test_a_frozen_broker_is_not_waited_for(server: RabbitServer) -> None:
    server.freeze()
    try:
        with pytest.raises(BrokerUnreachable) as caught:
            managed(server).revoke(PI)
    finally:
        server.thaw()
    assert caught.value.reason is Unreachable.TIMED_OUT


def test_rabbitmqctl_gets_a_password_where_nobody_sees_it(tmp_path: Path) -> None:
    said = tmp_path / "said"
    program = tmp_path / "rabbitmqctl"
    program.write_text(
        f'#!/bin/sh\necho "$@" >>{said}\ncase "$*" in *list_users*) echo "[]";; *add_user*) cat >{said}.in;; '
        "esac\n"
    )
    program.chmod(0o755)
    LocalAccounts("/", str(program)).ensure(PI, "hunter2", topology.permissions_of("pi"))
    assert "add_user mesh.node.pi" in said.read_text()
    assert "hunter2" not in said.read_text()
    assert said.with_suffix(".in").read_text() == "hunter2\n"


def test_a_rabbitmqctl_that_is_not_there_or_has_no_broker(server: RabbitServer) -> None:
    with pytest.raises(BrokerUnreachable) as caught:
        LocalAccounts("/", "/nowhere/rabbitmqctl").names()
    assert caught.value.reason is Unreachable.NO_ANSWER
    away = server.environment | {"RABBITMQ_NODENAME": "nobody@localhost"}
    with pytest.raises(BrokerUnreachable) as caught:
        LocalAccounts("/", str(PROGRAMS / "rabbitmqctl"), away).names()
    assert "nobody@localhost" in caught.value.detail


def test_how_a_broker_is_administered_chooses_the_door(server: RabbitServer) -> None:
    login = Login(account="control", password="control-secret")
    accounts: Accounts = open_accounts(Management(url=server.management, login=login), "/")
    assert "control" in accounts.names()
    assert isinstance(open_accounts(OnTheMachine(), "/"), LocalAccounts)
    assert "control-secret" not in repr(Management(url=server.management, login=login))


def test_no_nodes_account_is_ever_the_control_planes() -> None:
    from mesh_adapters.broker.principals import CONTROL_ACCOUNT

    assert "." in CONTROL_ACCOUNT, "no node has a dot in its name"
    assert not CONTROL_ACCOUNT.startswith("mesh.node.")
    assert account_of("control") != CONTROL_ACCOUNT
