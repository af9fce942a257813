"""Names out of the store, for the shell's completion."""

from __future__ import annotations

from pathlib import Path

from mesh_cli.wiring import opened_store


def names(what: str, store: Path | None = None) -> list[str]:
    """The nodes, modules, modules with a source, builders, or mesh-scoped provisions of the store, sorted."""
    with opened_store(store) as opened:
        mesh, builders = opened.mesh(), opened.builders()
    if what == "builders":
        return [*builders]
    if what == "nodes":
        return [node.name for node in mesh.nodes]
    if what == "modules":
        return [module.name for module in mesh.catalogue]
    if what == "both":
        return sorted({node.name for node in mesh.nodes} | {module.name for module in mesh.catalogue})
    if what == "sources":
        return [name for name, _ in mesh.sources]
    scoped = {p.name for module in mesh.catalogue for p in module.provides if p.scope == "mesh"}
    return sorted(scoped)
