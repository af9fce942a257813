"""The tables, the rules that the storage itself keeps, and the migrations that lead here.

Nothing but what is in the file for good. A rule that is only a trigger holds for any client, also
for one that forgot `foreign_keys`. A change of the schema is a new migration at the end, and
`KNOWN` one higher.
"""

from __future__ import annotations

from sqlite_utils import Database, Migrations

APPLICATION_ID = 0x4D657368
""""Mesh" in ASCII: what tells our database from another program's."""

KNOWN = 2
"""The newest schema that this program knows: the number of migrations, kept as `user_version`."""

MIGRATIONS = Migrations("meshwright")

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


@MIGRATIONS()
def the_first_tables(db: Database) -> None:
    """Modules, nodes, assignments, pins, reports, what was declared, and the event log."""
    for script in (_TABLES, _KEPT_FOR_GOOD, _MODULES_AND_NODES):
        db.executescript(script)


_SENT_AND_HEARD = """
-- By the name of a node, also of one that is not there any more: so no foreign key.
CREATE TABLE generations (
    node TEXT NOT NULL PRIMARY KEY,
    last INTEGER NOT NULL CHECK (last > 0)
) STRICT, WITHOUT ROWID;

-- The bytes stand last: whoever reads the rest of a row does not go through them.
CREATE TABLE sent (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    generation INTEGER NOT NULL CHECK (generation > 0),
    fingerprint TEXT NOT NULL,
    at TEXT NOT NULL,
    published INTEGER NOT NULL CHECK (published IN (0, 1)),
    allow_removals INTEGER NOT NULL CHECK (allow_removals IN (0, 1)),
    empty INTEGER NOT NULL CHECK (empty IN (0, 1)),
    document TEXT NOT NULL,
    body BLOB,
    PRIMARY KEY (node, generation)
) STRICT;

-- What was sent may have modules that the catalogue does not have (any more): so no foreign key to it.
CREATE TABLE sent_modules (
    node TEXT NOT NULL,
    generation INTEGER NOT NULL,
    module TEXT NOT NULL,
    PRIMARY KEY (node, generation, module),
    FOREIGN KEY (node, generation) REFERENCES sent (node, generation) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
CREATE INDEX sent_modules_by_module ON sent_modules (module);

CREATE TABLE reports (
    node TEXT NOT NULL PRIMARY KEY REFERENCES nodes (name) ON DELETE CASCADE,
    document TEXT NOT NULL,
    heard_at TEXT NOT NULL
) STRICT;

CREATE TABLE running (
    node TEXT NOT NULL REFERENCES reports (node) ON DELETE CASCADE,
    module TEXT NOT NULL,
    PRIMARY KEY (node, module)
) STRICT, WITHOUT ROWID;
CREATE INDEX running_by_module ON running (module);

-- Without a machine the name belongs to whichever speaks first.
CREATE TABLE machines (
    node TEXT NOT NULL PRIMARY KEY REFERENCES nodes (name) ON DELETE CASCADE,
    machine TEXT,
    seen_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE strangers (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    machine TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    PRIMARY KEY (node, machine)
) STRICT, WITHOUT ROWID;
"""

_GENERATIONS_AND_USE = """
CREATE TRIGGER generations_do_not_go_back BEFORE UPDATE ON generations
WHEN NEW.last < OLD.last OR NEW.node <> OLD.node
BEGIN SELECT RAISE(ABORT, 'a generation never goes back'); END;

CREATE TRIGGER generations_are_not_deleted BEFORE DELETE ON generations
BEGIN SELECT RAISE(ABORT, 'a generation is never forgotten'); END;

CREATE TRIGGER generations_are_not_replaced BEFORE INSERT ON generations
WHEN EXISTS (SELECT 1 FROM generations WHERE node = NEW.node AND last > NEW.last)
BEGIN SELECT RAISE(ABORT, 'a generation never goes back'); END;

CREATE TRIGGER sent_generations_are_given_first BEFORE INSERT ON sent
WHEN NOT EXISTS (SELECT 1 FROM generations WHERE node = NEW.node AND last >= NEW.generation)
BEGIN SELECT RAISE(ABORT, 'a generation is given before it is sent'); END;

CREATE TRIGGER sent_generations_stay_what_they_are BEFORE UPDATE OF node, generation ON sent
WHEN NEW.node <> OLD.node OR NEW.generation <> OLD.generation
BEGIN SELECT RAISE(ABORT, 'what was sent keeps its generation'); END;

DROP TRIGGER modules_in_use_stay;

CREATE TRIGGER modules_in_use_stay BEFORE DELETE ON modules
WHEN EXISTS (SELECT 1 FROM assignments WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM declared WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM sent_modules WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM running WHERE module = OLD.name)
BEGIN SELECT RAISE(ABORT, 'a module that is assigned, declared, sent or running is not forgotten'); END;
"""


@MIGRATIONS()
def what_was_sent_and_heard(db: Database) -> None:
    """Generations, what was sent, reports, and which machine speaks under which name."""
    for script in (_SENT_AND_HEARD, _GENERATIONS_AND_USE):
        db.executescript(script)


def bring_up_to_date(db: Database) -> None:
    """Apply the migrations that are missing, inside the transaction that is to hold them all."""
    MIGRATIONS.apply(db)
    db.execute(f"PRAGMA application_id = {APPLICATION_ID}")
    db.execute(f"PRAGMA user_version = {KNOWN}")
