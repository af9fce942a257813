"""Makes exchanges and queues: said one after the other, and answered once all before is done."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import amqp  # type: ignore[import-untyped]

from mesh_adapters.broker.topology import EXCHANGE_TYPE


def exchange(channel: Any, name: str) -> None:
    """Make an exchange, where it is missing."""
    channel.exchange_declare(name, EXCHANGE_TYPE, durable=True, auto_delete=False, nowait=True)


def queue(channel: Any, name: str, arguments: Mapping[str, object]) -> None:
    """Make a queue, where it is missing."""
    channel.queue_declare(name, durable=True, auto_delete=False, arguments=dict(arguments), nowait=True)


def settle(channel: Any) -> None:
    """Wait until all that was said is done, and close the channel."""
    # Answered once all before it is done. What the broker refused of that is said by then: a channel that
    # is being closed would not hear it.
    channel.basic_qos(0, 1, False)
    channel.close()


def is_there(channel: Any, name: str) -> bool:
    """Whether there is such a queue."""
    try:
        channel.queue_declare(name, passive=True)
    except amqp.NotFound:  # the library has opened the channel again by then
        return False
    return True
