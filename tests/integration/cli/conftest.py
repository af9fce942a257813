"""Fixtures of the command line: an environment with nothing of ours in it, and stores to try things on."""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.cli.networks import HOUSE
from tests.integration.cli.program import MESH, ok


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the test is, with a home of its own and no variable that the program would read."""
    for name in (
        "MESH_STORE",
        "MESH_BROKER",
        "MESH_BROKER_CREDENTIAL",
        "NO_COLOR",
        "SUDO_USER",
        "XDG_CONFIG_HOME",
        "XDG_DATA_HOME",
    ):
        monkeypatch.delenv(name, raising=False)
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    work = tmp_path / "work"
    work.mkdir()
    monkeypatch.chdir(work)
    return work


@pytest.fixture(scope="session")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with an empty store and the example's, made once and copied for each test."""
    at = tmp_path_factory.mktemp("made")
    ok("init", "--store", at / "empty.db")
    ok("init", "--store", at / "example.db")
    ok("import", "-", "--store", at / "example.db", stdin=json.dumps(MESH))
    ok("init", "--store", at / "house.db")
    ok("import", "-", "--store", at / "house.db", stdin=json.dumps(HOUSE))
    return at


@pytest.fixture
def empty(made: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty store, which commands find by `MESH_STORE`."""
    path = folder / "mesh.db"
    shutil.copyfile(made / "empty.db", path)
    monkeypatch.setenv("MESH_STORE", str(path))
    return path


@pytest.fixture
def store(made: Path, empty: Path) -> Path:
    """A store with the mesh of the design's example: postgres on nas, web on pi, which takes from nas."""
    shutil.copyfile(made / "example.db", empty)
    return empty


SECOND_POSTGRES = {
    "format": 1,
    "nodes": [{"name": "vps", "capabilities": {"systemd": True}}, {"name": "pi", "pins": {}}],
}
"""A third machine that could run postgres as well, and pi without its pin: nas is the only one to offer."""


@pytest.fixture
def third(store: Path) -> Path:
    """The example with a third machine, and no pin."""
    ok("import", "-", stdin=json.dumps(SECOND_POSTGRES))
    return store


@pytest.fixture
def house(made: Path, empty: Path) -> Path:
    """A store with three nodes whose keys are known, of which pi takes from nas, and no network yet."""
    shutil.copyfile(made / "house.db", empty)
    return empty


@pytest.fixture
def networked(house: Path) -> Path:
    """The same with a network: nas has 10.77.0.1, pi 10.77.0.2, vps 10.77.0.3, and nobody is reached."""
    ok("network", "set", "10.77.0.0/24")
    return house


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder whose every parent anybody may enter, which is not so of `tmp_path`."""
    made = Path(tempfile.mkdtemp(prefix="mesh-cli-"))
    yield made
    made.chmod(0o700)
    shutil.rmtree(made)
