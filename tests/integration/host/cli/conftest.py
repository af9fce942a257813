"""Fixtures of `mesh-host`: a root directory that stands for a machine."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """An empty machine."""
    made = tmp_path / "machine"
    made.mkdir()
    return made


@pytest.fixture
def open_folder() -> Iterator[Path]:
    """A folder whose every parent anybody may enter, which is not so of `tmp_path`."""
    made = Path(tempfile.mkdtemp(prefix="mesh-host-cli-"))
    made.chmod(0o777)
    yield made
    shutil.rmtree(made)
