"""What each change does to the tables. Nothing here begins, commits or takes back a transaction.

What a change *means* is said once, in `mesh_core.change`: the entry of a node, or the catalogue, is
worked out there, with the faults that it finds, and only the difference is written.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import assert_never

from sqlite_utils import Database

from mesh_adapters.store.networks import read_holders, read_network, write_attachment, write_network
from mesh_adapters.store.outages import translated_reading
from mesh_adapters.store.puts import document_of_origin
from mesh_adapters.store.rows import Shelf, document_of, read_modules, read_node
from mesh_core.canonical import canonical_json
from mesh_core.change import (
    Assign,
    Attach,
    Change,
    DropModule,
    DropNode,
    DropSource,
    PutModule,
    PutNode,
    Report,
    SetNetwork,
    SetPin,
    SetSource,
    Unassign,
    Unpin,
    apply,
)
from mesh_core.event import Event
from mesh_core.model.catalogue import Catalogue
from mesh_core.model.mesh import Mesh
from mesh_core.model.network import retire
from mesh_core.model.node import Node
from mesh_core.model.source import Source
from mesh_core.ports import ModuleInUse
from mesh_core.wire.changes import change_from_data, change_to_data
from mesh_core.wire.document import module_from_data


class Recorder:
    """Writes the changes of events."""

    def __init__(self, path: str, db: Database, shelf: Shelf) -> None:
        self._path = path
        self._db = db
        self._shelf = shelf

    def record(self, event: Event) -> int:
        """Write what an event did, and the event. It may raise half-way (see `Session.record`)."""
        for change in event.changes:
            self._write(change, event.at)
        if any(isinstance(change, PutModule | DropModule) for change in event.changes):
            self._refuse_disagreement()
        if any(isinstance(change, PutNode | DropNode | Attach | SetNetwork) for change in event.changes):
            self._settle_addresses()
        changes = canonical_json([change_to_data(change) for change in event.changes])
        number = self._db.execute(
            "INSERT INTO events (at, who, command, changes) VALUES (?, ?, ?, ?)",
            (event.at, event.who, event.command, changes),
        ).lastrowid
        assert number is not None
        return number

    def _refuse_disagreement(self) -> None:
        """Manifests need only agree once all changes of the event are made (`apply_all`)."""
        with translated_reading(self._path):
            modules = read_modules(self._db, self._shelf)
        Catalogue(modules=modules)

    def _settle_addresses(self) -> None:
        """Addresses need only agree once all changes are made, too: what is retired then is settled there."""
        with translated_reading(self._path):
            network, holders = read_network(self._db), read_holders(self._db)
        settled = Mesh(nodes=holders, network=network).network
        if settled != network:
            write_network(self._db, settled)

    def _write(self, change: Change, at: str) -> None:
        match change:
            case PutModule():
                self._put_module(change, at)
            case DropModule(module=name):
                self._drop_module(name)
            case SetSource(module=name, source=source):
                self._set_source(name, source)
            case DropSource(module=name):
                self._drop_source(name)
            case SetNetwork(network=network):
                write_network(self._db, network)
            case DropNode(node=name):
                gone = self._node(name)
                apply(_mesh_of(gone), change)
                self._let_go(gone, None)
                self._db.execute("DELETE FROM nodes WHERE name = ?", (name,))
            case PutNode(node=node):
                self._change_node(change, node.name, at)
            case Assign() | Unassign() | SetPin() | Unpin() | Report() | Attach():
                self._change_node(change, change.node, at)
            case _:
                assert_never(change)

    def _put_module(self, change: PutModule, at: str) -> None:
        module = change.module
        Catalogue(modules=(module,))
        document, digest = document_of(module)
        if module_from_data(json.loads(document)) != module:
            raise ValueError(f"the manifest of {module.name} does not read as it was written")
        self._db.execute(
            "INSERT INTO manifests (name, version, document, digest, recorded_at)"
            " SELECT ?1, ?2, ?3, ?4, ?5"
            " WHERE NOT EXISTS (SELECT 1 FROM manifests WHERE name = ?1 AND digest = ?4)",
            (module.name, module.version, document, digest, at),
        )
        put = self._db.execute(
            "INSERT INTO puts (name, manifest, origin, at)"
            " SELECT name, number, ?, ? FROM manifests WHERE name = ? AND digest = ?",
            (document_of_origin(change.origin), at, module.name, digest),
        ).lastrowid
        self._db.execute(
            "INSERT INTO modules (name, put) VALUES (?, ?)"
            " ON CONFLICT (name) DO UPDATE SET put = excluded.put",
            (module.name, put),
        )
        self._end_what_is_held(module.name)

    def _drop_module(self, name: str) -> None:
        if self._db.execute("SELECT 1 FROM modules WHERE name = ?", (name,)).fetchone() is not None:
            self._drop_manifest(name)
        # Of a module that was never built these are all there is.
        self._drop_source(name)
        self._end_what_is_held(name)

    def _drop_manifest(self, name: str) -> None:
        assigned_to = self._nodes(name, "assignments")
        declared_on = self._nodes(name, "declared", "sent_modules")
        running_on = self._nodes(name, "running")
        if assigned_to or declared_on or running_on:
            raise ModuleInUse(name, assigned_to, declared_on, running_on)
        self._db.execute("DELETE FROM modules WHERE name = ?", (name,))

    def _set_source(self, module: str, source: Source) -> None:
        """Written also where it is equal: what was seen of it stays then (`schema.sources_and_builds`)."""
        change = SetSource(module=module, source=source)
        apply(Mesh(), change)
        if change_from_data(change_to_data(change)) != change:
            raise ValueError(f"the source of {module} does not read as it was written")
        self._db.execute(
            "INSERT INTO sources (module, repository, paths, ref) VALUES (?, ?, ?, ?) ON CONFLICT (module)"
            " DO UPDATE SET repository = excluded.repository, paths = excluded.paths, ref = excluded.ref",
            (module, source.repository, canonical_json(source.paths), source.ref),
        )

    def _drop_source(self, module: str) -> None:
        self._db.execute("DELETE FROM sources WHERE module = ?", (module,))

    def _end_what_is_held(self, module: str) -> None:
        self._db.execute("DELETE FROM held WHERE module = ?", (module,))

    def _nodes(self, module: str, *tables: str) -> tuple[str, ...]:
        """The nodes that have a module in one of these tables, each once, sorted."""
        each = " UNION ".join(f"SELECT node FROM {table} WHERE module = ?1" for table in tables)
        return tuple(node for (node,) in self._db.execute(f"{each} ORDER BY 1", (module,)))

    def _node(self, name: str) -> Node | None:
        with translated_reading(self._path):
            return read_node(self._db, name)

    def _change_node(self, change: Change, name: str, at: str) -> None:
        before = self._node(name)
        after = apply(_mesh_of(before), change).node(name)
        assert after is not None
        if before is None:
            self._db.execute("INSERT INTO nodes (name) VALUES (?)", (name,))
            before = Node(name=name)
        self._write_report(before, after, at, again=isinstance(change, Report))
        self._write_assignments(before, after)
        self._write_pins(before, after)
        if before.network != after.network:
            write_attachment(self._db, name, after.network)
        self._let_go(before, after)

    def _let_go(self, before: Node | None, after: Node | None) -> None:
        """Retire the address that was a node's and is not any more."""
        was = before.network.address if before is not None else None
        if was is None or (after is not None and after.network.address == was):
            return
        with translated_reading(self._path):
            network = read_network(self._db)
        if network is not None:
            write_network(self._db, retire(network, was))

    def _write_report(self, before: Node, after: Node, at: str, *, again: bool) -> None:
        """The report, dated when it says something else, or when the machine said it again."""
        if before.capabilities == after.capabilities and not again:
            return
        reported_at = None if after.capabilities is None else at
        if before.capabilities != after.capabilities:
            self._db.execute("DELETE FROM capabilities WHERE node = ?", (after.name,))
        self._db.execute("UPDATE nodes SET reported_at = ? WHERE name = ?", (reported_at, after.name))
        if before.capabilities != after.capabilities:
            self._each(
                "INSERT INTO capabilities (node, name, present, detail) VALUES (?, ?, ?, ?)",
                ((after.name, c.name, int(c.present), c.detail) for c in after.capabilities or ()),
            )

    def _write_assignments(self, before: Node, after: Node) -> None:
        gone = set(before.assigned).difference(after.assigned)
        come = set(after.assigned).difference(before.assigned)
        self._each(
            "DELETE FROM assignments WHERE node = ? AND module = ?",
            ((after.name, module) for module in gone),
        )
        self._each(
            "INSERT INTO assignments (node, module) VALUES (?, ?)",
            ((after.name, module) for module in come),
        )

    def _write_pins(self, before: Node, after: Node) -> None:
        gone = set(before.pins).difference(after.pins)
        come = set(after.pins).difference(before.pins)
        self._each(
            "DELETE FROM pins WHERE node = ? AND provision = ?",
            ((after.name, pin.provision) for pin in gone),
        )
        self._each(
            "INSERT INTO pins (node, provision, at_node, at_module) VALUES (?, ?, ?, ?)",
            ((after.name, pin.provision, pin.node, pin.module) for pin in come),
        )

    def _each(self, statement: str, rows: Iterable[tuple[object, ...]]) -> None:
        self._db.conn.executemany(statement, rows)


def _mesh_of(node: Node | None) -> Mesh:
    """A mesh that has only what a change of a node looks at."""
    return Mesh(nodes=() if node is None else (node,))
