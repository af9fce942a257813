"""Schema 3: where code lives and what was seen there, what became current, and builds."""

from __future__ import annotations

from sqlite_utils import Database

_PUTS = """
-- A manifest each time that it becomes the current one of its name, also when it was before.
CREATE TABLE puts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    manifest INTEGER NOT NULL,
    origin TEXT NOT NULL,
    at TEXT NOT NULL,
    UNIQUE (name, number),
    FOREIGN KEY (name, manifest) REFERENCES manifests (name, number)
) STRICT;

-- Until now everything was put by hand. A module without its manifest is a fault here, and not left out.
INSERT INTO puts (name, manifest, origin, at)
SELECT modules.name, manifest, '{"from":"hand"}', recorded_at FROM modules
LEFT JOIN manifests ON manifests.name = modules.name AND number = manifest ORDER BY manifest;

-- A module names its put now, and that its manifest. What others refer to cannot be dropped before them.
CREATE TABLE declared_before AS SELECT node, module FROM declared;
DROP TABLE declared;
DROP TABLE modules;

CREATE TABLE modules (
    name TEXT NOT NULL PRIMARY KEY,
    put INTEGER NOT NULL,
    FOREIGN KEY (name, put) REFERENCES puts (name, number)
) STRICT, WITHOUT ROWID;
INSERT INTO modules (name, put) SELECT name, number FROM puts;

CREATE TABLE declared (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    module TEXT NOT NULL REFERENCES modules (name),
    PRIMARY KEY (node, module)
) STRICT, WITHOUT ROWID;
CREATE INDEX declared_by_module ON declared (module);
INSERT INTO declared (node, module) SELECT node, module FROM declared_before;
DROP TABLE declared_before;
"""

_RULES_OF_PUTS = """
CREATE TRIGGER puts_are_not_updated BEFORE UPDATE ON puts
BEGIN SELECT RAISE(ABORT, 'a recorded put is never changed'); END;

CREATE TRIGGER puts_are_not_deleted BEFORE DELETE ON puts
BEGIN SELECT RAISE(ABORT, 'a recorded put is never deleted'); END;

CREATE TRIGGER puts_are_not_replaced BEFORE INSERT ON puts
WHEN EXISTS (SELECT 1 FROM puts WHERE number = NEW.number)
BEGIN SELECT RAISE(ABORT, 'a recorded put is never replaced'); END;

CREATE TRIGGER modules_begin_with_their_newest_put BEFORE INSERT ON modules
WHEN NEW.put IS NOT (SELECT max(number) FROM puts WHERE name = NEW.name)
BEGIN SELECT RAISE(ABORT, 'a module is what was put last'); END;

CREATE TRIGGER modules_go_on_to_their_newest_put BEFORE UPDATE OF put ON modules
WHEN NEW.put IS NOT (SELECT max(number) FROM puts WHERE name = NEW.name)
BEGIN SELECT RAISE(ABORT, 'a module is what was put last'); END;

-- As before; they went with the table.
CREATE TRIGGER modules_in_use_stay BEFORE DELETE ON modules
WHEN EXISTS (SELECT 1 FROM assignments WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM declared WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM sent_modules WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM running WHERE module = OLD.name)
BEGIN SELECT RAISE(ABORT, 'a module that is assigned, declared, sent or running is not forgotten'); END;

CREATE TRIGGER modules_keep_their_name BEFORE UPDATE OF name ON modules
WHEN OLD.name <> NEW.name
BEGIN SELECT RAISE(ABORT, 'a module keeps its name'); END;
"""

_SOURCES = """
-- The catalogue need not have a module whose source is known: it was never built then.
CREATE TABLE sources (
    module TEXT NOT NULL PRIMARY KEY,
    repository TEXT NOT NULL,
    paths TEXT NOT NULL,
    ref TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- What was seen of a source; `unfound` is what the last look ran into, if it found no head.
CREATE TABLE heads (
    module TEXT NOT NULL PRIMARY KEY REFERENCES sources (module) ON DELETE CASCADE,
    head TEXT,
    committed_at TEXT,
    head_at TEXT,
    unfound TEXT
        CHECK (unfound IN ('repository-away', 'ref-gone', 'ref-unclear', 'path-gone', 'commit-gone')),
    unfound_what TEXT,
    unfound_at TEXT,
    CHECK ((head IS NULL) = (committed_at IS NULL) AND (head IS NULL) = (head_at IS NULL)),
    CHECK ((unfound IS NULL) = (unfound_what IS NULL) AND (unfound IS NULL) = (unfound_at IS NULL)),
    CHECK (head IS NOT NULL OR unfound IS NOT NULL)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER heads_are_of_the_source_that_is_there AFTER UPDATE ON sources
WHEN (NEW.module, NEW.repository, NEW.paths, NEW.ref) IS NOT (OLD.module, OLD.repository, OLD.paths, OLD.ref)
BEGIN DELETE FROM heads WHERE module = OLD.module; END;

-- `INSERT OR REPLACE` fires no other trigger.
CREATE TRIGGER heads_are_of_no_source_before AFTER INSERT ON sources
BEGIN DELETE FROM heads WHERE module = NEW.module; END;

CREATE TRIGGER heads_go_with_their_source AFTER DELETE ON sources
BEGIN DELETE FROM heads WHERE module = OLD.module; END;
"""

