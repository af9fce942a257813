"""Builds, what of them is held, and builders: rows -> values. Nothing here writes; `building` does.

As in `rows`, by hand, because ten thousand builds go through it, and whatever does not fit raises here, and
the caller reads that as damage.
"""

from __future__ import annotations

import json
from typing import Any

from sqlite_utils import Database

from mesh_adapters.store.rows import Shelf, digest_of, fetched, refuse_half, shelved
from mesh_core.canonical import canonical_json
from mesh_core.faults import NameKind
from mesh_core.model.build import Answer, Artifact, Build, Built, Failed, Request, Shut, Step
from mesh_core.model.names import name_fault
from mesh_core.model.source import Commit
from mesh_core.wire.builds import said_to_data

_BUILD = (
    "builds.number, id, builds.module, repository, at_commit, ref, paths, verify, asked_at, asked_by,"
    " sent_at, taken_by, taken_at, cancelled_at, answered_at, answer"
)
# By its index, whatever SQLite thinks of it: nobody goes through ten thousand builds to find those of today.
_OPEN = "builds INDEXED BY open_builds WHERE answered_at IS NULL AND cancelled_at IS NULL"


def read_builds(db: Database, limit: int | None, shelf: Shelf) -> tuple[Build, ...]:
    """The newest builds, newest first."""
    given = (-1 if limit is None else max(limit, 0),)
    rows = fetched(db, f"SELECT {_BUILD} FROM builds ORDER BY number DESC LIMIT ?", given)
    return tuple(_build(shelf, *row) for row in rows)


def read_open_builds(db: Database, shelf: Shelf) -> tuple[Build, ...]:
    """Those that are not over, oldest first."""
    rows = fetched(db, f"SELECT {_BUILD} FROM {_OPEN} ORDER BY number")
    return tuple(_build(shelf, *row) for row in rows)


def read_build(db: Database, id: str, shelf: Shelf) -> Build | None:
    """The build of an id, if there is one."""
    rows = fetched(db, f"SELECT {_BUILD} FROM builds WHERE id = ?", (id,))
    return _build(shelf, *rows[0]) if rows else None


def read_held(db: Database, shelf: Shelf) -> dict[str, Build]:
    """By module, the build that waits for somebody's word."""
    query = f"SELECT held.module, {_BUILD} FROM held LEFT JOIN builds ON number = build ORDER BY held.module"
    held = {}
    for module, number, *rest in fetched(db, query):
        build = None if number is None else _build(shelf, number, *rest)
        if build is None or build.request.module != module or not isinstance(build.answer, Built):
            raise ValueError(f"what is held of {module!r} was not built of it")
        held[module] = build
    return held


def read_builders(db: Database) -> tuple[str, ...]:
    """Their names, sorted."""
    names = tuple(name for (name,) in fetched(db, "SELECT name FROM builders ORDER BY name"))
    for name in names:
        if name_fault(NameKind.NODE, name) is not None:
            raise ValueError(f"no builder is called {name!r}")
    return names


def document_of_answer(answer: Answer) -> str:
    """An answer as it is stored. Raises `ValueError` for one that would not read as it was written."""
    document = canonical_json(said_to_data(answer))
    if _answer(document, {}) != answer:
        raise ValueError(f"the answer to {answer.request} does not read as it was written")
    return document


def _build(shelf: Shelf, number: int, id: str, *rest: Any) -> Build:
    module, repository, commit, ref, paths, verify, *known = rest
    asked_at, asked_by, sent_at, taken_by, taken_at, cancelled_at, answered_at, answer = known
    refuse_half(f"that {id!r} was taken", taken_by, taken_at)
    refuse_half(f"the answer to {id!r}", answer, answered_at)
    if answered_at is not None and cancelled_at is not None:
        raise ValueError(f"{id!r} was cancelled and answered")
    return Build(
        number=number,
        request=Request(
            id=id,
            module=module,
            repository=repository,
            commit=commit,
            ref=ref,
            paths=json.loads(paths),
            verify=bool(verify),
        ),
        asked_at=asked_at,
        asked_by=asked_by,
        sent_at=sent_at,
        taken_by=taken_by,
        taken_at=taken_at,
        answer=None if answer is None else _answer_to(id, answer, shelf),
        answered_at=answered_at,
        cancelled_at=cancelled_at,
    )


def _answer_to(id: str, document: str, shelf: Shelf) -> Answer:
    answer = _answer(document, shelf)
    if answer.request != id:
        raise ValueError(f"an answer to {answer.request!r} stands under {id!r}")
    return answer


def _answer(document: str, shelf: Shelf) -> Answer:
    """What `said_to_data` wrote, but that nobody has to be told where a fault of it is."""
    data = json.loads(document)
    log = data.get("log", ())
    if data["said"] == "failed":
        step, why = Step(data["step"]), data["why"]
        return Failed(request=data["request"], builder=data.get("builder"), step=step, why=why, log=log)
    if data["said"] != "built":
        raise ValueError(f"{data['said']!r} is no answer")
    manifest = canonical_json(data["module"])
    return Built(
        request=data["request"],
        builder=data["builder"],
        manifest=shelved(manifest, digest_of(manifest), shelf),
        commit=Commit(id=data["commit"], at=data["committed_at"]),
        artifact=Artifact(content=data["content"], artifact=data["artifact"], place=data["place"]),
        shut=Shut(data["shut"]),
        same=data.get("same"),
        log=log,
    )
