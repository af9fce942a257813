"""One control plane with two builders for all tests of a worker; each test has modules of its own."""

from __future__ import annotations

from collections.abc import Iterator
from urllib.parse import quote

import pytest

from tests.integration.broker.conftest import session_server as session_server
from tests.integration.broker.server import RabbitServer
from tests.integration.build.repositories import Repository
from tests.integration.builder.shop import BUILDERS, Shop, builder
from tests.integration.cli.program import mesh, ok
from tests.integration.joining.conftest import a_plane


@pytest.fixture(scope="session")
def session_shop(
    session_server: RabbitServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Shop, dict[str, str]]]:
    folder = tmp_path_factory.mktemp("shop")
    with pytest.MonkeyPatch.context() as patched:
        variables = {"HOME": str(folder / "home"), "MESH_BROKER_CREDENTIAL": str(folder / "broker.json")}
        (folder / "home").mkdir()
        for name, value in variables.items():
            patched.setenv(name, value)
        plane = a_plane(session_server, folder, patched)
        variables |= {"MESH_STORE": str(folder / "mesh.db"), "MESH_BROKER": plane.url}
        ok("init")
        plane.setup()
        made = Shop(folder, plane, Repository(folder / "repository"))
        for name in BUILDERS:
            file = folder / f"{name}.json"
            assert mesh("builder", "invite", name, "--admin", plane.admin, "--out", file).code == 0
            ran = builder("join", file, "--root", made.root(name))
            assert (ran.code, ran.err) == (0, "")
    yield made, variables
    accounts = plane.accounts()
    for account in ("mesh.control", *(f"mesh.builder.{name}" for name in BUILDERS)):
        accounts.revoke(account)
    accounts._ask("DELETE", f"vhosts/{quote(plane.virtual_host, safe='')}")


@pytest.fixture
def shop(session_shop: tuple[Shop, dict[str, str]], monkeypatch: pytest.MonkeyPatch) -> Shop:
    made, variables = session_shop
    for name in ("XDG_CONFIG_HOME", "XDG_STATE_HOME", "XDG_CACHE_HOME", "NO_COLOR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.chdir(made.folder)
    return made
