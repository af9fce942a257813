"""Accounts are made and removed alike through the management interface and through `rabbitmqctl`."""

from __future__ import annotations

import time

import pytest

from mesh_adapters.broker import ending, topology
from mesh_adapters.broker.principals import account_of, nodes_among
from mesh_adapters.broker.rabbit import RabbitBroker
from mesh_core.ports import BrokerRefused
from tests.integration.broker.doors import PI, WITHIN, Doors, consuming, lets_in, local, managed, until_ended
from tests.integration.broker.doors import accounts as accounts
from tests.integration.broker.doors import broker as broker
from tests.integration.broker.server import RabbitServer


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
        until_ended(accounts)


@pytest.mark.parametrize("fails", [1, 99])
def test_an_account_that_is_still_connected_is_not_told_to_be_gone(
    monkeypatch: pytest.MonkeyPatch, fails: int
) -> None:
    """The looks decide, whatever ending them said: they may end by themselves meanwhile."""
    monkeypatch.setattr(ending, "GONE_SECONDS", 0.2)
    monkeypatch.setattr(ending, "BETWEEN_LOOKS", 0.05)
    looks: list[str] = []

    def is_connected(account: str) -> bool:
        looks.append(account)
        return len(looks) <= fails

    if fails == 1:
        ending.until_gone("there", PI, is_connected, lambda _: None)
        assert len(looks) == 3, "none is seen twice, since one may just be made"
    else:
        with pytest.raises(BrokerRefused, match=r"mesh\.node\.pi is removed, and still connected"):
            ending.until_gone("there", PI, is_connected, lambda _: None)


def test_a_slow_door_ends_them_again_before_it_says_that_they_are_connected(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Where a single look takes longer than the whole time there is, one new connection is no refusal."""
    monkeypatch.setattr(ending, "GONE_SECONDS", 0.0)
    monkeypatch.setattr(ending, "BETWEEN_LOOKS", 0.0)
    connected = iter([True, True, True, False, False])
    ended: list[str] = []
    ending.until_gone("there", PI, lambda _: next(connected), ended.append)
    assert ended == [PI] * 3
