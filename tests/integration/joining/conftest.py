"""Fixtures of joining: a control plane with a store and a broker, and a directory for a machine."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from attrs import frozen

from mesh_adapters.broker.management import ManagedAccounts
from mesh_adapters.broker.principals import Login, Management, account_of
from tests.integration.broker.conftest import server as server
from tests.integration.broker.conftest import session_server as session_server
from tests.integration.broker.server import RabbitServer
from tests.integration.cli.conftest import folder as folder
from tests.integration.cli.program import Ran, mesh, ok

NODES = ("pi", "nas")

NOT_SEEN = (
    "consumer_timeout: not seen from here (`rabbitmqctl environment` there has it); a build may hold its "
    "request for 30 minutes\n"
)


@frozen(kw_only=True)
class Plane:
    """A control plane: its folder, its broker, its administrator's file, and where its credential is."""

    folder: Path
    url: str
    admin: Path
    credential: Path
    server: RabbitServer
    virtual_host: str

    def setup(self, *words: object) -> Ran:
        """`mesh broker setup`, which has to end well; all that it has to note is what it cannot see."""
        ran = mesh("broker", "setup", "--admin", self.admin, *words)
        assert ran.code == 0, ran.err
        assert ran.err == NOT_SEEN
        return ran

    def queues(self) -> list[str]:
        """The queues that there are."""
        host = quote(self.virtual_host, safe="")
        return sorted(queue["name"] for queue in self.accounts()._data(f"queues/{host}?columns=name"))

    def exchanges(self) -> list[str]:
        """The exchanges of the mesh that there are."""
        host = quote(self.virtual_host, safe="")
        found = self.accounts()._data(f"exchanges/{host}?columns=name")
        return sorted(each["name"] for each in found if each["name"].startswith("mesh."))

    def accounts(self) -> ManagedAccounts:
        login = Login(account="control", password="control-secret")
        return ManagedAccounts(Management(url=self.server.management, login=login), self.virtual_host)

    def permissions(self, account: str) -> list[str]:
        """Where an account has rights, and which: configure, write, read."""
        (found,) = self.accounts()._data(f"users/{account}/permissions")
        return [found["vhost"], found["configure"], found["write"], found["read"]]


@pytest.fixture
def plane(server: RabbitServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Plane]:
    """A store with two nodes, and a virtual host that is not there yet."""
    made = a_plane(server, folder, monkeypatch)
    ok("init")
    assert mesh("node", "add", *NODES).code == 0
    yield made
    accounts = made.accounts()
    for node in NODES:
        accounts.revoke(account_of(node))
    accounts.revoke("mesh.control")
    accounts._ask("DELETE", f"vhosts/{quote(made.virtual_host, safe='')}")


@pytest.fixture
def ready(plane: Plane) -> Plane:
    """The same, set up."""
    plane.setup()
    return plane


@pytest.fixture
def root(folder: Path) -> Path:
    """An empty machine."""
    made = folder / "machine"
    made.mkdir()
    return made


def a_plane(server: RabbitServer, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Plane:
    virtual_host = f"mesh/{time.monotonic_ns()}"
    url = f"amqp://127.0.0.1:{server.port}/{quote(virtual_host, safe='')}"
    monkeypatch.setenv("MESH_STORE", str(folder / "mesh.db"))
    monkeypatch.setenv("MESH_BROKER", url)
    admin = folder / "admin.json"
    login = {"account": "control", "password": "control-secret"}
    admin.write_text(json.dumps({"management": server.management, **login}))
    admin.chmod(0o600)
    return Plane(
        folder=folder,
        url=url,
        admin=admin,
        credential=folder.parent / "home/.config/meshwright/broker.json",
        server=server,
        virtual_host=virtual_host,
    )
