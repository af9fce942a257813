"""What is said to nodes and heard of them, written down. Nothing here begins, commits or takes back a
transaction, and every node is one that is there.
"""

from __future__ import annotations

from attrs import evolve
from sqlite_utils import Database

from mesh_adapters.store.standings import contents_of_sent, document_of_sent
from mesh_core.model.said import Report
from mesh_core.model.sent import Sent, Standing
from mesh_core.wire.said import read_said, report_to_bytes

HIGHEST = 2**63 - 1
"""The greatest number that SQLite keeps. Nobody counts so far; a message may say anything."""


class Exchange:
    """Writes what goes to nodes, and what comes from them."""

    def __init__(self, db: Database) -> None:
        self._db = db

    def send(self, sent: Sent, body: bytes) -> None:
        """Write down a newer generation, whole, and what is then declared."""
        last = self._last(sent.node)
        if not last < sent.generation <= HIGHEST:
            raise ValueError(f"generation {sent.generation} of {sent.node} is not newer than {last}")
        self._give(sent.node, sent.generation)
        self._db.execute("UPDATE sent SET body = NULL WHERE node = ? AND body IS NOT NULL", (sent.node,))
        self._db.execute(
            "INSERT INTO sent (node, generation, fingerprint, at, published, allow_removals, empty,"
            " document, body) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                sent.node,
                sent.generation,
                sent.fingerprint,
                sent.at,
                int(sent.published),
                int(sent.allow_removals),
                int(sent.empty),
                _document(sent),
                body,
            ),
        )
        self._db.conn.executemany(
            "INSERT INTO sent_modules (node, generation, module) VALUES (?, ?, ?)",
            ((sent.node, sent.generation, module) for module in sent.modules),
        )
        self._declare(sent)

    def published(self, node: str, generation: int) -> None:
        """Mark one that is still kept."""
        self._db.execute(
            "UPDATE sent SET published = 1 WHERE node = ? AND generation = ?", (node, generation)
        )

    def hear(self, report: Report, at: str) -> None:
        """Put a report in place of the one before, and drop what it has reported past."""
        generation = report.generation or 0
        if generation > HIGHEST:
            raise ValueError(f"generation {generation} is more than can be counted")
        self._write_report(report, at)
        if generation > self._last(report.node):
            self._give(report.node, generation)
            self._db.execute("DELETE FROM sent WHERE node = ?", (report.node,))
        else:
            self._drop_what_is_past(report)

    def seen(self, node: str, machine: str, at: str) -> bool:
        """Remember that a machine spoke; whether it is the node's own."""
        found = self._db.execute("SELECT machine FROM machines WHERE node = ?", (node,)).fetchone()
        own = found is None or found[0] is None or found[0] == machine
        if own:
            self._db.execute(
                "INSERT INTO machines (node, machine, seen_at) VALUES (?, ?, ?) ON CONFLICT (node)"
                " DO UPDATE SET machine = excluded.machine, seen_at = excluded.seen_at",
                (node, machine, at),
            )
        else:
            self._db.execute(
                "INSERT INTO strangers (node, machine, seen_at) VALUES (?, ?, ?)"
                " ON CONFLICT (node, machine) DO UPDATE SET seen_at = excluded.seen_at",
                (node, machine, at),
            )
        return own

    def give_to_another(self, node: str) -> None:
        """Forget whose the name is, and who else spoke; not when something was heard."""
        self._db.execute("UPDATE machines SET machine = NULL WHERE node = ?", (node,))
        self._db.execute("DELETE FROM strangers WHERE node = ?", (node,))

    def _last(self, node: str) -> int:
        found = self._db.execute("SELECT last FROM generations WHERE node = ?", (node,)).fetchone()
        return int(found[0]) if found else 0

    def _give(self, node: str, generation: int) -> None:
        self._db.execute(
            "INSERT INTO generations (node, last) VALUES (?, ?)"
            " ON CONFLICT (node) DO UPDATE SET last = excluded.last",
            (node, generation),
        )

    def _declare(self, sent: Sent) -> None:
        """As `Session.declare`, but for what the catalogue does not have, which cannot stand there."""
        self._db.execute("DELETE FROM declared WHERE node = ?", (sent.node,))
        self._db.conn.executemany(
            "INSERT INTO declared (node, module) SELECT ?, name FROM modules WHERE name = ?",
            ((sent.node, module) for module in sent.modules),
        )

    def _write_report(self, report: Report, at: str) -> None:
        document = report_to_bytes(report)
        if read_said(document) != report:
            raise ValueError(f"the report of {report.node} does not read as it was written")
        self._db.execute(
            "INSERT INTO reports (node, document, heard_at) VALUES (?, ?, ?) ON CONFLICT (node)"
            " DO UPDATE SET document = excluded.document, heard_at = excluded.heard_at",
            (report.node, document.decode(), at),
        )
        self._db.execute("DELETE FROM running WHERE node = ?", (report.node,))
        self._db.conn.executemany(
            "INSERT INTO running (node, module) VALUES (?, ?)",
            ((report.node, module) for module in report.modules),
        )

    def _drop_what_is_past(self, report: Report) -> None:
        released = Standing(node=report.node, report=report).released
        self._db.execute(
            "DELETE FROM sent WHERE node = ?1 AND generation < ?2"
            " AND generation < (SELECT max(generation) FROM sent WHERE node = ?1)",
            (report.node, released),
        )


def _document(sent: Sent) -> str:
    document = document_of_sent(sent)
    if evolve(sent, **contents_of_sent(document)) != sent:
        raise ValueError(f"what is sent to {sent.node} does not read as it was written")
    return document
