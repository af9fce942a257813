"""The same control plane as in `flows`, over a real RabbitMQ: each test has nodes of its own there."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from mesh_adapters.broker.opening import open_broker, open_host
from mesh_core.ports import Broker, HostBroker
from tests.integration.broker.conftest import session_server as session_server
from tests.integration.broker.server import RabbitServer
from tests.integration.cli.conftest import folder as folder
from tests.integration.cli.program import ok, written
from tests.integration.flows.conftest import Site
from tests.integration.push.programs import Plane


class RabbitSite(Site):
    """A mesh whose broker is a RabbitMQ."""

    def __init__(self, folder: Path, ends: ExitStack, server: RabbitServer) -> None:
        self.server = server
        super().__init__(folder, ends)

    def another_broker(self) -> Broker:
        broker = open_broker(self.server.address())
        self._ends.callback(broker.close)
        return broker

    def host(self, node: str) -> HostBroker:
        # A host with the control plane's account: what a node's own may do is tested with the accounts.
        host = open_host(self.server.address(), node)
        self._ends.callback(host.close)
        return host


@pytest.fixture
def site(session_server: RabbitServer, tmp_path: Path) -> Iterator[RabbitSite]:
    with ExitStack() as ends:
        made = RabbitSite(tmp_path, ends, session_server)
        yield made
        for name in ("pi", "nas"):  # the names that several tests have
            made.broker.remove_node(name)


@pytest.fixture
def plane(session_server: RabbitServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plane]:
    """An empty store, and no queue of the mesh at the broker; programs find both."""
    login = {"account": "control", "password": "control-secret"}
    credential = written(folder, "broker.json", login)
    credential.chmod(0o600)
    monkeypatch.setenv("MESH_STORE", str(folder / "mesh.db"))
    monkeypatch.setenv("MESH_BROKER", f"amqp://127.0.0.1:{session_server.port}")
    monkeypatch.setenv("MESH_BROKER_CREDENTIAL", str(credential))
    ok("init")
    made = Plane(folder, session_server)
    made.forget()
    yield made
    made.forget()
