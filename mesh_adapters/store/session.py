"""One transaction as its user sees it: the `Session` of `mesh_core.ports`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from sqlite_utils import Database

from mesh_adapters.store.changes import Recorder
from mesh_adapters.store.exchange import Exchange
from mesh_adapters.store.outages import translated, translated_reading
from mesh_adapters.store.rows import Shelf, read_mesh
from mesh_adapters.store.standings import read_standings
from mesh_core.change import NoSuchNode
from mesh_core.event import Event
from mesh_core.model.mesh import Mesh
from mesh_core.model.said import Report
from mesh_core.model.sent import Sent, Standing
from mesh_core.ports import NoSuchModule


class SqliteSession:
    """Keeps the contract of `Session`, on a connection that is writing; `end` ends it."""

    def __init__(self, path: str, db: Database, shelf: Shelf) -> None:
        self._path = path
        self._db = db
        self._shelf = shelf
        self._recorder = Recorder(path, db, shelf)
        self._exchange = Exchange(db)
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

    def standings(self, nodes: Iterable[str] | None = None) -> Mapping[str, Standing]:
        """How it stands with nodes, with everything that was written down so far."""
        self._refuse_after_the_end()
        with translated_reading(self._path):
            return read_standings(self._db, nodes)

    def send(self, sent: Sent, body: bytes) -> None:
        """Write down what a node is to be told."""
        with self._step():
            self._refuse_unknown(sent.node)
            self._exchange.send(sent, body)

    def published(self, node: str, generation: int) -> None:
        """The broker has it."""
        with self._step():
            self._exchange.published(node, generation)

    def hear(self, report: Report, at: str) -> None:
        """Write down a node's report, and drop what it has reported past."""
        with self._step():
            self._refuse_unknown(report.node)
            self._exchange.hear(report, at)

    def seen(self, node: str, machine: str, at: str) -> bool:
        """Whether this machine, of which something was heard, is the node's own."""
        with self._step():
            self._refuse_unknown(node)
            return self._exchange.seen(node, machine, at)

    def give_to_another(self, node: str) -> None:
        """Let the name be taken by whichever machine speaks first."""
        with self._step():
            self._exchange.give_to_another(node)

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
