"""A control plane with a real store and the in-process broker, and hosts that say what a test wants."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.broker.address import MemoryAddress
from mesh_adapters.broker.opening import open_broker, open_host
from mesh_adapters.flows.collect import Collected, collect
from mesh_adapters.flows.push import Asked, Looked, Publishing, Step, no_step, publish, write_down
from mesh_adapters.store import SqliteStore
from mesh_core import Mesh, mesh_from_data
from mesh_core.analysis.material import Settled
from mesh_core.analysis.proposal import Proposal, propose
from mesh_core.change import Change, PutModule, PutNode
from mesh_core.event import Event
from mesh_core.model.declaration import Declaration
from mesh_core.model.node import Node
from mesh_core.model.said import Doing, Hello, Report
from mesh_core.ports import Broker, HostBroker
from mesh_core.push import Words
from mesh_core.resolve import resolve
from mesh_core.wire.declaration import read_declaration
from mesh_core.wire.said import hello_to_bytes, report_to_bytes

AT = "2026-12-02T12:00:00Z"


def settle(mesh: Mesh) -> Settled:
    return Settled(resolution=resolve(mesh))


def judge(mesh: Mesh, change: PutModule) -> Proposal:
    """What a manifest would do to whom; nobody here has a template."""
    return propose(mesh, [change])


class Site:
    """One mesh: its store, and as many ends of its broker as there are programs."""

    def __init__(self, folder: Path, ends: ExitStack) -> None:
        self.path = folder / "mesh.db"
        self.address = MemoryAddress(name=str(folder))
        self._ends = ends
        SqliteStore.create(self.path).close()
        self.store = self.another_store()
        self.broker = self.another_broker()

    def another_store(self) -> SqliteStore:
        store = SqliteStore.open(self.path)
        self._ends.callback(store.close)
        return store

    def another_broker(self) -> Broker:
        broker = open_broker(self.address)
        self._ends.callback(broker.close)
        return broker

    def host(self, node: str) -> HostBroker:
        host = open_host(self.address, node)
        self._ends.callback(host.close)
        return host

    def has(self, modules: Iterable[dict[str, Any]], nodes: Iterable[dict[str, Any]]) -> None:
        """Make the mesh so; the queues of new nodes are made, as adding one does."""
        self.has_offline(modules, nodes)
        self.broker.add_nodes(node.name for node in self.store.mesh().nodes)

    def has_offline(self, modules: Iterable[dict[str, Any]], nodes: Iterable[dict[str, Any]]) -> None:
        """Make the mesh so; the broker is not told."""
        mesh = mesh_from_data({"format": 1, "modules": list(modules), "nodes": list(nodes)})
        before = {node.name: node for node in self.store.mesh().nodes}
        changes: list[Change] = [
            *(PutModule(module=module) for module in mesh.catalogue),
            *(PutNode(node=_with(node, before.get(node.name))) for node in mesh.nodes),
        ]
        with self.store.writing() as session:
            session.record(Event(at=AT, who="test", command="test", changes=changes))

    def push(self, step: Step = no_step, *, nodes: Iterable[str] | None = None, **words: Any) -> Pushed:
        asked = Asked(nodes=None if nodes is None else frozenset(nodes), words=Words(**words))
        return pushed(self.store, self.broker, asked, step)

    def collect(self, at: str = AT) -> Collected:
        return collect(self.store, self.broker, at, judge)

    def report(self, node: str, generation: int | None, **more: Any) -> Report:
        given = {"machine": f"id-{node}", "applied": generation, "doing": Doing.APPLIED} | more
        report = Report(node=node, generation=generation, **given)
        host = self.host(node)
        host.report(report_to_bytes(report))
        host.close()
        return report

    def hello(
        self,
        node: str,
        generation: int | None = None,
        machine: str | None = None,
        key: str | None = None,
    ) -> None:
        hello = Hello(node=node, machine=machine or f"id-{node}", generation=generation, key=key)
        self.host(node).hello(hello_to_bytes(hello))

    def waiting(self, node: str) -> Declaration | None:
        """The declaration that waits for a node, taken."""
        host = self.host(node)
        try:
            delivery = host.take(0)
            if delivery is None:
                return None
            assert isinstance(delivery.content, bytes)
            delivery.ack()
            return read_declaration(delivery.content)
        finally:
            host.close()


class Pushed(tuple[Looked, Publishing]):
    """What a push decided, and what became of it."""

    @property
    def looked(self) -> Looked:
        return self[0]

    @property
    def publishing(self) -> Publishing:
        return self[1]


def pushed(store: SqliteStore, broker: Broker, asked: Asked, step: Step = no_step) -> Pushed:
    with store.writing() as session:
        looked = write_down(session, asked, settle, AT)
    step("written down")
    return Pushed((looked, publish(store, broker, asked.nodes, step)))


def _with(node: Node, before: Node | None) -> Node:
    """What a machine reported stays, and how it is attached to the network."""
    if before is None:
        return node
    return evolve(node, capabilities=before.capabilities, network=before.network)


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    with ExitStack() as ends:
        yield Site(tmp_path, ends)
