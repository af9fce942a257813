"""A machine of its own for each test of the daemon."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.integration.host.agent.rig import Rig


@pytest.fixture
def rig(tmp_path: Path) -> Rig:
    root = tmp_path / "machine"
    root.mkdir()
    return Rig(root)
