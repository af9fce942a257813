"""A machine that trees are put on, and a registry that is a folder."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from mesh_adapters.host.kinds.tree import Tree
from mesh_core import Resource
from tests.integration.host.systemd.conftest import node as node
from tests.integration.host.tree.artifacts import NEXT, SITE, made, put_into
from tests.integration.host.world import KINDS, World, quick
from tests.integration.lab.fixtures import lab as lab
from tests.integration.lab.fixtures import machine as machine


@pytest.fixture
def folder() -> Iterator[Path]:
    made = Path(tempfile.mkdtemp(prefix="mesh-tree-", dir=quick()))
    yield made
    shutil.rmtree(made)


@pytest.fixture
def layout(folder: Path) -> Path:
    return folder / "registry"


@pytest.fixture
def world(folder: Path) -> World:
    return World(folder / "machine", {**KINDS, "tree": Tree()})


@pytest.fixture
def site(layout: Path) -> Resource:
    return made(SITE).tree("/opt/web", put_into(layout, made(SITE)))


@pytest.fixture
def newer(layout: Path) -> Resource:
    return made(NEXT).tree("/opt/web", put_into(layout, made(NEXT)))
