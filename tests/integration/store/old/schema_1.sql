BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'meshwright','the_first_tables','2026-12-02 09:17:12.285205+00:00');
CREATE TABLE assignments (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    module TEXT NOT NULL,
    PRIMARY KEY (node, module)
) STRICT, WITHOUT ROWID;
INSERT INTO "assignments" VALUES('nas','postgres');
INSERT INTO "assignments" VALUES('pi','web');
CREATE TABLE capabilities (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    name TEXT NOT NULL,
    present INTEGER NOT NULL CHECK (present IN (0, 1)),
    detail TEXT,
    PRIMARY KEY (node, name)
) STRICT, WITHOUT ROWID;
INSERT INTO "capabilities" VALUES('nas','gpu',0,'no device');
INSERT INTO "capabilities" VALUES('nas','systemd',1,NULL);
CREATE TABLE declared (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    module TEXT NOT NULL REFERENCES modules (name),
    PRIMARY KEY (node, module)
) STRICT, WITHOUT ROWID;
INSERT INTO "declared" VALUES('nas','postgres');
CREATE TABLE events (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    at TEXT NOT NULL,
    who TEXT NOT NULL,
    command TEXT NOT NULL,
    changes TEXT NOT NULL
) STRICT;
INSERT INTO "events" VALUES(1,'2026-12-01T08:00:00Z','ann','mesh import homelab.toml','[{"change":"put-module","module":{"name":"web","version":"1.4.0"}},{"change":"put-module","module":{"name":"postgres","provides":[{"name":"database","scope":"mesh"}],"version":"16.2"}},{"change":"put-node","node":{"assign":[],"name":"nas","pins":{}}},{"change":"put-node","node":{"assign":[],"name":"pi","pins":{}}},{"change":"put-node","node":{"assign":[],"name":"vps","pins":{}}},{"change":"assign","module":"postgres","node":"nas"},{"change":"assign","module":"web","node":"pi"},{"change":"pin","from":"nas","node":"pi","provision":"database"},{"change":"pin","from":"nas/postgres","node":"vps","provision":"database"},{"capabilities":{"gpu":{"detail":"no device","present":false},"systemd":true},"change":"report","node":"nas"}]');
INSERT INTO "events" VALUES(2,'2026-12-01T09:00:00Z','ann','mesh module add web.toml','[{"change":"put-module","module":{"name":"web","version":"1.5.0"}}]');
INSERT INTO "events" VALUES(3,'2026-12-01T10:00:00Z','ann','mesh module add zsh.toml','[{"change":"put-module","module":{"name":"zsh","version":"5.9"}}]');
INSERT INTO "events" VALUES(4,'2026-12-01T12:00:00Z','ann','mesh module add web.toml','[{"change":"put-module","module":{"name":"web","version":"1.4.0"}}]');
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
INSERT INTO "manifests" VALUES(1,'web','1.4.0','{"name":"web","version":"1.4.0"}','a0900d2a3ae6c7a0b9b09e493804bf70158a20a995222f841025af3b6fb5d587','2026-12-01T08:00:00Z');
INSERT INTO "manifests" VALUES(2,'postgres','16.2','{"name":"postgres","provides":[{"name":"database","scope":"mesh"}],"version":"16.2"}','3567ac00633b2a87728ef794ccb61962712d8fe9283fd53e6a8f5e7f2d3051e2','2026-12-01T08:00:00Z');
INSERT INTO "manifests" VALUES(3,'web','1.5.0','{"name":"web","version":"1.5.0"}','a3b40106b7aa2ce7d53dfcfc0285bd4c937714b404525a10bdc737703e43404a','2026-12-01T09:00:00Z');
INSERT INTO "manifests" VALUES(4,'zsh','5.9','{"name":"zsh","version":"5.9"}','d904f000bd854de7748f42c580a34c6e32439f510d1dd5635d9657a906ffc6c8','2026-12-01T10:00:00Z');
CREATE TABLE modules (
    name TEXT NOT NULL PRIMARY KEY,
    manifest INTEGER NOT NULL,
    FOREIGN KEY (name, manifest) REFERENCES manifests (name, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "modules" VALUES('postgres',2);
INSERT INTO "modules" VALUES('web',1);
INSERT INTO "modules" VALUES('zsh',4);
CREATE TABLE nodes (
    name TEXT NOT NULL PRIMARY KEY,
    reported_at TEXT
) STRICT, WITHOUT ROWID;
INSERT INTO "nodes" VALUES('nas','2026-12-01T08:00:00Z');
INSERT INTO "nodes" VALUES('pi',NULL);
INSERT INTO "nodes" VALUES('vps',NULL);
CREATE TABLE pins (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    provision TEXT NOT NULL,
    at_node TEXT NOT NULL,
    at_module TEXT,
    PRIMARY KEY (node, provision)
) STRICT, WITHOUT ROWID;
INSERT INTO "pins" VALUES('pi','database','nas',NULL);
INSERT INTO "pins" VALUES('vps','database','nas','postgres');
CREATE UNIQUE INDEX "idx__sqlite_migrations_migration_set_name"
    ON "_sqlite_migrations" ("migration_set", "name");
CREATE INDEX assignments_by_module ON assignments (module);
CREATE INDEX pins_by_target ON pins (at_node);
CREATE INDEX declared_by_module ON declared (module);
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
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('manifests',4);
INSERT INTO "sqlite_sequence" VALUES('events',4);
COMMIT;
PRAGMA application_id = 1298494312;
PRAGMA user_version = 1;
