"""Resolution in two pure passes over the graph of the catalogue (design, part 3)."""

from mesh_core.resolve.resolution import resolve

__all__ = ["resolve"]
