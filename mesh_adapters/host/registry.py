"""The kinds that this host knows: those that ship with it, and those that others add."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.metadata import entry_points

from mesh_adapters.host.kind import Kind

GROUP = "mesh.resource_kinds"


def known_kinds() -> Mapping[str, Kind]:
    """Every kind by its name, through the entry-point group `mesh.resource_kinds`."""
    kinds: dict[str, Kind] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        kind: Kind = point.load()()
        kinds[kind.name] = kind
    return kinds
