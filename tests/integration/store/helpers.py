"""What the tests of the store share: events and meshes that are quick to write, and looks at files."""

import os
import sqlite3
import struct
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from mesh_adapters.store import SqliteStore
from mesh_core import (
    Assign,
    Capability,
    Change,
    Module,
    Pin,
    Provision,
    PutModule,
    PutNode,
    Report,
    Scope,
    SetPin,
)
from mesh_core import Node as Node
from mesh_core.event import Event

AT = "2026-12-01T22:20:02Z"
NOBODY = 65534

WEB = Module(name="web", version="1.4.0")
POSTGRES = Module(name="postgres", version="16.2", provides=[Provision(name="database", scope=Scope.MESH)])

HOMELAB = (
    PutModule(module=WEB),
    PutModule(module=POSTGRES),
    PutNode(node=Node(name="nas")),
    PutNode(node=Node(name="pi")),
    PutNode(node=Node(name="vps")),
    Assign(node="nas", module="postgres"),
    Assign(node="pi", module="web"),
    SetPin(node="pi", pin=Pin(provision="database", node="nas")),
    SetPin(node="vps", pin=Pin(provision="database", node="nas", module="postgres")),
    Report(
        node="nas",
        capabilities=(
            Capability(name="systemd"),
            Capability(name="gpu", present=False, detail="no device"),
        ),
    ),
)
"""Three nodes; two of them are pinned at nas, and vps and pi never reported."""


def event(*changes: Change, at: str = AT, who: str = "ann", command: str = "mesh ...") -> Event:
    return Event(at=at, who=who, command=command, changes=changes)


def record(store: SqliteStore, *changes: Change, at: str = AT) -> int:
    """One command: one transaction with one event."""
    with store.writing() as session:
        return session.record(event(*changes, at=at))


def homelab(path: Path) -> None:
    """Make a store with something in everything."""
    with closing(SqliteStore.create(path)) as store:
        record(store, *HOMELAB)
        with store.writing() as session:
            session.declare("nas", ["postgres"])


@contextmanager
def raw(path: Path, *, foreign_keys: bool) -> Iterator[sqlite3.Connection]:
    """The file as any other program sees it, each statement its own transaction."""
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute(f"PRAGMA foreign_keys = {int(foreign_keys)}")
        yield conn


TABLES = (
    *("manifests", "puts", "sources", "heads", "builds", "held", "builders"),
    *("modules", "nodes", "assignments", "pins", "capabilities", "declared", "events"),
    *("generations", "sent", "sent_modules", "reports", "running", "machines", "strangers"),
    *("network", "retired_addresses", "endpoints"),
)


def counts(path: Path) -> dict[str, int]:
    """The rows of each table, counted in the table itself."""
    with raw(path, foreign_keys=False) as conn:
        return {name: conn.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in TABLES}


def commits(path: Path) -> int:
    """How many transactions were committed to the write-ahead log since it was begun.

    From the format of the log: a frame that ends a transaction has the size of the database in its
    header. Frames of an older round of the log have other salts.
    """
    log = Path(f"{path}-wal").read_bytes()
    (page_size,) = struct.unpack_from(">8xI", log)
    salts = log[16:24]
    frames = range(32, len(log) - 24, 24 + page_size)
    return sum(log[at + 4 : at + 8] != bytes(4) and log[at + 8 : at + 16] == salts for at in frames)


def everything(folder: Path) -> dict[str, bytes]:
    """The bytes of every file in a folder, for "nothing was changed"."""
    return {found.name: found.read_bytes() for found in folder.iterdir() if found.is_file()}


@contextmanager
def unprivileged(folder: Path) -> Iterator[None]:
    """Be somebody whom permissions hold: root, who runs tests in containers, is nobody meanwhile."""
    if os.geteuid() != 0:
        yield
        return
    for found in (folder, *folder.iterdir()):
        os.chown(found, NOBODY, NOBODY)
    os.setegid(NOBODY)
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
        os.setegid(0)


PYTHON = sys.executable
ROOT = Path(__file__).parents[3]
