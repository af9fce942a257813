"""The exchanges and queues of builds: their names and arguments, and what a builder may do with them.

    mesh.builds --request--> mesh.requests           requests, which all builders share
                             mesh.given-up           those that were handed out too often
    mesh.built-by.nas --answer--> mesh.answers.nas   what the builder nas says

Requests are in a quorum queue, which counts how often it has handed one out: one over which builder after
builder is lost is given up, and not built for ever. It reaches the queue behind it at least once, which
needs a queue that refuses rather than drops. Answers are one behind the other, none in another's place; more
than a few thousand are refused, so that the builder learns of it. A builder's name has no dot, so no two
names collide.
"""

from __future__ import annotations

import re
from types import MappingProxyType
from typing import Final

from mesh_adapters.broker.topology import CHANNELS, CONNECTIONS, Binding, Permissions
from mesh_core.ports import DELIVERIES, Kind

BUILDS: Final = "mesh.builds"
"""The exchange that requests go through."""
REQUESTS: Final = "mesh.requests"
DEAD: Final = "mesh.dead"
"""The exchange that requests go through that are given up."""
GIVEN_UP: Final = "mesh.given-up"

SHARED: Final = MappingProxyType(
    {
        "x-queue-type": "quorum",
        "x-delivery-limit": DELIVERIES - 1,
        "x-overflow": "reject-publish",
        "x-dead-letter-exchange": DEAD,
        "x-dead-letter-routing-key": str(Kind.GIVEN_UP),
        "x-dead-letter-strategy": "at-least-once",
    }
)
"""A queue that hands a message out so often, and then gives it up."""

IN_TURN: Final = MappingProxyType(
    {"x-queue-type": "classic", "x-max-length": 5000, "x-overflow": "reject-publish"}
)
"""A queue that keeps what came, in its order."""

OF_ALL: Final = (
    (Binding(BUILDS, str(Kind.REQUEST), REQUESTS), SHARED),
    (Binding(DEAD, str(Kind.GIVEN_UP), GIVEN_UP), IN_TURN),
)
"""What all builders share, each with its arguments."""


def answered_through(builder: str) -> str:
    """The exchange that a builder sends to, and nobody else."""
    return f"mesh.built-by.{builder}"


def answers_of(builder: str) -> str:
    """The queue where a builder's answers wait."""
    return f"mesh.answers.{builder}"


def binding_of(builder: str) -> Binding:
    """The queue of a builder."""
    return Binding(answered_through(builder), str(Kind.ANSWER), answers_of(builder))


def permissions_of(builder: str) -> Permissions:
    """A builder's account: requests, its own exchange, nothing else. As many connections as a node's."""
    return Permissions(
        configure="^$",
        write=f"^{re.escape(answered_through(builder))}$",
        read=f"^{re.escape(REQUESTS)}$",
        connections=CONNECTIONS,
        channels=CHANNELS,
    )
