"""One node's host over the in-process broker, with its machine under a directory: what its tests share."""

from __future__ import annotations

import itertools
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from attrs import define, field

from mesh_adapters.broker import MemoryAddress, open_broker, open_host
from mesh_adapters.host.agent.loop import Agent
from mesh_adapters.host.agent.saved import CAME, HOLDS
from mesh_adapters.host.kind import Kind
from mesh_adapters.host.own_place import PLACE
from mesh_core.model.said import Hello, Report
from mesh_core.ports import (
    Broker,
    BrokerOutage,
    BrokerUnreachable,
    Delivery,
    HostBroker,
    Outcome,
    Outgoing,
    Unreachable,
)
from mesh_core.ports import Kind as Message
from mesh_core.wire.said import read_hello, read_said
from tests.integration.host.world import KINDS

_NUMBERS = itertools.count()


class Killed(BaseException):
    """The process ends here."""


@define
class Rig:
    """A root directory, and a broker of its own with the queues of `node`."""

    root: Path
    node: str = "pi"
    address: MemoryAddress = field(factory=lambda: MemoryAddress(name=f"agent-{next(_NUMBERS)}"))
    broker: Broker = field(init=False)
    said: list[str] = field(factory=list)
    reports: list[Report] = field(factory=list)
    away: BrokerOutage | None = None
    """What the broker answers everything with, for as long as it is away."""

    def __attrs_post_init__(self) -> None:
        self.broker = open_broker(self.address)
        self.broker.add_nodes([self.node])

    def agent(self, *, kinds: Mapping[str, Kind] = KINDS, **more: Any) -> Agent:
        """A host that was just started."""
        given = {"probe": lambda _machine: (), "connect": self.connect, **more}
        return Agent(
            node=self.node,
            root=self.root,
            say=self.said.append,
            heard=self.reports.append,
            kinds=kinds,
            **given,
        )

    def connect(self) -> HostBroker:
        return Away(open_host(self.address, self.node), self)

    def send(self, body: bytes) -> None:
        self.broker.publish([Outgoing(node=self.node, body=body)])

    def once(self, body: bytes | None = None, **more: Any) -> Report:
        """Send a declaration, where one is given; a host starts, looks once, and ends: its last report."""
        if body is not None:
            self.send(body)
        return self.agent(**more).once()

    def heard(self) -> tuple[Report | None, Hello | None]:
        """The report and the hello that wait at the broker."""
        report, hello = None, None
        self.broker.listen([self.node])
        while (delivery := self.broker.take(0)) is not None:
            assert isinstance(delivery.content, bytes)
            if delivery.kind is Message.REPORT:
                report = read_said(delivery.content)
            else:
                hello = read_hello(delivery.content)
            delivery.ack()
        self.broker.listen([])
        return report, hello

    @property
    def waits(self) -> bool:
        """Whether a declaration waits at the broker, taken and not acknowledged ones included."""
        host = open_host(self.address, self.node)
        try:
            return host.take(0) is not None
        finally:
            host.close()

    @property
    def holds(self) -> Path:
        return self.root / PLACE / HOLDS

    @property
    def came(self) -> Path:
        return self.root / PLACE / CAME

    def unreachable(self) -> None:
        self.away = BrokerUnreachable("memory://", Unreachable.NO_ANSWER, "nobody answers")


@define
class Away:
    """A host's end of a broker that may be away."""

    _end: HostBroker
    _rig: Rig

    def _there(self) -> HostBroker:
        if self._rig.away is not None:
            raise self._rig.away
        return self._end

    def take(self, wait: float) -> Delivery | None:
        return self._there().take(min(wait, 0.02))

    def report(self, body: bytes) -> Outcome:
        return self._there().report(body)

    def hello(self, body: bytes) -> Outcome:
        return self._there().hello(body)

    def close(self) -> None:
        self._end.close()


def until(so: Callable[[], bool], what: str) -> None:
    """Wait until something is so, which it has to be soon."""
    ends = time.monotonic() + 10
    while not so():
        assert time.monotonic() < ends, f"not so in time: {what}"
        time.sleep(0.005)


@contextmanager
def at_work(agent: Agent) -> Iterator[threading.Event]:
    """The daemon in a thread, ended when this is."""
    stop, broken = threading.Event(), list[BaseException]()

    def run() -> None:
        try:
            agent.run(stop)
        except BaseException as error:
            broken.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield stop
    finally:
        stop.set()
        thread.join(timeout=20)
    assert not thread.is_alive()
    assert not broken, broken
