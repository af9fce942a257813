"""Doors to the accounts that are closed, or are none; and that a password goes nowhere else."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import ClassVar

import pytest

from mesh_adapters.broker import topology
from mesh_adapters.broker.accounts import open_accounts
from mesh_adapters.broker.management import ManagedAccounts
from mesh_adapters.broker.principals import Login, Management, OnTheMachine
from mesh_adapters.broker.rabbitmqctl import LocalAccounts
from mesh_core.ports import Accounts, BrokerRefused, BrokerUnreachable, Refused, Unreachable
from tests.integration.broker.doors import PI, local, managed
from tests.integration.broker.server import PROGRAMS, RabbitServer


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
