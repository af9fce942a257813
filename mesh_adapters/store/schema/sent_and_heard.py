"""Schema 2: what was sent to nodes, and what was heard of them."""

from __future__ import annotations

from sqlite_utils import Database

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


def what_was_sent_and_heard(db: Database) -> None:
    """Generations, what was sent, reports, and which machine speaks under which name."""
    for script in (_SENT_AND_HEARD, _GENERATIONS_AND_USE):
        db.executescript(script)
