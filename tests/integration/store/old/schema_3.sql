BEGIN TRANSACTION;
CREATE TABLE "_sqlite_migrations" (
   "id" INTEGER PRIMARY KEY,
   "migration_set" TEXT,
   "name" TEXT,
   "applied_at" TEXT
);
INSERT INTO "_sqlite_migrations" VALUES(1,'meshwright','the_first_tables','2026-12-02 16:54:10.597448+00:00');
INSERT INTO "_sqlite_migrations" VALUES(2,'meshwright','what_was_sent_and_heard','2026-12-02 16:54:10.618501+00:00');
INSERT INTO "_sqlite_migrations" VALUES(3,'meshwright','sources_puts_and_builds','2026-12-02 16:54:10.688905+00:00');
CREATE TABLE assignments (
    node TEXT NOT NULL REFERENCES nodes (name) ON DELETE CASCADE,
    module TEXT NOT NULL,
    PRIMARY KEY (node, module)
) STRICT, WITHOUT ROWID;
INSERT INTO "assignments" VALUES('nas','postgres');
INSERT INTO "assignments" VALUES('pi','web');
CREATE TABLE builders (
    name TEXT NOT NULL PRIMARY KEY,
    added_at TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "builders" VALUES('nas','2026-12-01T15:00:00Z');
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
INSERT INTO "builds" VALUES(1,'00c0ffee','web','https://git.example/web.git','a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0','refs/heads/main','["modules/web","shared/å"]',1,'2026-12-01T15:20:00Z','ann','2026-12-01T15:21:00Z','nas','2026-12-01T15:22:00Z',NULL,'2026-12-01T15:30:00Z','{"artifact":"sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd","builder":"nas","commit":"a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0","committed_at":"2026-11-30T10:00:00Z","content":"sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc","format":1,"log":["make","","make","\u0000 å"],"module":{"name":"web","requires":["database"],"resources":[{"content":"å\n","kind":"file","mode":"0644","path":"/etc/motd"}],"version":"1.5.0"},"place":"oci:/srv/registry","request":"00c0ffee","said":"built","same":false,"shut":"bubblewrap"}');
INSERT INTO "builds" VALUES(2,'00000002','web','https://git.example/web.git','a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0','refs/heads/main','["modules/web","shared/å"]',1,'2026-12-01T15:20:00Z','ann','2026-12-01T15:21:00Z',NULL,NULL,NULL,NULL,NULL);
INSERT INTO "builds" VALUES(3,'00000003','web','https://git.example/web.git','a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0','refs/heads/main','["modules/web","shared/å"]',1,'2026-12-01T15:20:00Z','ann',NULL,NULL,NULL,'2026-12-01T15:31:00Z',NULL,NULL);
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
INSERT INTO "events" VALUES(6,'2026-12-01T14:00:00Z','ann','mesh collect','[{"change":"put-module","module":{"name":"web","version":"1.4.0"},"origin":{"artifact":"sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd","build":"00c0ffee","builder":"nas","commit":"a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0","committed_at":"2026-11-30T10:00:00Z","content":"sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc","from":"build","place":"oci:/srv/registry","shut":"bubblewrap"}}]');
INSERT INTO "events" VALUES(7,'2026-12-01T15:00:00Z','ann','mesh module source web','[{"change":"set-source","module":"web","source":{"paths":["modules/web","shared/å"],"ref":"refs/heads/main","repository":"https://git.example/web.git"}}]');
CREATE TABLE generations (
    node TEXT NOT NULL PRIMARY KEY,
    last INTEGER NOT NULL CHECK (last > 0)
) STRICT, WITHOUT ROWID;
INSERT INTO "generations" VALUES('nas',4);
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
INSERT INTO "heads" VALUES('web','a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0','2026-11-30T10:00:00Z','2026-12-01T15:10:00Z',NULL,NULL,NULL);
CREATE TABLE held (
    module TEXT NOT NULL PRIMARY KEY,
    build INTEGER NOT NULL REFERENCES builds (number)
) STRICT, WITHOUT ROWID;
INSERT INTO "held" VALUES('web',1);
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
    put INTEGER NOT NULL,
    FOREIGN KEY (name, put) REFERENCES puts (name, number)
) STRICT, WITHOUT ROWID;
INSERT INTO "modules" VALUES('postgres',2);
INSERT INTO "modules" VALUES('web',6);
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
CREATE TABLE puts (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    manifest INTEGER NOT NULL,
    origin TEXT NOT NULL,
    at TEXT NOT NULL,
    UNIQUE (name, number),
    FOREIGN KEY (name, manifest) REFERENCES manifests (name, number)
) STRICT;
INSERT INTO "puts" VALUES(1,'web',1,'{"from":"hand"}','2026-12-01T08:00:00Z');
INSERT INTO "puts" VALUES(2,'postgres',2,'{"from":"hand"}','2026-12-01T08:00:00Z');
INSERT INTO "puts" VALUES(3,'web',3,'{"from":"hand"}','2026-12-01T09:00:00Z');
INSERT INTO "puts" VALUES(4,'zsh',4,'{"from":"hand"}','2026-12-01T10:00:00Z');
INSERT INTO "puts" VALUES(5,'web',1,'{"from":"hand"}','2026-12-01T12:00:00Z');
INSERT INTO "puts" VALUES(6,'web',1,'{"artifact":"sha256:dddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddddd","build":"00c0ffee","builder":"nas","commit":"a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0a0","committed_at":"2026-11-30T10:00:00Z","content":"sha256:cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc","from":"build","place":"oci:/srv/registry","shut":"bubblewrap"}','2026-12-01T14:00:00Z');
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
INSERT INTO "sent" VALUES('nas',3,'f4','t4',0,1,1,'{"answers":[{"module":"postfix","node":"vps","provision":"mail"}],"claims":[{"claim":"scheduler","module":"postgres"}],"manifests":{"postgres":"3567","web":"4f5c"},"offers":[{"exports":{"port":"5432","å":""},"module":"postgres","provision":"database"}],"resources":["package:zsh","path:/etc/motd"]}',NULL);
INSERT INTO "sent" VALUES('nas',4,'f4','t4',1,1,1,'{"answers":[{"module":"postfix","node":"vps","provision":"mail"}],"claims":[{"claim":"scheduler","module":"postgres"}],"manifests":{"postgres":"3567","web":"4f5c"},"offers":[{"exports":{"port":"5432","å":""},"module":"postgres","provision":"database"}],"resources":["package:zsh","path:/etc/motd"]}',X'666F7572');
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
CREATE TABLE sources (
    module TEXT NOT NULL PRIMARY KEY,
    repository TEXT NOT NULL,
    paths TEXT NOT NULL,
    ref TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO "sources" VALUES('web','https://git.example/web.git','["modules/web","shared/å"]','refs/heads/main');
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
CREATE INDEX declared_by_module ON declared (module);
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
CREATE TRIGGER modules_in_use_stay BEFORE DELETE ON modules
WHEN EXISTS (SELECT 1 FROM assignments WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM declared WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM sent_modules WHERE module = OLD.name)
    OR EXISTS (SELECT 1 FROM running WHERE module = OLD.name)
BEGIN SELECT RAISE(ABORT, 'a module that is assigned, declared, sent or running is not forgotten'); END;
CREATE TRIGGER modules_keep_their_name BEFORE UPDATE OF name ON modules
WHEN OLD.name <> NEW.name
BEGIN SELECT RAISE(ABORT, 'a module keeps its name'); END;
CREATE TRIGGER heads_are_of_the_source_that_is_there AFTER UPDATE ON sources
WHEN (NEW.module, NEW.repository, NEW.paths, NEW.ref) IS NOT (OLD.module, OLD.repository, OLD.paths, OLD.ref)
BEGIN DELETE FROM heads WHERE module = OLD.module; END;
CREATE TRIGGER heads_are_of_no_source_before AFTER INSERT ON sources
BEGIN DELETE FROM heads WHERE module = NEW.module; END;
CREATE TRIGGER heads_go_with_their_source AFTER DELETE ON sources
BEGIN DELETE FROM heads WHERE module = OLD.module; END;
CREATE INDEX open_builds ON builds (number) WHERE answered_at IS NULL AND cancelled_at IS NULL;
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
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('puts',6);
INSERT INTO "sqlite_sequence" VALUES('manifests',4);
INSERT INTO "sqlite_sequence" VALUES('events',7);
INSERT INTO "sqlite_sequence" VALUES('builds',3);
COMMIT;
PRAGMA application_id = 1298494312;
PRAGMA user_version = 3;
