"""One transaction as its user sees it: the `Session` of `mesh_core.ports`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager

from sqlite_utils import Database

from mesh_adapters.store.changes import Recorder
from mesh_adapters.store.outages import translated, translated_reading
from mesh_adapters.store.rows import Shelf, read_mesh
from mesh_core.change import NoSuchNode
from mesh_core.event import Event
from mesh_core.model.mesh import Mesh
from mesh_core.ports import NoSuchModule


class SqliteSession:
    """Keeps the contract of `Session`, on a connection that is writing; `end` ends it."""

    def __init__(self, path: str, db: Database, shelf: Shelf) -> None:
        self._path = path
        self._db = db
        self._shelf = shelf
        self._recorder = Recorder(path, db, shelf)
        self._ended = False

    def end(self) -> None:
        """Refuse everything from now on."""
        self._ended = True

    def mesh(self) -> Mesh:
        """The mesh with everything that was recorded so far."""
        self._refuse_after_the_end()
        with translated_reading(self._path):
            return read_mesh(self._db, self._shelf)

    def record(self, event: Event) -> int:
        """Apply and keep an event, whole or not at all."""
        with self._step():
            return self._recorder.record(event)

    def declare(self, node: str, modules: Iterable[str]) -> None:
        """Remember what was last declared on a node."""
        with self._step():
            self._refuse_unknown(node)
            self._db.execute("DELETE FROM declared WHERE node = ?", (node,))
            for module in sorted(set(modules)):
                if not self._has("modules", module):
                    raise NoSuchModule(module)
                self._db.execute("INSERT INTO declared (node, module) VALUES (?, ?)", (node, module))

    @contextmanager
    def _step(self) -> Iterator[None]:
        """One thing that is done or not done; the session goes on after a refusal."""
        self._refuse_after_the_end()
        with translated(self._path), self._db.atomic():
            yield

    def _refuse_unknown(self, node: str) -> None:
        if not self._has("nodes", node):
            raise NoSuchNode(node)

    def _has(self, table: str, name: str) -> bool:
        found = self._db.execute(f"SELECT 1 FROM {table} WHERE name = ?", (name,)).fetchone()
        return found is not None

    def _refuse_after_the_end(self) -> None:
        if self._ended or not self._db.conn.in_transaction:
            raise RuntimeError("this session has ended")
