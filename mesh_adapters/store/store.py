"""The store itself: `mesh_core.ports.Store`, kept in one SQLite file."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import closing, contextmanager

from mesh_adapters.store import builds, heads, puts, rows, standings
from mesh_adapters.store.connection import PATIENCE, Connection, connect, lay_down
from mesh_adapters.store.files import new_file
from mesh_adapters.store.outages import outage
from mesh_adapters.store.session import SqliteSession
from mesh_core.model.build import Build
from mesh_core.model.mesh import Mesh
from mesh_core.model.origin import Put
from mesh_core.model.sent import Standing
from mesh_core.model.source import Seen
from mesh_core.ports import Recorded, RecordedManifest, StoreUnreadable, Unreadable


class SqliteStore:
    """Keeps the contract of `Store`. Made by `create` or `open`, used in one thread."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._shelf: rows.Shelf = {}

    @classmethod
    def create(cls, path: str | os.PathLike[str], *, patience: float = PATIENCE) -> SqliteStore:
        """Make a new, empty store, with the directories that it needs, and open it.

        Raises `StoreExists` where something is, and outages; then there is no new file at `path`.
        """
        with new_file(os.fspath(path)) as temporary:
            lay_down(temporary, os.fspath(path))
        return cls.open(path, patience=patience)

    @classmethod
    def open(cls, path: str | os.PathLike[str], *, patience: float = PATIENCE) -> SqliteStore:
        """Open a store that is there, and bring one of an older schema up to date.

        `patience` is how many seconds one waits for another command. A store on a disk that cannot
        be written opens too, as long as nothing is written. Raises `StoreMissing`,
        `StoreUnreadable`, `StoreTooNew` or another outage, and has then changed nothing.
        """
        return cls(connect(os.fspath(path), patience))

    def mesh(self) -> Mesh:
        """The mesh as last committed."""
        with self._connection.reading() as db:
            return rows.read_mesh(db, self._shelf)

    def declared(self) -> Mapping[str, tuple[str, ...]]:
        """By node, the names of the modules last declared on it."""
        with self._connection.reading() as db:
            return rows.read_declared(db)

    def standings(self) -> Mapping[str, Standing]:
        """How it stands with every node of the mesh."""
        with self._connection.reading() as db:
            return standings.read_standings(db)

    def pending(self) -> tuple[tuple[str, int, bytes], ...]:
        """The newest of each node that no broker has confirmed."""
        with self._connection.reading() as db:
            return standings.read_pending(db)

    def newest(self, nodes: Iterable[str]) -> tuple[tuple[str, int, bytes], ...]:
        """The newest of each of these nodes."""
        with self._connection.reading() as db:
            return standings.read_newest(db, nodes)

    def history(self, limit: int | None = None) -> tuple[Recorded, ...]:
        """The newest events, newest first."""
        with self._connection.reading() as db:
            return rows.read_history(db, limit)

    def manifests(self, name: str) -> tuple[RecordedManifest, ...]:
        """Every manifest ever recorded for a module's name."""
        with self._connection.reading() as db:
            return puts.read_manifests(db, name, self._shelf)

    def puts(self, name: str | None = None) -> tuple[Put, ...]:
        """Everything that ever became the current manifest of a name, or of every name."""
        with self._connection.reading() as db:
            return puts.read_puts(db, name, self._shelf)

    def current(self) -> Mapping[str, Put]:
        """What is current of each module of the catalogue."""
        with self._connection.reading() as db:
            return puts.read_current(db, self._shelf)

    def heads(self) -> Mapping[str, Seen]:
        """What is known of each source of the mesh."""
        with self._connection.reading() as db:
            return heads.read_heads(db)

    def builds(self, limit: int | None = None) -> tuple[Build, ...]:
        """The newest builds, newest first."""
        with self._connection.reading() as db:
            return builds.read_builds(db, limit, self._shelf)

    def build(self, id: str) -> Build | None:
        """The build of that id."""
        with self._connection.reading() as db:
            return builds.read_build(db, id, self._shelf)

    def open_builds(self) -> tuple[Build, ...]:
        """The builds that are not over, oldest first."""
        with self._connection.reading() as db:
            return builds.read_open_builds(db, self._shelf)

    def held(self) -> Mapping[str, Build]:
        """By module, the build that waits for somebody's word."""
        with self._connection.reading() as db:
            return builds.read_held(db, self._shelf)

    def builders(self) -> tuple[str, ...]:
        """The names of the builders that may say something."""
        with self._connection.reading() as db:
            return builds.read_builders(db)

    @contextmanager
    def writing(self) -> Iterator[SqliteSession]:
        """One transaction."""
        path = self._connection.path
        with self._connection.writing() as db:
            session = SqliteSession(path, db, self._shelf)
            try:
                yield session
            finally:
                session.end()

    def backup(self, path: str) -> None:
        """Write the store, as last committed and whole, to a new file."""
        with (
            self._connection.reading() as db,
            new_file(path) as temporary,
            closing(sqlite3.connect(temporary, isolation_level=None)) as copy,
        ):
            try:
                db.conn.backup(copy)
                self._refuse_damaged(copy)
            except sqlite3.Error as error:
                raise self._whose_fault(error, path) from error

    def close(self) -> None:
        """Let go of the store."""
        self._connection.close()

    def _whose_fault(self, error: sqlite3.Error, path: str) -> Exception:
        """What is damaged is ours, and what cannot be written is the backup."""
        ours = outage(error, self._connection.path)
        damaged = isinstance(ours, StoreUnreadable) and ours.why is Unreadable.DAMAGED
        return ours if damaged and ours else outage(error, path) or error

    def _refuse_damaged(self, copy: sqlite3.Connection) -> None:
        """A backup is believed to be whole, and pages are copied unseen: look now."""
        said = [text for (text,) in copy.execute("PRAGMA quick_check(1)")]
        if said != ["ok"]:
            raise StoreUnreadable(self._connection.path, Unreadable.DAMAGED, "; ".join(said))
