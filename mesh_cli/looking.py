"""The mesh that a command looks at without changing it: a document, or the store."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from mesh_cli import reading
from mesh_cli.exits import Exit, Stop
from mesh_cli.wiring import opened_store

if TYPE_CHECKING:
    from mesh_core.model.mesh import Mesh


def mesh_of(file: str | None, store: Path | None) -> tuple[Mesh, Mapping[str, tuple[str, ...]]]:
    """The mesh to look at, and what was last declared on its nodes."""
    if file is not None and store is not None:
        raise Stop(Exit.USAGE, "two-meshes", "--file and --store are two meshes; give one")
    if file is not None:
        return reading.mesh_document(file).mesh, {}
    with opened_store(store) as opened:
        return opened.mesh(), opened.declared()
