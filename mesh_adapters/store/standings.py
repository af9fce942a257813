"""What was sent to nodes and heard of them: rows -> values, in one read transaction. Nothing here writes.

Each table is read once, whatever the number of nodes. As in `rows`, whatever does not fit raises here, and
the caller reads that as damage.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator
from typing import Any

from sqlite_utils import Database

from mesh_adapters.store.rows import fetched, refuse_left_over
from mesh_core.canonical import canonical_json
from mesh_core.model.said import Report
from mesh_core.model.sent import Answered, Held, Offered, Sent, Standing
from mesh_core.wire.said import read_said

_SENT = "node, generation, fingerprint, at, published, allow_removals, empty, document"
_NEWEST = "generation = (SELECT max(generation) FROM sent AS other WHERE other.node = sent.node)"


class _Of:
    """Reads the rows of some nodes, or of all."""

    def __init__(self, db: Database, nodes: Iterable[str] | None) -> None:
        self._db = db
        self._nodes = None if nodes is None else json.dumps([*nodes])

    def rows(self, columns: str, table: str, order: str | None = None, by: str = "node") -> Iterator[Any]:
        """Some columns of a table, in some order."""
        given = () if self._nodes is None else (self._nodes,)
        where = f" WHERE {by} IN (SELECT value FROM json_each(?))" if given else ""
        ordered = f" ORDER BY {order}" if order else ""
        yield from fetched(self._db, f"SELECT {columns} FROM {table}{where}{ordered}", given)


def read_standings(db: Database, nodes: Iterable[str] | None = None) -> dict[str, Standing]:
    """How it stands with these nodes (None: every one), by name; also where there was nothing yet."""
    of = _Of(db, nodes)
    last: dict[str, int] = dict(of.rows("node, last", "generations"))
    sent = _sent(of, last)
    reports = {node: _heard(node, *heard) for node, *heard in of.rows("node, document, heard_at", "reports")}
    machines: dict[str, tuple[str | None, str]] = {
        node: (machine, seen_at) for node, machine, seen_at in of.rows("node, machine, seen_at", "machines")
    }
    strangers: defaultdict[str, list[str]] = defaultdict(list)
    for node, machine in of.rows("node, machine", "strangers", "node, machine"):
        strangers[node].append(machine)
    standings = {}
    for (name,) in of.rows("name", "nodes", "name", by="name"):
        report, heard_at = reports.pop(name, (None, None))
        machine, seen_at = machines.pop(name, (None, None))
        standings[name] = Standing(
            node=name,
            last=last.get(name, 0),
            sent=tuple(sent.pop(name, ())),
            report=report,
            heard_at=heard_at,
            seen_at=seen_at,
            machine=machine,
            strangers=tuple(strangers.pop(name, ())),
        )
    refuse_left_over(sent, reports, machines, strangers)
    return standings


def read_pending(db: Database) -> tuple[tuple[str, int, bytes], ...]:
    """The newest of each node, where it is not published: node, generation and bytes, by name."""
    query = f"SELECT node, generation, body FROM sent WHERE published = 0 AND {_NEWEST} ORDER BY node"
    return tuple(_with_body(*row) for row in fetched(db, query))


def read_newest(db: Database, nodes: Iterable[str]) -> tuple[tuple[str, int, bytes], ...]:
    """The newest of each of these nodes to which something was sent, by name."""
    query = (
        "SELECT node, generation, body FROM sent"
        f" WHERE node IN (SELECT value FROM json_each(?)) AND {_NEWEST} ORDER BY node"
    )
    return tuple(_with_body(*row) for row in fetched(db, query, (json.dumps([*nodes]),)))


def document_of_sent(sent: Sent) -> str:
    """What of it is kept as a document: everything that is no column and no row of its own."""
    return canonical_json(
        {
            "resources": list(sent.resources),
            "manifests": dict(sent.manifests),
            "claims": [{"claim": held.claim, "module": held.module} for held in sent.claims],
            "offers": [
                {"provision": offer.provision, "module": offer.module, "exports": dict(offer.exports)}
                for offer in sent.offers
            ],
            "answers": [
                {"provision": answer.provision, "node": answer.node, "module": answer.module}
                for answer in sent.answers
            ],
        }
    )


def contents_of_sent(document: str) -> dict[str, Any]:
    """The same as arguments of `Sent`."""
    data = json.loads(document)
    return {
        "resources": data["resources"],
        "manifests": data.get("manifests", {}),  # before schema 3 nobody wrote them down
        "claims": [Held(**held) for held in data["claims"]],
        "offers": [Offered(**offer) for offer in data["offers"]],
        "answers": [Answered(**answer) for answer in data["answers"]],
    }


def _sent(of: _Of, last: dict[str, int]) -> dict[str, list[Sent]]:
    """By node, what is kept of what was sent to it, oldest first."""
    modules: defaultdict[tuple[str, int], list[str]] = defaultdict(list)
    for node, generation, module in of.rows("node, generation, module", "sent_modules"):
        modules[node, generation].append(module)
    found: defaultdict[str, list[Sent]] = defaultdict(list)
    rows = of.rows(_SENT, "sent", "node, generation")
    for node, generation, fingerprint, at, published, allow_removals, empty, document in rows:
        sent = Sent(
            node=node,
            generation=generation,
            fingerprint=fingerprint,
            modules=modules.pop((node, generation), ()),
            allow_removals=bool(allow_removals),
            empty=bool(empty),
            at=at,
            published=bool(published),
            **contents_of_sent(document),
        )
        found[node].append(sent)
    _refuse_ungiven(found, last)
    refuse_left_over(modules)
    return found


def _refuse_ungiven(found: dict[str, list[Sent]], last: dict[str, int]) -> None:
    for node, sents in found.items():
        if sents[-1].generation > last.get(node, 0):
            raise ValueError(f"generation {sents[-1].generation} of {node!r} was never given")


def _heard(node: str, document: str, heard_at: str) -> tuple[Report, str]:
    report = read_said(document.encode())
    if report.node != node:
        raise ValueError(f"a report of {report.node!r} stands under {node!r}")
    return report, heard_at


def _with_body(node: str, generation: int, body: bytes | None) -> tuple[str, int, bytes]:
    if body is None:
        raise ValueError(f"the newest that was sent to {node!r} has no bytes")
    return node, generation, body
