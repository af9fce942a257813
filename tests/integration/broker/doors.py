"""Both doors to the accounts of a real RabbitMQ, and how the tests look at what an account may."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

import amqp  # type: ignore[import-untyped]
import pytest
from attrs import evolve

from mesh_adapters.broker import RabbitAddress
from mesh_adapters.broker.management import ManagedAccounts
from mesh_adapters.broker.principals import Login, Management, account_of
from mesh_adapters.broker.rabbit import RabbitBroker, RabbitHost
from mesh_adapters.broker.rabbitmqctl import LocalAccounts
from mesh_core.ports import BrokerRefused, Refused
from tests.integration.broker.harness import raw
from tests.integration.broker.server import PROGRAMS, RabbitServer

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


def until_ended(door: Doors) -> None:
    """The management interface hears of an end a moment after whoever was connected."""
    until = time.monotonic() + WITHIN
    while door._is_connected(PI):
        assert time.monotonic() < until, "it is connected still"
        time.sleep(0.1)


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
