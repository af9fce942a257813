"""Opens an end of the broker at an address. Nothing is connected before it is used."""

from __future__ import annotations

from mesh_adapters.broker.address import Address, MemoryAddress
from mesh_core.ports import Broker, BuilderBroker, HostBroker


def open_broker(address: Address, within: float | None = None) -> Broker:
    """The control plane's end; with `within` it fails whatever is not done in so many seconds."""
    if isinstance(address, MemoryAddress):
        from mesh_adapters.broker.memory import MemoryBroker, exchange_at

        return MemoryBroker(exchange_at(address))
    from mesh_adapters.broker.rabbit import RabbitBroker

    return RabbitBroker(address, within)


def open_host(address: Address, node: str) -> HostBroker:
    """The end of a node's host."""
    if isinstance(address, MemoryAddress):
        from mesh_adapters.broker.memory import MemoryHost, exchange_at

        return MemoryHost(exchange_at(address), node)
    from mesh_adapters.broker.rabbit import RabbitHost

    return RabbitHost(address, node)


def open_builder(address: Address, builder: str) -> BuilderBroker:
    """The end of a builder."""
    if isinstance(address, MemoryAddress):
        from mesh_adapters.broker.memory import MemoryBuilder, exchange_at

        return MemoryBuilder(exchange_at(address), builder)
    from mesh_adapters.broker.rabbit_builds import RabbitBuilder

    return RabbitBuilder(address, builder)
