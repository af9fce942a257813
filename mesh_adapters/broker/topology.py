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

from mesh_core.ports import REPORT_LIMIT, Kind

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
    """See `mesh_core.ports.Rights`."""

    configure: str
    write: str
    read: str
    connections: int
    channels: int


@frozen(kw_only=True)
class Bytes:
    """See `mesh_core.ports.Bound`."""

    name: str
    queues: str
    content: int


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


CONNECTIONS: Final = 16
CHANNELS: Final = 64
"""How many the account of one machine may have: see `permissions_of`."""


def permissions_of(node: str) -> Permissions:
    """A node's account: its own declaration, its own exchange, nothing else.

    A host has one connection, with one channel or two. One whose other end vanished lives on in the broker
    until it has missed two heartbeats (60 s, measured), and counts that long; a machine that loses the
    network every few seconds has several of those. So the limit is far above one: it keeps a program that
    ran wild from taking the broker's connections away from all others, and no machine out that comes back.
    One channel too many ends the connection that it is in (measured), so there are enough of them for
    every connection: they are what bounds the memory that half-sent messages take.
    """
    return Permissions(
        configure="^$",
        write=f"^{re.escape(exchange_of(node))}$",
        read=f"^{re.escape(declarations_of(node))}$",
        connections=CONNECTIONS,
        channels=CHANNELS,
    )


CONTROL_PLANE: Final = Permissions(
    configure=r"^mesh\.", write=r"^mesh\.", read=r"^mesh\.", connections=128, channels=512
)
"""The control plane's account: everything of the mesh, nothing of another program's. One connection for
each command that runs at this moment, and one for `mesh serve`: whoever starts commands in a loop is
stopped before the broker is full.
"""

SAID: Final = Bytes(name="mesh.said", queues=r"^mesh\.(reports|hellos)\.", content=4 * REPORT_LIMIT)
"""How much may wait of what a node says: the broker itself would take 128 MiB.

A control plane behind a line of 8 MB/s did not get past one message of 120 MiB in ten seconds, and so heard
of no node at all (measured): one machine must not silence the others. It is a policy, since the arguments of
a queue that is there cannot be changed, and an operator's, since of the others only one holds for a queue,
which is the owner's to choose. What is a little too large still arrives, and is told; what is much too large
is dropped. Declarations need none: only the control plane sends them, and looks at their size before.
"""

HELD_SECONDS: Final = 30 * 60
"""How long a build may hold its request. A queue's own argument for it is taken and ignored by some brokers
(3.10, measured), so it is the broker's setting that has to allow it.
"""
