"""Schema 4: the overlay network, and how each node is attached to it."""

from __future__ import annotations

from sqlite_utils import Database

_NETWORK = """
-- A mesh has one network, or none.
CREATE TABLE network (
    only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
    range TEXT NOT NULL,
    peers TEXT NOT NULL CHECK (peers IN ('full', 'takes')),
    port INTEGER NOT NULL CHECK (port BETWEEN 1 AND 65535)
) STRICT;

-- Addresses that were a node's and are nobody's, in the order in which they were let go.
CREATE TABLE retired_addresses (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    address TEXT NOT NULL UNIQUE
) STRICT;

ALTER TABLE nodes ADD COLUMN address TEXT;
ALTER TABLE nodes ADD COLUMN key TEXT;
ALTER TABLE nodes ADD COLUMN site TEXT;
ALTER TABLE nodes ADD COLUMN relay INTEGER NOT NULL DEFAULT 0 CHECK (relay IN (0, 1));

CREATE TABLE endpoints (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    at TEXT NOT NULL,
    site TEXT,
    PRIMARY KEY (node, position)
) STRICT, WITHOUT ROWID;
"""


def the_overlay_network(db: Database) -> None:
    """The network of the mesh, and addresses, keys, sites and endpoints of nodes."""
    db.executescript(_NETWORK)
