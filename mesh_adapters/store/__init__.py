"""The store: a mesh, its history and its manifests in one SQLite file. Only the public name is
here.
"""

from mesh_adapters.store.store import SqliteStore

__all__ = ["SqliteStore"]
