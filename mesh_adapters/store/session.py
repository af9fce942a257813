"""One transaction as its user sees it: the `Session` of `mesh_core.ports`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager

from sqlite_utils import Database

from mesh_adapters.store.building import Building
from mesh_adapters.store.builds import read_build, read_builds, read_open_builds
from mesh_adapters.store.changes import Recorder
from mesh_adapters.store.exchange import Exchange
from mesh_adapters.store.heads import read_heads, write_look
from mesh_adapters.store.outages import translated, translated_reading
from mesh_adapters.store.puts import read_current
from mesh_adapters.store.rows import Shelf, read_mesh
from mesh_adapters.store.standings import read_standings
from mesh_core.change import NoSuchNode
from mesh_core.event import Event
from mesh_core.model.build import Build, Request, Said
from mesh_core.model.mesh import Mesh
from mesh_core.model.origin import Put
from mesh_core.model.said import Report
from mesh_core.model.sent import Sent, Standing
from mesh_core.model.source import Looked, Seen, Source
from mesh_core.ports import NoSuchModule


class SqliteSession:
    """Keeps the contract of `Session`, on a connection that is writing; `end` ends it."""

    def __init__(self, path: str, db: Database, shelf: Shelf) -> None:
        self._path = path
        self._db = db
        self._shelf = shelf
        self._recorder = Recorder(path, db, shelf)
        self._exchange = Exchange(db)
        self._building = Building(path, db, shelf)
        self._ended = False

    def end(self) -> None:
        """Refuse everything from now on."""
        self._ended = True

    def mesh(self) -> Mesh:
        """The mesh with everything that was recorded so far."""
        with self._reading():
            return read_mesh(self._db, self._shelf)

    def record(self, event: Event) -> int:
        """Apply and keep an event, whole or not at all."""
        with self._step():
            return self._recorder.record(event)

    def standings(self, nodes: Iterable[str] | None = None) -> Mapping[str, Standing]:
        """How it stands with nodes, with everything that was written down so far."""
        with self._reading():
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

    def saw(self, module: str, source: Source, looked: Looked, at: str) -> bool:
        """Write down what a look at a source came to, where it is that of the module."""
        with self._step():
            return write_look(self._db, module, source, looked, at)

    def ask(self, request: Request, at: str, who: str) -> Build:
        """Write down a build that is asked for."""
        with self._step():
            return self._building.ask(request, at, who)

    def asked(self, ids: Iterable[str], at: str) -> None:
        """The broker has these requests."""
        with self._step():
            self._building.asked(ids, at)

    def cancel(self, id: str, at: str) -> bool:
        """Let no answer to a build count any more."""
        with self._step():
            return self._building.cancel(id, at)

    def builder_said(self, said: Said, at: str) -> bool:
        """Write down what was heard of a builder, where it counts."""
        with self._step():
            return self._building.builder_said(said, at)

    def builds(self, limit: int | None = None) -> tuple[Build, ...]:
        """The newest builds, with everything that was written down so far."""
        with self._reading():
            return read_builds(self._db, limit, self._shelf)

    def open_builds(self) -> tuple[Build, ...]:
        """Those that are not over, with everything that was written down so far."""
        with self._reading():
            return read_open_builds(self._db, self._shelf)

    def build(self, id: str) -> Build | None:
        """The build of that id, with everything that was written down so far."""
        with self._reading():
            return read_build(self._db, id, self._shelf)

    def heads(self) -> Mapping[str, Seen]:
        """What is known of each source, with everything that was written down so far."""
        with self._reading():
            return read_heads(self._db)

    def put_of(self, module: str) -> Put | None:
        """What is current of a module, with everything that was recorded so far."""
        with self._reading():
            return read_current(self._db, self._shelf, module).get(module)

    def hold(self, module: str, build: str) -> None:
        """Keep what a build made for somebody's word."""
        with self._step():
            self._building.hold(module, build)

    def add_builder(self, builder: str, at: str) -> None:
        """Let a builder speak."""
        with self._step():
            self._building.add_builder(builder, at)

    def remove_builder(self, builder: str) -> bool:
        """Let a builder speak no more."""
        with self._step():
            return self._building.remove_builder(builder)

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

    @contextmanager
    def _reading(self) -> Iterator[None]:
        self._refuse_after_the_end()
        with translated_reading(self._path):
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
