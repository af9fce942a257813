"""Builds as they are asked for, answered, cancelled and held, written down; and who may build.

Nothing here begins, commits or takes back a transaction. That a request and a first answer stay what they are
is a rule of the storage besides (`schema.sources_and_builds`).
"""

from __future__ import annotations

import json
from collections.abc import Iterable

from sqlite_utils import Database

from mesh_adapters.store.builds import document_of_answer, read_build
from mesh_adapters.store.outages import translated_reading
from mesh_adapters.store.rows import Shelf
from mesh_core.canonical import canonical_json
from mesh_core.faults import InvalidValue, NameKind
from mesh_core.model.build import Build, Built, Request, Said, Taken
from mesh_core.model.names import name_fault

_STILL_OPEN = "id = ? AND answered_at IS NULL AND cancelled_at IS NULL"


class Building:
    """Writes what is asked of builders, and what they say."""

    def __init__(self, path: str, db: Database, shelf: Shelf) -> None:
        self._path = path
        self._db = db
        self._shelf = shelf

    def ask(self, request: Request, at: str, who: str) -> Build:
        """Write a request down, whole, under a new number."""
        if self._db.execute("SELECT 1 FROM builds WHERE id = ?", (request.id,)).fetchone():
            raise ValueError(f"there is a build {request.id} already")
        number = self._db.execute(
            "INSERT INTO builds (id, module, repository, at_commit, ref, paths, verify, asked_at, asked_by)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                request.id,
                request.module,
                request.repository,
                request.commit,
                request.ref,
                canonical_json(request.paths),
                int(request.verify),
                at,
                who,
            ),
        ).lastrowid
        assert number is not None
        build = Build(number=number, request=request, asked_at=at, asked_by=who)
        if read_build(self._db, request.id, self._shelf) != build:
            raise ValueError(f"the request {request.id} does not read as it was written")
        return build

    def asked(self, ids: Iterable[str], at: str) -> None:
        """The broker has them."""
        self._db.execute(
            "UPDATE builds SET sent_at = ? WHERE id IN (SELECT value FROM json_each(?))",
            (at, json.dumps([*ids])),
        )

    def cancel(self, id: str, at: str) -> bool:
        """End one that is not over."""
        return self._change_open("cancelled_at = ?", id, at)

    def builder_said(self, said: Said, at: str) -> bool:
        """Write down what counts."""
        if isinstance(said, Taken):
            return self._change_open("taken_by = ?, taken_at = ?", said.request, said.builder, at)
        if self._db.execute(f"SELECT 1 FROM builds WHERE {_STILL_OPEN}", (said.request,)).fetchone() is None:
            return False  # it is not read, either: what does not count need not fit
        document = document_of_answer(said)
        return self._change_open("answer = ?, answered_at = ?", said.request, document, at)

    def hold(self, module: str, id: str) -> None:
        """Keep what a build made for somebody's word."""
        with translated_reading(self._path):
            build = read_build(self._db, id, self._shelf)
        if build is None or not isinstance(build.answer, Built):
            raise ValueError(f"the build {id} made nothing" if build else f"there is no build {id}")
        if build.request.module != module:
            raise ValueError(f"the build {id} is of {build.request.module}, not of {module}")
        self._db.execute("DELETE FROM held WHERE module = ?", (module,))
        self._db.execute("INSERT INTO held (module, build) VALUES (?, ?)", (module, build.number))

    def add_builder(self, builder: str, at: str) -> None:
        """Let one speak, from now on or still."""
        fault = name_fault(NameKind.NODE, builder)
        if fault is not None:
            raise InvalidValue(fault)
        self._db.execute(
            "INSERT INTO builders (name, added_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING", (builder, at)
        )

    def remove_builder(self, builder: str) -> bool:
        """Let one speak no more."""
        return self._db.execute("DELETE FROM builders WHERE name = ?", (builder,)).rowcount > 0

    def _change_open(self, change: str, id: str, *values: str) -> bool:
        """Change a build that is not over: whether there is one."""
        changed = self._db.execute(f"UPDATE builds SET {change} WHERE {_STILL_OPEN}", (*values, id))
        return changed.rowcount > 0
