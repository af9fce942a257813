"""How the contract gets at a broker: ends to use, a way to kill one, a way to send what no end sends."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import Any, Protocol

import amqp  # type: ignore[import-untyped]
from kombu.transport.pyamqp import Connection

from mesh_adapters.broker import topology, topology_of_builds
from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.memory import MemoryBroker, MemoryBuilder, MemoryHost
from mesh_adapters.broker.memory_queues import Letter, MemoryExchange
from mesh_adapters.broker.rabbit import RabbitBroker, RabbitHost
from mesh_adapters.broker.rabbit_builds import RabbitBuilder
from mesh_core.ports import Broker, BuilderBroker, HostBroker, Kind
from tests.integration.broker.server import RabbitServer


class Harness(Protocol):
    """A broker with nothing in it."""

    def broker(self) -> Broker:
        """A new end of the control plane's."""

    def host(self, node: str) -> HostBroker:
        """A new end of a node's, `pi` or `nas`."""

    def builder(self, name: str) -> BuilderBroker:
        """A new end of a builder's, `smith` or `mason`."""

    def kill(self, end: Broker | HostBroker | BuilderBroker) -> None:
        """End it as the death of its process would."""

    def inject(
        self, node: str, kind: Kind, body: bytes, headers: Mapping[str, object], *, signed: bool = True
    ) -> None:
        """Send something past every check."""


class MemoryHarness:
    def __init__(self) -> None:
        self._exchange = MemoryExchange()

    def broker(self) -> Broker:
        return MemoryBroker(self._exchange)

    def host(self, node: str) -> HostBroker:
        return MemoryHost(self._exchange, node)

    def builder(self, name: str) -> BuilderBroker:
        return MemoryBuilder(self._exchange, name)

    def kill(self, end: Broker | HostBroker | BuilderBroker) -> None:
        end.close()

    def inject(
        self, node: str, kind: Kind, body: bytes, headers: Mapping[str, object], *, signed: bool = True
    ) -> None:
        shared = kind in (Kind.REQUEST, Kind.GIVEN_UP)
        self._exchange.send(("" if shared else node, kind), Letter(body, node if signed else "", headers))


class RabbitHarness:
    def __init__(self, server: RabbitServer, stack: ExitStack) -> None:
        self._server = server
        self._stack = stack

    def broker(self) -> Broker:
        return self._stack.enter_context(closing(RabbitBroker(self._server.address())))

    def host(self, node: str) -> HostBroker:
        return self._stack.enter_context(closing(RabbitHost(self._server.address(node), node)))

    def builder(self, name: str) -> BuilderBroker:
        return self._stack.enter_context(closing(RabbitBuilder(self._server.address(name), name)))

    def kill(self, end: Broker | HostBroker | BuilderBroker) -> None:
        assert isinstance(end, RabbitBroker | RabbitHost | RabbitBuilder)
        end._link.throw_away()

    def inject(
        self, node: str, kind: Kind, body: bytes, headers: Mapping[str, object], *, signed: bool = True
    ) -> None:
        with raw(self._server.address()) as channel:
            channel.confirm_select()
            message = amqp.Message(
                body, application_headers=dict(headers), **({"user_id": "control"} if signed else {})
            )
            channel.basic_publish_confirm(
                message,
                exchange=_exchange_of(node, kind),
                routing_key=node if kind is Kind.DECLARATION else str(kind),
                mandatory=True,
            )


def _exchange_of(name: str, kind: Kind) -> str:
    exchanges = {
        Kind.DECLARATION: topology.NODES,
        Kind.REQUEST: topology_of_builds.BUILDS,
        Kind.GIVEN_UP: topology_of_builds.DEAD,
        Kind.ANSWER: topology_of_builds.answered_through(name),
    }
    return exchanges.get(kind) or topology.exchange_of(name)


class raw:  # noqa: N801 - used like a function
    """A channel of the library's own, for what no end of ours does."""

    def __init__(self, address: RabbitAddress) -> None:
        self._connection: Any = Connection(
            host=f"{address.host}:{address.port}",
            userid=address.account,
            password=address.password,
            login_method="PLAIN",
            connect_timeout=10,
            read_timeout=20,
        )

    def __enter__(self) -> Any:
        self._connection.connect()
        return self._connection.channel()

    def __exit__(self, *_: object) -> None:
        self._connection.collect()