_BUILDS = """
-- The answer stands last: whoever reads the rest of a row does not go through it.
CREATE TABLE builds (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id TEXT NOT NULL UNIQUE,
    module TEXT NOT NULL,
    repository TEXT NOT NULL,
    at_commit TEXT NOT NULL,
    ref TEXT NOT NULL,
    paths TEXT NOT NULL,
    verify INTEGER NOT NULL CHECK (verify IN (0, 1)),
    asked_at TEXT NOT NULL,
    asked_by TEXT NOT NULL,
    sent_at TEXT,
    taken_by TEXT,
    taken_at TEXT,
    cancelled_at TEXT,
    answered_at TEXT,
    answer TEXT,
    CHECK ((taken_by IS NULL) = (taken_at IS NULL)),
    CHECK ((answer IS NULL) = (answered_at IS NULL)),
    CHECK (answered_at IS NULL OR cancelled_at IS NULL)
) STRICT;
CREATE INDEX open_builds ON builds (number) WHERE answered_at IS NULL AND cancelled_at IS NULL;

-- The module need not be in the catalogue yet: so no foreign key to it.
CREATE TABLE held (
    module TEXT NOT NULL PRIMARY KEY,
    build INTEGER NOT NULL REFERENCES builds (number)
) STRICT, WITHOUT ROWID;

CREATE TABLE builders (
    name TEXT NOT NULL PRIMARY KEY,
    added_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
"""

_RULES_OF_BUILDS = """
CREATE TRIGGER builds_stay_what_was_asked BEFORE UPDATE ON builds
WHEN (NEW.number, NEW.id, NEW.module, NEW.repository, NEW.at_commit, NEW.ref, NEW.paths, NEW.verify,
        NEW.asked_at, NEW.asked_by)
    IS NOT (OLD.number, OLD.id, OLD.module, OLD.repository, OLD.at_commit, OLD.ref, OLD.paths, OLD.verify,
        OLD.asked_at, OLD.asked_by)
BEGIN SELECT RAISE(ABORT, 'what was asked of a builder is never changed'); END;

CREATE TRIGGER builds_stay_as_they_ended BEFORE UPDATE ON builds
WHEN (OLD.answered_at IS NOT NULL OR OLD.cancelled_at IS NOT NULL)
    AND (NEW.taken_by, NEW.taken_at, NEW.cancelled_at, NEW.answered_at, NEW.answer)
    IS NOT (OLD.taken_by, OLD.taken_at, OLD.cancelled_at, OLD.answered_at, OLD.answer)
BEGIN SELECT RAISE(ABORT, 'a build that is over stays as it ended'); END;

CREATE TRIGGER builds_are_not_deleted BEFORE DELETE ON builds
BEGIN SELECT RAISE(ABORT, 'a build is never forgotten'); END;

CREATE TRIGGER builds_are_not_replaced BEFORE INSERT ON builds
WHEN EXISTS (SELECT 1 FROM builds WHERE number = NEW.number OR id = NEW.id)
BEGIN SELECT RAISE(ABORT, 'a build is never replaced'); END;

CREATE TRIGGER what_is_held_was_built BEFORE INSERT ON held
WHEN NOT EXISTS (
    SELECT 1 FROM builds
    WHERE number = NEW.build AND module = NEW.module AND json_extract(answer, '$.said') = 'built'
)
BEGIN SELECT RAISE(ABORT, 'what is held was built of that module'); END;

CREATE TRIGGER what_is_held_stays_or_goes BEFORE UPDATE ON held
BEGIN SELECT RAISE(ABORT, 'what is held is taken away, and something else held'); END;
"""


def sources_puts_and_builds(db: Database) -> None:
    """Sources and their heads, puts, builds, what of them is held, and builders."""
    for script in (_PUTS, _RULES_OF_PUTS, _SOURCES, _BUILDS, _RULES_OF_BUILDS):
        db.executescript(script)
