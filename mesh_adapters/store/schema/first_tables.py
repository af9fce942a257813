"""Schema 1: modules, nodes, who gets what, and the event log."""

from __future__ import annotations

from sqlite_utils import Database

_TABLES = """
CREATE TABLE manifests (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    version TEXT NOT NULL,
    document TEXT NOT NULL,
    digest TEXT NOT NULL,
    recorded_at TEXT NOT NULL,
    UNIQUE (name, digest),
    UNIQUE (name, number)
) STRICT;

CREATE TABLE modules (
    name TEXT NOT NULL PRIMARY KEY,
    manifest INTEGER NOT NULL,
    FOREIGN KEY (name, manifest) REFERENCES manifests (name, number)
) STRICT, WITHOUT ROWID;

CREATE TABLE nodes (
    name TEXT NOT NULL PRIMARY KEY,
    reported_at TEXT
) STRICT, WITHOUT ROWID;

-- The catalogue need not have an assigned module: the mesh says `unknown-module` then.
CREATE TABLE assignments (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    module TEXT NOT NULL,
    PRIMARY KEY (node, module)
) STRICT, WITHOUT ROWID;
CREATE INDEX assignments_by_module ON assignments (module);

-- A pin may name a node that is not there: the mesh says `pin-unsatisfied` then.
CREATE TABLE pins (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    provision TEXT NOT NULL,
    at_node TEXT NOT NULL,
    at_module TEXT,
    PRIMARY KEY (node, provision)
) STRICT, WITHOUT ROWID;
CREATE INDEX pins_by_target ON pins (at_node);

CREATE TABLE capabilities (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    name TEXT NOT NULL,
    present INTEGER NOT NULL CHECK (present IN (0, 1)),
    detail TEXT,
    PRIMARY KEY (node, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE declared (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    module TEXT NOT NULL REFERENCES modules (name),
    PRIMARY KEY (node, module)
) STRICT, WITHOUT ROWID;
CREATE INDEX declared_by_module ON declared (module);

CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    who TEXT NOT NULL,
    command TEXT NOT NULL,
    changes TEXT NOT NULL
) STRICT;
"""

# `INSERT OR REPLACE` deletes without firing delete triggers on most connections, so what may not be
# replaced is looked for before the insert.
_KEPT_FOR_GOOD = """
CREATE TRIGGER manifests_are_not_updated BEFORE UPDATE ON manifests
BEGIN SELECT RAISE(ABORT, 'a recorded manifest is never changed'); END;

CREATE TRIGGER manifests_are_not_deleted BEFORE DELETE ON manifests
BEGIN SELECT RAISE(ABORT, 'a recorded manifest is never deleted'); END;

CREATE TRIGGER manifests_are_not_replaced BEFORE INSERT ON manifests
WHEN EXISTS (
    SELECT 1 FROM manifests
    WHERE number = NEW.number OR (name = NEW.name AND digest = NEW.digest)
)
BEGIN SELECT RAISE(ABORT, 'a recorded manifest is never replaced'); END;

CREATE TRIGGER events_are_not_updated BEFORE UPDATE ON events
BEGIN SELECT RAISE(ABORT, 'an event is never changed'); END;

CREATE TRIGGER events_are_not_deleted BEFORE DELETE ON events
BEGIN SELECT RAISE(ABORT, 'an event is never deleted'); END;

CREATE TRIGGER events_are_not_replaced BEFORE INSERT ON events
WHEN EXISTS (SELECT 1 FROM events WHERE number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'an event is never replaced'); END;
"""

_MODULES_AND_NODES = """
CREATE TRIGGER modules_in_use_stay BEFORE DELETE ON modules
WHEN EXISTS (SELECT 1 FROM assignments WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM declared WHERE module = OLD.name)
BEGIN SELECT RAISE(ABORT, 'a module that is assigned or declared is not forgotten'); END;

CREATE TRIGGER modules_keep_their_name BEFORE UPDATE OF name ON modules
WHEN OLD.name <> NEW.name
BEGIN SELECT RAISE(ABORT, 'a module keeps its name'); END;

CREATE TRIGGER nodes_keep_their_name BEFORE UPDATE OF name ON nodes
WHEN OLD.name <> NEW.name
BEGIN SELECT RAISE(ABORT, 'a node keeps its name'); END;

-- From other nodes; the node's own pins go by their foreign key.
CREATE TRIGGER pins_at_a_node_go_with_it AFTER DELETE ON nodes
BEGIN DELETE FROM pins WHERE at_node = OLD.name; END;

CREATE TRIGGER capabilities_need_a_report BEFORE INSERT ON capabilities
WHEN NOT EXISTS (SELECT 1 FROM nodes WHERE name = NEW.node AND reported_at IS NOT NULL)
BEGIN SELECT RAISE(ABORT, 'a node that never reported has no capabilities'); END;

CREATE TRIGGER capabilities_stay_with_their_node BEFORE UPDATE OF node ON capabilities
WHEN OLD.node <> NEW.node
BEGIN SELECT RAISE(ABORT, 'a capability is of the node that reported it'); END;

CREATE TRIGGER reports_are_not_taken_back BEFORE UPDATE OF reported_at ON nodes
WHEN NEW.reported_at IS NULL AND EXISTS (SELECT 1 FROM capabilities WHERE node = NEW.name)
BEGIN SELECT RAISE(ABORT, 'a node with capabilities has reported'); END;
"""


def the_first_tables(db: Database) -> None:
    """Modules, nodes, assignments, pins, reports, what was declared, and the event log."""
    for script in (_TABLES, _KEPT_FOR_GOOD, _MODULES_AND_NODES):
        db.executescript(script)
