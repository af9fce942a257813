"""Fixtures of joining: a control plane with a store and a broker, and a directory for a machine."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import pytest
from attrs import frozen

from mesh_adapters.broker.accounts import ManagedAccounts
from mesh_adapters.broker.principals import Login, Management, account_of
from tests.integration.broker.conftest import server as server
from tests.integration.broker.conftest import session_server as session_server
from tests.integration.broker.server import RabbitServer
from tests.integration.cli.conftest import folder as folder
from tests.integration.cli.program import ok

NODES = ("pi", "nas")


@frozen(kw_only=True)
class Plane:
    """A control plane: its folder, its broker, its administrator's file, and where its credential is."""

    folder: Path
    url: str
    admin: Path
    credential: Path
    server: RabbitServer
    virtual_host: str

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
    ok("node", "add", *NODES)
    yield made
    accounts = made.accounts()
    for node in NODES:
        accounts.revoke(account_of(node))
    accounts.revoke("mesh.control")
    accounts._ask("DELETE", f"vhosts/{quote(made.virtual_host, safe='')}")


@pytest.fixture
def ready(plane: Plane) -> Plane:
    """The same, set up."""
    ok("broker", "setup", "--admin", plane.admin)
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
