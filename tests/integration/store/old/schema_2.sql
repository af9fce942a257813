BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'meshwright','the_first_tables','2026-12-02 09:17:12.370832+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'meshwright','what_was_sent_and_heard','2026-12-02 09:17:12.379947+00:00');
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
INSERT INTO "declared" VALUES('nas','web');
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
INSERT INTO "events" VALUES(4,'2026-12-01T11:00:00Z','ann','mesh module remove zsh','[{"change":"drop-module","module":"zsh"}]');
INSERT INTO "events" VALUES(5,'2026-12-01T12:00:00Z','ann','mesh module add web.toml','[{"change":"put-module","module":{"name":"web","version":"1.4.0"}}]');
CREATE TABLE generations (
    node TEXT NOT NULL PRIMARY KEY,
    last INTEGER NOT NULL CHECK (last > 0)
) STRICT, WITHOUT ROWID;
INSERT INTO "generations" VALUES('nas',4);
CREATE TABLE machines (
    node TEXT NOT NULL PRIMARY KEY REFERENCES nodes (name) ON DELETE CASCADE,
    machine TEXT,
    seen_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "machines" VALUES('nas','6f3c','2026-12-01T13:00:00Z');
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
CREATE TABLE reports (
    node TEXT NOT NULL PRIMARY KEY REFERENCES nodes (name) ON DELETE CASCADE,
    document TEXT NOT NULL,
    heard_at TEXT NOT NULL
) STRICT;
INSERT INTO "reports" VALUES('nas','{"applied":4,"capabilities":{"gpu":{"detail":"no device","present":false}},"doing":"failed","format":1,"generation":4,"healthy":false,"left_out":3,"machine":"6f3c","modules":["ghost","web"],"node":"nas","refused":7,"why":["service web: it ended","b"]}','2026-12-01T13:00:00Z');
CREATE TABLE running (
    node TEXT NOT NULL REFERENCES reports (node) ON DELETE CASCADE,
    module TEXT NOT NULL,
    PRIMARY KEY (node, module)
) STRICT, WITHOUT ROWID;
INSERT INTO "running" VALUES('nas','ghost');
INSERT INTO "running" VALUES('nas','web');
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
INSERT INTO "sent" VALUES('nas',3,'f4','t4',0,1,1,'{"answers":[{"module":"postfix","node":"vps","provision":"mail"}],"claims":[{"claim":"scheduler","module":"postgres"}],"offers":[{"exports":{"port":"5432","å":""},"module":"postgres","provision":"database"}],"resources":["package:zsh","path:/etc/motd"]}',NULL);
INSERT INTO "sent" VALUES('nas',4,'f4','t4',1,1,1,'{"answers":[{"module":"postfix","node":"vps","provision":"mail"}],"claims":[{"claim":"scheduler","module":"postgres"}],"offers":[{"exports":{"port":"5432","å":""},"module":"postgres","provision":"database"}],"resources":["package:zsh","path:/etc/motd"]}',X'666F7572');
CREATE TABLE sent_modules (
    node TEXT NOT NULL,
    generation INTEGER NOT NULL,
    module TEXT NOT NULL,
    PRIMARY KEY (node, generation, module),
    FOREIGN KEY (node, generation) REFERENCES sent (node, generation) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
INSERT INTO "sent_modules" VALUES('nas',3,'postgres');
INSERT INTO "sent_modules" VALUES('nas',4,'postgres');
INSERT INTO "sent_modules" VALUES('nas',4,'web');
CREATE TABLE strangers (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    machine TEXT NOT NULL,
    seen_at TEXT NOT NULL,
    PRIMARY KEY (node, machine)
) STRICT, WITHOUT ROWID;
INSERT INTO "strangers" VALUES('nas','other','2026-12-01T13:00:01Z');
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
CREATE INDEX sent_modules_by_module ON sent_modules (module);
CREATE INDEX running_by_module ON running (module);
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
CREATE TRIGGER modules_in_use_stay BEFORE DELETE ON modules
WHEN EXISTS (SELECT 1 FROM assignments WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM declared WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM sent_modules WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM running WHERE module = OLD.name)
BEGIN SELECT RAISE(ABORT, 'a module that is assigned, declared, sent or running is not forgotten'); END;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('manifests',4);
INSERT INTO "sqlite_sequence" VALUES('events',5);
COMMIT;
PRAGMA application_id = 1298494312;
PRAGMA user_version = 2;
