"""How many messages wait in many queues, asked in few round trips: a broker may be an ocean away."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import amqp  # type: ignore[import-untyped]
from amqp import spec

AT_ONCE: Final = 100
"""Questions that are on their way together."""


def counts(channel: Any, queues: Sequence[str], heard: Callable[[], None]) -> list[int]:
    """The messages of each queue, 0 for one that is not there; `heard` at every answer."""
    found: list[int] = []
    while len(found) < len(queues):
        some = queues[len(found) : len(found) + AT_ONCE]
        for queue in some:
            channel.send_method(spec.Queue.Declare, _ARGUMENTS, _passively(queue))
        found += _answers(channel, len(some), heard)
    return found


_ARGUMENTS: Final = "BsbbbbbF"


def _passively(queue: str) -> tuple[object, ...]:
    # ticket, queue, passive, durable, exclusive, auto-delete, no-wait, arguments
    return (0, queue, True, False, False, False, False, None)


def _answers(channel: Any, number: int, heard: Callable[[], None]) -> list[int]:
    """Answers in the order of the questions, up to the first queue that is not there.

    At that one the broker closes the channel, and hears nothing of what was asked after it.
    """
    found: list[int] = []
    for _ in range(number):
        try:
            _, messages, _ = channel.wait(spec.Queue.DeclareOk, returns_tuple=True)
        except amqp.NotFound:  # the library has opened the channel again by then
            return [*found, 0]
        found.append(messages)
        heard()
    return found
