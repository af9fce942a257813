"""A folder that is written to a thousand times."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.host.world import quick


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="mesh-crash-", dir=quick()))
    yield made
    shutil.rmtree(made)
