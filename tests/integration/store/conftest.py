"""Fixtures of the store: a path, an empty store, and a folder that permissions hold."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from mesh_adapters.store import SqliteStore


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "mesh.db"


@pytest.fixture
def store(path: Path) -> Iterator[SqliteStore]:
    with closing(SqliteStore.create(path)) as made:
        yield made


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder whose every parent anybody may enter, which is not so of `tmp_path`."""
    outer = Path(tempfile.mkdtemp(prefix="mesh-store-"))
    outer.chmod(0o755)
    folder = outer / "folder"
    folder.mkdir()
    yield folder
    folder.chmod(0o700)
    shutil.rmtree(outer)
