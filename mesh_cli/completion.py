"""Names out of the store, for the shell's completion."""

from __future__ import annotations

from pathlib import Path

from mesh_cli.wiring import opened_store


def names(what: str, store: Path | None = None) -> list[str]:
    """The nodes, modules or mesh-scoped provisions of the store, sorted."""
    with opened_store(store) as opened:
        mesh = opened.mesh()
    if what == "nodes":
        return [node.name for node in mesh.nodes]
    if what == "modules":
        return [module.name for module in mesh.catalogue]
    scoped = {p.name for module in mesh.catalogue for p in module.provides if p.scope == "mesh"}
    return sorted(scoped)
