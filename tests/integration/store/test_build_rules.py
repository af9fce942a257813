"""The rules that the storage itself keeps of sources and builds, against raw SQL, as in `test_rules`."""

import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.store import SqliteStore
from mesh_core.model.build import Taken
from mesh_core.ports import StoreUnreadable, Unreadable
from tests.integration.store.helpers import counts, homelab, raw
from tests.integration.store.works import FAILED, ask, numbered, tell, workshop


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """Builds 1 (built, held), 2 (open, taken), 3 (cancelled) and 4 (failed); a head of web."""
    path = tmp_path_factory.mktemp("lab") / "mesh.db"
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        workshop(store)
        ask(store, numbered(4))
        tell(store, Taken(request=numbered(2).id, builder="pi"), evolve(FAILED, request=numbered(4).id))
    return path.read_bytes()


@pytest.fixture
def lab(path: Path, whole: bytes) -> Path:
    """A store of one's own: whoever closed one left nothing beside it."""
    path.write_bytes(whole)
    return path


ASKED = "what was asked of a builder is never changed"
OVER = "stays as it ended"
COLUMNS = "number, id, module, repository, at_commit, ref, paths, verify, asked_at, asked_by"
COPY = (
    f"INTO builds ({COLUMNS}) SELECT {{}}, module, repository, at_commit, ref, paths, verify, 't', 't'"
    " FROM builds WHERE number = 2"
)

REFUSED = {
    **{
        f"UPDATE builds SET {column} = 'other' WHERE number = 2": ASKED
        for column in ("id", "module", "repository", "at_commit", "ref", "paths", "asked_at", "asked_by")
    },
    "UPDATE builds SET number = 9 WHERE number = 2": ASKED,
    "UPDATE builds SET rowid = 9 WHERE number = 2": ASKED,
    "UPDATE OR REPLACE builds SET number = 1 WHERE number = 2": ASKED,
    "UPDATE OR REPLACE builds SET id = '00c0ffee' WHERE number = 2": ASKED,
    "UPDATE builds SET verify = 0": ASKED,
    "UPDATE builds SET answer = replace(answer, 'nas', 'pi') WHERE number = 1": OVER,
    "UPDATE builds SET answer = NULL, answered_at = NULL WHERE number = 1": OVER,
    "UPDATE builds SET answered_at = 'x' WHERE number = 4": OVER,
    "UPDATE builds SET cancelled_at = 't' WHERE number = 1": OVER,
    "UPDATE builds SET taken_by = 'pi', taken_at = 't' WHERE number = 1": OVER,
    "UPDATE builds SET cancelled_at = NULL WHERE number = 3": OVER,
    "UPDATE builds SET cancelled_at = 'x' WHERE number = 3": OVER,
    "UPDATE builds SET answer = '{}', answered_at = 't' WHERE number = 3": OVER,
    "UPDATE builds SET answer = '{}' WHERE number = 2": "CHECK",
    "UPDATE builds SET taken_at = NULL WHERE number = 2": "CHECK",
    "UPDATE builds SET answer = '{}', answered_at = 't', cancelled_at = 't' WHERE number = 2": "CHECK",
    "UPDATE builds SET sent_at = x'00' WHERE number = 2": "BLOB value in TEXT",
    "DELETE FROM builds": "never forgotten",
    "DELETE FROM builds WHERE number = 2": "never forgotten",
    "REPLACE INTO builds SELECT * FROM builds WHERE number = 2": "never replaced",
    f"REPLACE {COPY.format('9, id')}": "never replaced",
    f"REPLACE {COPY.format('2, 99999999')}": "never replaced",
    f"INSERT OR REPLACE {COPY.format('9, id')}": "never replaced",
    "INSERT INTO held VALUES ('shell', 1)": "built of that module",
    "REPLACE INTO held VALUES ('web', 2)": "built of that module",
    "REPLACE INTO held VALUES ('web', 3)": "built of that module",
    "REPLACE INTO held VALUES ('web', 4)": "built of that module",
    "REPLACE INTO held VALUES ('web', 99)": "built of that module",
    "UPDATE held SET build = 2": "taken away",
    "INSERT INTO heads VALUES ('web', 'a', 't', 't', NULL, NULL, NULL)": "UNIQUE",
    "UPDATE heads SET head = NULL": "CHECK",
    "UPDATE heads SET head = NULL, committed_at = NULL, head_at = NULL": "CHECK",
    "UPDATE heads SET unfound = 'path-gone'": "CHECK",
    "UPDATE heads SET unfound = 'lost', unfound_what = '', unfound_at = 't'": "CHECK",
    "INSERT INTO sources VALUES ('web', '', '', '')": "UNIQUE",
    "INSERT INTO builders VALUES ('nas', 't')": "UNIQUE",
}


