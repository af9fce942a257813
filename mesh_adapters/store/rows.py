"""Rows -> values, in one read transaction. Nothing here writes.

By hand, because ten thousand nodes go through it: a general converter costs several times as much.
Whatever does not fit raises here (`ValueError`, `LookupError`, ...), and the caller reads that as
damage.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from functools import cache
from hashlib import sha256
from typing import Any

from sqlite_utils import Database

from mesh_adapters.store.networks import read_endpoints, read_network
from mesh_core.canonical import canonical_json
from mesh_core.event import Event
from mesh_core.model.catalogue import Catalogue
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Module
from mesh_core.model.network import UNATTACHED, Attachment, Endpoint
from mesh_core.model.node import Capability, Node, Pin
from mesh_core.model.source import Source
from mesh_core.ports import Recorded
from mesh_core.wire.changes import change_from_data
from mesh_core.wire.data import module_to_data
from mesh_core.wire.document import module_from_data

Shelf = dict[str, Module]
"""The manifests that were read before, by digest: each is parsed once."""


def document_of(module: Module) -> tuple[str, str]:
    """A manifest as it is stored, and its digest."""
    document = canonical_json(module_to_data(module))
    return document, digest_of(document)


def read_mesh(db: Database, shelf: Shelf) -> Mesh:
    """The whole mesh."""
    network = read_network(db)
    mesh = Mesh(
        catalogue=read_catalogue(db, shelf), nodes=_nodes(db), sources=read_sources(db), network=network
    )
    if mesh.network != network:
        raise ValueError("retired addresses that are somebody's, or nobody's to have")
    return mesh


def read_catalogue(db: Database, shelf: Shelf) -> Catalogue:
    """The current manifests, which agree with each other."""
    return Catalogue(modules=read_modules(db, shelf))


def read_modules(db: Database, shelf: Shelf) -> list[Module]:
    """The current manifests, whether they agree or not."""
    rows = fetched(
        db,
        "SELECT document, digest FROM modules"
        " LEFT JOIN puts ON puts.name = modules.name AND puts.number = put"
        " LEFT JOIN manifests ON manifests.name = modules.name AND manifests.number = manifest",
    )
    if any(document is None for document, _ in rows):
        raise ValueError("a module without its manifest")
    return [shelved(document, digest, shelf) for document, digest in rows]


def read_sources(db: Database, module: str | None = None) -> dict[str, Source]:
    """By the module's name, where its code lives: of one, or of all."""
    where, given = ("", ()) if module is None else (" WHERE module = ?", (module,))
    rows = fetched(db, f"SELECT module, repository, paths, ref FROM sources{where}", given)
    return {
        name: Source(repository=repository, paths=json.loads(paths), ref=ref)
        for name, repository, paths, ref in rows
    }


def read_node(db: Database, name: str) -> Node | None:
    """One node, if there is one of that name."""
    found = fetched(db, "SELECT reported_at, address, key, site, relay FROM nodes WHERE name = ?", (name,))
    if not found:
        return None
    ((reported_at, *attached),) = found
    of_node = "FROM {} WHERE node = ?"
    report = fetched(db, f"SELECT name, present, detail {of_node.format('capabilities')}", (name,))
    pins = fetched(db, f"SELECT provision, at_node, at_module {of_node.format('pins')}", (name,))
    assigned = fetched(db, f"SELECT module {of_node.format('assignments')}", (name,))
    return Node(
        name=name,
        assigned=[module for (module,) in assigned],
        capabilities=None if reported_at is None else [_capability(*said) for said in report],
        pins=[_pin(*target) for target in pins],
        network=_attachment(read_endpoints(db, name).get(name, ()), *attached),
    )


def read_declared(db: Database) -> dict[str, tuple[str, ...]]:
    """By node, what was last declared on it."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for node, module in fetched(db, "SELECT node, module FROM declared ORDER BY node, module"):
        found[node].append(module)
    return {node: tuple(modules) for node, modules in found.items()}


def read_history(db: Database, limit: int | None) -> tuple[Recorded, ...]:
    """The newest events, newest first."""
    rows = fetched(
        db,
        "SELECT number, at, who, command, changes FROM events ORDER BY number DESC LIMIT ?",
        (-1 if limit is None else max(limit, 0),),
    )
    return tuple(_recorded(*row) for row in rows)


def _recorded(number: int, at: str, who: str, command: str, changes: str) -> Recorded:
    said = [change_from_data(change) for change in json.loads(changes)]
    return Recorded(number=number, event=Event(at=at, who=who, command=command, changes=said))


def fetched(db: Database, query: str, values: tuple[object, ...] = ()) -> list[Any]:
    """The rows that a query gives."""
    # All at once: a cursor that stops half-way, where a row is damaged, keeps the file from closing.
    return db.execute(query, values).fetchall()


def _nodes(db: Database) -> Iterator[Node]:
    """Every node. Rows of a node that is not there, or never reported, are damage, not nothing."""
    capability, pin = cache(_capability), cache(_pin)  # machines say the same things
    assigned: defaultdict[str, list[str]] = defaultdict(list)
    for node, module in fetched(db, "SELECT node, module FROM assignments"):
        assigned[node].append(module)
    reports: defaultdict[str, list[Capability]] = defaultdict(list)
    for node, *said in fetched(db, "SELECT node, name, present, detail FROM capabilities"):
        reports[node].append(capability(*said))
    pins: defaultdict[str, list[Pin]] = defaultdict(list)
    for node, *target in fetched(db, "SELECT node, provision, at_node, at_module FROM pins"):
        pins[node].append(pin(*target))
    endpoints = read_endpoints(db)
    rows = fetched(db, "SELECT name, reported_at, address, key, site, relay FROM nodes")
    for name, reported_at, *attached in rows:
        yield Node(
            name=name,
            assigned=assigned.pop(name, ()),
            capabilities=None if reported_at is None else reports.pop(name, ()),
            pins=pins.pop(name, ()),
            network=_attachment(endpoints.pop(name, ()), *attached),
        )
    refuse_left_over(assigned, reports, pins, endpoints)


def refuse_left_over(*tables: dict[Any, Any]) -> None:
    """Raise `ValueError` for rows of what is not there."""
    for table in tables:
        for name in table:
            raise ValueError(f"rows that {name!r} cannot have")


def refuse_half(what: str, *columns: object) -> None:
    """Raise `ValueError` where some of them say something and others do not."""
    if len({column is None for column in columns}) > 1:
        raise ValueError(f"{what} is half there")


def _capability(name: str, present: int, detail: str | None) -> Capability:
    return Capability(name=name, present=bool(present), detail=detail)


def _pin(provision: str, at_node: str, at_module: str | None) -> Pin:
    return Pin(provision=provision, node=at_node, module=at_module)


def _attachment(
    endpoints: Sequence[Endpoint], address: str | None, key: str | None, site: str | None, relay: int
) -> Attachment:
    if (address, key, site, relay) == (None, None, None, 0) and not endpoints:
        return UNATTACHED  # the one that most nodes of a mesh without a network have
    return Attachment(address=address, key=key, endpoints=endpoints, site=site, relay=bool(relay))


def shelved(document: str, digest: str, shelf: Shelf) -> Module:
    """A manifest, parsed if it was not before."""
    if digest not in shelf:
        if digest_of(document) != digest:
            raise ValueError("a manifest is not the one that was recorded")
        shelf[digest] = module_from_data(json.loads(document))
    return shelf[digest]


def digest_of(document: str) -> str:
    """The digest of a manifest as it is stored."""
    return sha256(document.encode()).hexdigest()
