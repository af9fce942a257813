"""Opens an end of the broker at an address. Nothing is connected before it is used."""

from __future__ import annotations

from mesh_adapters.broker.address import Address, MemoryAddress
from mesh_core.ports import Broker, HostBroker


def open_broker(address: Address) -> Broker:
    """The control plane's end."""
    if isinstance(address, MemoryAddress):
        from mesh_adapters.broker.memory import MemoryBroker, exchange_at

        return MemoryBroker(exchange_at(address))
    from mesh_adapters.broker.rabbit import RabbitBroker

    return RabbitBroker(address)


def open_host(address: Address, node: str) -> HostBroker:
    """The end of a node's host."""
    if isinstance(address, MemoryAddress):
        from mesh_adapters.broker.memory import MemoryHost, exchange_at

        return MemoryHost(exchange_at(address), node)
    from mesh_adapters.broker.rabbit import RabbitHost

    return RabbitHost(address, node)
