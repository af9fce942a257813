"""Where concrete adapters are named, with the clock and the person at the keyboard; see the other wirings."""

from __future__ import annotations

import getpass
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from mesh_cli.output import visible
from mesh_cli.settings import store_path
from mesh_cli.wiring_broker import opened_broker as opened_broker

if TYPE_CHECKING:
    from mesh_adapters.host.knowledge import Knowledge
    from mesh_core.analysis.material import Settled
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.module import Module
    from mesh_core.model.resolution import Resolution
    from mesh_core.ports import Store
    from mesh_core.wire.beside import ReadBeside


@contextmanager
def opened_store(flag: Path | None) -> Iterator[Store]:
    """The store that the settings name. Raises `StoreError`s, which `main` tells."""
    from mesh_adapters.store import SqliteStore

    store = SqliteStore.open(str(store_path(flag)))
    try:
        yield store
    finally:
        store.close()


def create_store(path: Path) -> None:
    """A new, empty store. Raises `StoreError`s."""
    from mesh_adapters.store import SqliteStore

    SqliteStore.create(str(path)).close()


def files_beside(document: str) -> ReadBeside:
    """Reads the files that a document names beside itself."""
    from mesh_adapters.beside import reader

    return reader(document)


@cache
def known_kinds() -> Knowledge:
    """The kinds of resources and checks that are known here; whoever reads no document needs none."""
    from mesh_adapters.host.knowledge import Knowledge
    from mesh_adapters.host.registry import known_kinds as found

    return Knowledge(found())


def shipped_names() -> tuple[str, ...]:
    """The modules that come with this program."""
    from mesh_adapters.shipped import names

    return names()


def shipped_module(name: str) -> Module:
    """The module of one of these names."""
    from mesh_adapters.shipped import manifest

    return manifest(name, known_kinds())


def settled(mesh: Mesh, resolution: Resolution) -> Settled:
    """A resolution with its material faults; nothing is loaded for them where there can be none."""
    from mesh_core.analysis.material import Settled, may_be_immaterial, settle

    if not may_be_immaterial(mesh):
        return Settled(resolution=resolution)
    from mesh_adapters.host.material import Rendering

    rendering = Rendering(known_kinds().kinds)
    return settle(mesh, resolution, may_have=rendering.may_have, find=rendering.find)


def now() -> str:
    """This instant, in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def who() -> str:
    """Who is at the keyboard: behind sudo, the one who typed it."""
    try:
        return visible(os.environ.get("SUDO_USER") or getpass.getuser())
    except (KeyError, OSError):
        return f"uid {os.getuid()}"
