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
    from mesh_core.model.resolution import Resolution
    from mesh_core.ports import Store


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


@cache
def known_kinds() -> Knowledge:
    """The kinds of resources and checks that are known here; whoever reads no document needs none."""
    from mesh_adapters.host.knowledge import Knowledge
    from mesh_adapters.host.registry import known_kinds as found

    return Knowledge(found())


def settled(mesh: Mesh, resolution: Resolution) -> Settled:
    """A resolution with its material faults; nothing is loaded for them where there is no template."""
    from mesh_core.analysis.material import Settled, settle, speaks_of_templates

    if not speaks_of_templates(mesh):
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