@pytest.mark.parametrize("foreign_keys", [True, False], ids=["fk", "no-fk"])
@pytest.mark.parametrize("statement", REFUSED)
def test_any_client_is_refused(lab: Path, statement: str, foreign_keys: bool) -> None:
    before = counts(lab)
    refused = pytest.raises(sqlite3.IntegrityError, match=REFUSED[statement])
    with raw(lab, foreign_keys=foreign_keys) as conn, refused:
        conn.execute(statement)
    assert counts(lab) == before


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE builds SET sent_at = 'later'",
        "UPDATE builds SET taken_by = 'vps', taken_at = 'later' WHERE number = 2",
        "UPDATE builds SET cancelled_at = 'later' WHERE number = 2",
        "REPLACE INTO held VALUES ('web', 1)",
        "DELETE FROM held",
        "DELETE FROM builders",
    ],
)
def test_what_goes_on_is_no_fault_of_the_storage(lab: Path, statement: str) -> None:
    with raw(lab, foreign_keys=False) as conn:
        assert conn.execute(statement).rowcount > 0
    with closing(SqliteStore.open(lab)) as store:
        assert len(store.builds()) == 4
        store.held()


@pytest.mark.parametrize(
    "statement",
    ["INSERT INTO heads VALUES ('shell', 'a', 't', 't', NULL, NULL, NULL)"],
)
def test_foreign_keys_refuse(lab: Path, statement: str) -> None:
    with raw(lab, foreign_keys=True) as conn, pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        conn.execute(statement)


@pytest.mark.parametrize("foreign_keys", [True, False], ids=["fk", "no-fk"])
@pytest.mark.parametrize(
    ("statement", "kept"),
    [
        ("UPDATE sources SET ref = ref", 1),
        ("UPDATE sources SET ref = 'v2'", 0),
        ("UPDATE sources SET paths = '[\".\"]'", 0),
        ("UPDATE sources SET repository = '/srv/web'", 0),
        ("UPDATE sources SET module = 'shell'", 0),
        ("REPLACE INTO sources SELECT module, repository, paths, 'v2' FROM sources", 0),
        ("DELETE FROM sources", 0),
    ],
)
def test_a_head_is_of_the_source_that_is_there(
    lab: Path, statement: str, kept: int, foreign_keys: bool
) -> None:
    with raw(lab, foreign_keys=foreign_keys) as conn:
        conn.execute(statement)
    assert counts(lab)["heads"] == kept


Question = Callable[[SqliteStore], object]

