"""An invitation at the broker: it ends the one before, keeps what waits, frees the name."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mesh_adapters.broker.inviting import invite
from mesh_adapters.broker.rabbit import RabbitBroker, RabbitHost
from mesh_adapters.store import SqliteStore
from mesh_core import Node, PutNode
from mesh_core.ports import BrokerOutage, BrokerRefused, Confirmed, Outgoing
from tests.integration.broker.doors import PI, WITHIN, Doors, address, consuming, lets_in, managed
from tests.integration.broker.doors import accounts as accounts
from tests.integration.broker.doors import broker as broker
from tests.integration.broker.server import RabbitServer
from tests.integration.store.helpers import record


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
