"""The broker: how declarations reach nodes, over RabbitMQ or inside one process. Only the public names
are here; kombu is imported once an end over RabbitMQ is opened.
"""

from mesh_adapters.broker.address import Address, MemoryAddress, RabbitAddress
from mesh_adapters.broker.opening import open_broker, open_host
from mesh_adapters.broker.urls import BadAddress, has_password, parse, read_file

__all__ = [
    "Address",
    "BadAddress",
    "MemoryAddress",
    "RabbitAddress",
    "has_password",
    "open_broker",
    "open_host",
    "parse",
    "read_file",
]
