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
from tests.integration.flows.conftest import Site


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
