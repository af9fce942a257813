"""Times publishing to many nodes, against plain amqp that pipelines, and that waits for each confirm.

All three send the same bytes with the same flags (persistent, mandatory, confirmed) to the same queues. It
needs a RabbitMQ of its own, Debian's, as the tests start one; where there is none, nothing is measured.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import amqp  # type: ignore[import-untyped]
from attrs import frozen

from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.opening import open_broker
from mesh_adapters.broker.topology import NODES
from mesh_core.ports import Confirmed, Outgoing
from tests.integration.broker.server import RabbitServer, why_not

NUMBER = 1_000
BYTES = 2_600


@frozen(kw_only=True)
class Published:
    """Medians in seconds, and of the ratios of each turn."""

    ours: float
    pipelined: float
    each: float
    against_pipelined: float
    against_each: float


def measure(*, repetitions: int) -> Published | str:
    """That many turns over one connection each; why not, where there can be no broker."""
    why = why_not()
    if why is not None:
        return why
    with RabbitServer() as server:
        return _measured(server.address(), repetitions)


def _measured(address: RabbitAddress, repetitions: int) -> Published:
    names = [f"node-{n:04}" for n in range(NUMBER)]
    body = b"x" * BYTES
    broker = open_broker(address)
    broker.add_nodes(names)
    outgoing = [Outgoing(node=name, body=body) for name in names]

    def ours() -> None:
        if any(not isinstance(outcome, Confirmed) for outcome in broker.publish(outgoing)):
            raise AssertionError("not everything was confirmed")

    with _connection(address) as connection:
        floors = (lambda: _pipelined(connection, names, body), lambda: _each(connection, names, body))
        ours()  # connects
        turns = [[_timed(work) for work in (ours, *floors)] for _ in range(repetitions)]
    broker.close()
    return Published(
        ours=median(turn[0] for turn in turns),
        pipelined=median(turn[1] for turn in turns),
        each=median(turn[2] for turn in turns),
        against_pipelined=median(turn[0] / turn[1] for turn in turns),
        against_each=median(turn[0] / turn[2] for turn in turns),
    )


def _connection(address: RabbitAddress) -> Any:
    return amqp.Connection(
        host=f"{address.host}:{address.port}",
        userid=address.account,
        password=address.password,
        confirm_publish=False,
    )


def _pipelined(connection: Any, names: list[str], body: bytes) -> None:
    """Send all, then wait for the confirms: what the program does, without what it looks after."""
    channel = connection.channel()
    channel.confirm_select()
    waiting = set(range(1, len(names) + 1))

    def on_ack(tag: int, multiple: bool) -> None:
        if multiple:
            waiting.difference_update([n for n in waiting if n <= tag])
        else:
            waiting.discard(tag)

    channel.events["basic_ack"].add(on_ack)
    for name in names:
        channel.basic_publish(_message(body), exchange=NODES, routing_key=name, mandatory=True)
    while waiting:
        connection.drain_events(timeout=10)
    channel.close()


def _each(connection: Any, names: list[str], body: bytes) -> None:
    """Wait for each confirm before the next is sent."""
    channel = connection.channel()
    for name in names:
        channel.basic_publish_confirm(
            _message(body), exchange=NODES, routing_key=name, mandatory=True, confirm_timeout=10
        )
    channel.close()


def _message(body: bytes) -> Any:
    return amqp.Message(body, content_type="application/json", delivery_mode=2)


def _timed(work: Callable[[], None]) -> float:
    begun = perf_counter()
    work()
    return perf_counter() - begun
