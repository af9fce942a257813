"""What became current of each module, and where it came from: rows -> values. Nothing here writes.

As in `rows`, whatever does not fit raises here, and the caller reads that as damage.
"""

from __future__ import annotations

import json
from typing import Any

from sqlite_utils import Database

from mesh_adapters.store.rows import Shelf, fetched, shelved
from mesh_core.canonical import canonical_json
from mesh_core.model.origin import Origin, Put
from mesh_core.ports import RecordedManifest
from mesh_core.wire.origins import origin_from_data, origin_to_data

# From the left, so that a put without its manifest is found to be one.
_PUTS = (
    "SELECT puts.name, puts.number, document, digest, origin, at, modules.put IS NOT NULL FROM puts"
    " LEFT JOIN manifests ON manifests.name = puts.name AND manifests.number = puts.manifest"
    " LEFT JOIN modules ON modules.name = puts.name AND modules.put = puts.number"
)
_CURRENT = (
    "SELECT modules.name, puts.number, document, digest, origin, at, 1 FROM modules"
    " LEFT JOIN puts ON puts.name = modules.name AND puts.number = put"
    " LEFT JOIN manifests ON manifests.name = puts.name AND manifests.number = puts.manifest"
)
_MANIFESTS = (
    "SELECT document, digest, recorded_at, modules.put IS NOT NULL FROM manifests"
    " LEFT JOIN modules ON modules.name = manifests.name AND manifests.number ="
    " (SELECT manifest FROM puts WHERE puts.name = modules.name AND puts.number = modules.put)"
    " WHERE manifests.name = ? ORDER BY manifests.number"
)


def read_puts(db: Database, name: str | None, shelf: Shelf) -> tuple[Put, ...]:
    """Everything that ever became current, of a name or of all, oldest first."""
    where, given = ("", ()) if name is None else (" WHERE puts.name = ?", (name,))
    rows = fetched(db, f"{_PUTS}{where} ORDER BY puts.number", given)
    return tuple(_put(shelf, *row) for row in rows)


def read_current(db: Database, shelf: Shelf, name: str | None = None) -> dict[str, Put]:
    """By the module's name, what is current: of one, or of all."""
    where, given = ("", ()) if name is None else (" WHERE modules.name = ?", (name,))
    rows = fetched(db, f"{_CURRENT}{where} ORDER BY modules.name", given)
    return {row[0]: _put(shelf, *row) for row in rows}


def read_manifests(db: Database, name: str, shelf: Shelf) -> tuple[RecordedManifest, ...]:
    """Every manifest of a name, in the order of first recording."""
    return tuple(
        RecordedManifest(module=shelved(document, digest, shelf), recorded_at=at, current=bool(current))
        for document, digest, at, current in fetched(db, _MANIFESTS, (name,))
    )


def document_of_origin(origin: Origin) -> str:
    """An origin as it is stored. Raises `ValueError` for one that would not read as it was written."""
    document = canonical_json(origin_to_data(origin))
    if _origin(document) != origin:
        raise ValueError("where a manifest came from does not read as it was written")
    return document


def _origin(document: str) -> Origin:
    return origin_from_data(json.loads(document))


def _put(shelf: Shelf, name: str, number: int | None, *row: Any) -> Put:
    document, digest, origin, at, current = row
    if number is None or document is None:
        raise ValueError(f"{name!r} without its manifest")
    return Put(
        number=number,
        manifest=shelved(document, digest, shelf),
        digest=digest,
        origin=_origin(origin),
        at=at,
        current=bool(current),
    )