DAMAGE: dict[str, Question] = {
    "UPDATE sources SET paths = '[]'": SqliteStore.mesh,
    "UPDATE sources SET paths = '['": SqliteStore.mesh,
    "UPDATE sources SET paths = '5'": SqliteStore.heads,
    "UPDATE sources SET ref = '-x'": SqliteStore.mesh,
    "UPDATE sources SET repository = 'ext::sh'": SqliteStore.heads,
    "UPDATE sources SET module = 'No Name'": SqliteStore.mesh,
    "DELETE FROM sources": SqliteStore.heads,
    "UPDATE heads SET head = 'HEAD'": SqliteStore.heads,
    "UPDATE heads SET unfound = 'lost'": SqliteStore.heads,
    "UPDATE heads SET committed_at = NULL": SqliteStore.heads,
    "UPDATE heads SET head_at = NULL": SqliteStore.heads,
    "UPDATE heads SET unfound = 'path-gone'": SqliteStore.heads,
    "UPDATE puts SET origin = '['": SqliteStore.puts,
    "UPDATE puts SET origin = '{}'": SqliteStore.current,
    'UPDATE puts SET origin = \'{"from":"nowhere"}\'': SqliteStore.current,
    "UPDATE puts SET manifest = 99": SqliteStore.puts,
    "UPDATE modules SET put = 99": SqliteStore.current,
    "UPDATE manifests SET document = replace(document, '1.4.0', '1.4.1')": SqliteStore.puts,
    "UPDATE builds SET id = 'x' WHERE number = 2": SqliteStore.open_builds,
    "UPDATE builds SET at_commit = 'HEAD' WHERE number = 2": SqliteStore.open_builds,
    "UPDATE builds SET paths = '[' WHERE number = 2": SqliteStore.builds,
    "UPDATE builds SET taken_at = NULL WHERE number = 2": SqliteStore.builds,
    "UPDATE builds SET id = '00c0ffef' WHERE number = 1": SqliteStore.builds,
    "UPDATE builds SET answer = '[' WHERE number = 1": SqliteStore.builds,
    "UPDATE builds SET answer = '5' WHERE number = 1": SqliteStore.builds,
    "UPDATE builds SET answer = '{}' WHERE number = 1": SqliteStore.held,
    "UPDATE builds SET answer = replace(answer, '\"built\"', '\"taken\"')": SqliteStore.builds,
    "UPDATE builds SET answer = replace(answer, '\"bubblewrap\"', '\"paper\"')": SqliteStore.builds,
    "UPDATE builds SET answer = replace(answer, '\"web\"', '\"No Name\"')": SqliteStore.builds,
    "UPDATE builds SET answer = replace(answer, 'sha256:', 'md5:')": SqliteStore.builds,
    "UPDATE builds SET answer = replace(answer, '\"commands\"', '\"luck\"')": SqliteStore.builds,
    "UPDATE builds SET answered_at = NULL WHERE number = 1": SqliteStore.builds,
    "UPDATE builds SET cancelled_at = 't' WHERE number = 1": SqliteStore.builds,
    "UPDATE held SET build = 99": SqliteStore.held,
    "UPDATE held SET build = 2": SqliteStore.held,
    "UPDATE held SET build = 4": SqliteStore.held,
    "UPDATE held SET module = 'shell'": SqliteStore.held,
    "UPDATE builders SET name = 'No Name'": SqliteStore.builders,
}


@pytest.fixture(scope="module")
def lawless(tmp_path_factory: pytest.TempPathFactory, whole: bytes) -> bytes:
    """The same store, with no rule left."""
    path = tmp_path_factory.mktemp("lawless") / "mesh.db"
    path.write_bytes(whole)
    with raw(path, foreign_keys=False) as conn:
        triggers = conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall()
        conn.executescript("".join(f"DROP TRIGGER {trigger};" for (trigger,) in triggers))
    return path.read_bytes()


@pytest.mark.parametrize("statement", DAMAGE)
def test_what_got_past_the_rules_reads_as_damage_and_not_as_nothing(
    path: Path, lawless: bytes, statement: str
) -> None:
    path.write_bytes(lawless)
    with raw(path, foreign_keys=False) as conn:
        conn.execute("PRAGMA ignore_check_constraints = ON")
        assert conn.execute(statement).rowcount > 0
    with closing(SqliteStore.open(path)) as store:
        with pytest.raises(StoreUnreadable) as caught:
            DAMAGE[statement](store)
        assert caught.value.why is Unreadable.DAMAGED
        assert caught.value.detail
        assert "NoneType" not in caught.value.detail


def test_damage_that_a_write_meets_is_damage_too(lab: Path) -> None:
    with raw(lab, foreign_keys=False) as conn:
        conn.execute("DROP TRIGGER builds_stay_as_they_ended")
        conn.execute("UPDATE builds SET answer = '{}' WHERE number = 1")
    with closing(SqliteStore.open(lab)) as store:
        with pytest.raises(StoreUnreadable), store.writing() as session:
            session.hold("web", "00c0ffee")
        with pytest.raises(StoreUnreadable), store.writing() as session:
            session.builds()
