"""How the contract gets at a broker: ends to use, a way to kill one, a way to send what no end sends."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import ExitStack, closing
from typing import Any, Protocol

import amqp  # type: ignore[import-untyped]
from kombu.transport.pyamqp import Connection

from mesh_adapters.broker import topology
from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.memory import Letter, MemoryBroker, MemoryExchange, MemoryHost
from mesh_adapters.broker.rabbit import RabbitBroker, RabbitHost
from mesh_core.ports import Broker, HostBroker, Kind
from tests.integration.broker.server import RabbitServer


class Harness(Protocol):
    """A broker with nothing in it."""

    def broker(self) -> Broker:
        """A new end of the control plane's."""

    def host(self, node: str) -> HostBroker:
        """A new end of a node's, `pi` or `nas`."""

    def kill(self, end: Broker | HostBroker) -> None:
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

    def kill(self, end: Broker | HostBroker) -> None:
        end.close()

    def inject(
        self, node: str, kind: Kind, body: bytes, headers: Mapping[str, object], *, signed: bool = True
    ) -> None:
        self._exchange.send((node, kind), Letter(body, node if signed else "", headers))


class RabbitHarness:
    def __init__(self, server: RabbitServer, stack: ExitStack) -> None:
        self._server = server
        self._stack = stack

    def broker(self) -> Broker:
        return self._stack.enter_context(closing(RabbitBroker(self._server.address())))

    def host(self, node: str) -> HostBroker:
        return self._stack.enter_context(closing(RabbitHost(self._server.address(node), node)))

    def kill(self, end: Broker | HostBroker) -> None:
        assert isinstance(end, RabbitBroker | RabbitHost)
        end._link.throw_away()

    def inject(
        self, node: str, kind: Kind, body: bytes, headers: Mapping[str, object], *, signed: bool = True
    ) -> None:
        declared = kind is Kind.DECLARATION
        with raw(self._server.address()) as channel:
            channel.confirm_select()
            message = amqp.Message(
                body, application_headers=dict(headers), **({"user_id": "control"} if signed else {})
            )
            channel.basic_publish_confirm(
                message,
                exchange=topology.NODES if declared else topology.exchange_of(node),
                routing_key=node if declared else str(kind),
                mandatory=True,
            )


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
