"""The names and arguments of every exchange and queue, and what each account may do with them.

Nothing else names an exchange or a queue. For a node called pi:

    mesh.nodes --pi--> mesh.node.pi             its newest declaration
    mesh.from.pi --report--> mesh.reports.pi    its newest report
                 --hello--> mesh.hellos.pi      its newest hello

Each node has an exchange of its own for what it says: permissions hold for whole exchanges, and so the
queue that a message is in says which node sent it. Reports and hellos have a queue each, for each node,
because newest-only is a property of queues. All is durable; transient queues are no more in newer
brokers. The queues are classic ones: on a quorum queue a message that goes back displaces a newer one.
The type is said, because a virtual host may have another default. A node's name has no dot, so no two
names here collide.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from attrs import frozen

from mesh_core.ports import Kind

NODES: Final = "mesh.nodes"
"""The exchange that all declarations go through, by the node's name."""

NEWEST_ONLY: Final = MappingProxyType(
    {"x-queue-type": "classic", "x-max-length": 1, "x-overflow": "drop-head"}
)
"""A queue that keeps what arrived last, alone."""

EXCHANGE_TYPE: Final = "direct"
PERSISTENT: Final = 2

REPORTED: Final = (Kind.REPORT, Kind.HELLO)
"""What a node says."""


@frozen
class Binding:
    """A queue, and how what is sent to an exchange gets there."""

    exchange: str
    key: str
    queue: str


@frozen(kw_only=True)
class Permissions:
    """What an account may make, send to and take from: regular expressions of whole names."""

    configure: str
    write: str
    read: str


def declarations_of(node: str) -> str:
    """The queue of a node's declaration."""
    return f"mesh.node.{node}"


def exchange_of(node: str) -> str:
    """The exchange that a node sends to, and nobody else."""
    return f"mesh.from.{node}"


def reported_by(node: str, kind: Kind) -> str:
    """The queue where a node's report or hello waits."""
    return f"mesh.{kind}s.{node}"


def bindings_of(node: str) -> tuple[Binding, ...]:
    """Every queue of a node."""
    says = exchange_of(node)
    return (
        Binding(NODES, node, declarations_of(node)),
        *(Binding(says, str(kind), reported_by(node, kind)) for kind in REPORTED),
    )


def permissions_of(node: str) -> Permissions:
    """A node's account: its own declaration, its own exchange, nothing else."""
    return Permissions(
        configure="^$",
        write=f"^{re.escape(exchange_of(node))}$",
        read=f"^{re.escape(declarations_of(node))}$",
    )


CONTROL_PLANE: Final = Permissions(configure=r"^mesh\.", write=r"^mesh\.", read=r"^mesh\.")
"""The control plane's account: everything of the mesh, nothing of another program's."""
