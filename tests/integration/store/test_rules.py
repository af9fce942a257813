"""The rules that the storage itself keeps, against raw SQL: no code of ours stands in the way here.

"Rows are counted in the table, not in a join": a row that is left behind shows nowhere else.
"""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mesh_adapters.store import SqliteStore
from mesh_core import Assign, DropModule, DropNode, Node, PutModule, PutNode
from mesh_core.ports import StoreUnreadable, Unreadable
from tests.integration.store.helpers import POSTGRES, WEB, counts, homelab, raw, record


@pytest.fixture
def lab(path: Path) -> Path:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        record(store, PutModule(module=WEB), PutModule(module=POSTGRES))
    return path


IN_USE = "assigned, declared, sent or running"

REFUSED = {
    "DELETE FROM modules WHERE name = 'postgres'": IN_USE,
    "DELETE FROM modules WHERE name = 'web'": IN_USE,
    "DELETE FROM modules": IN_USE,
    "REPLACE INTO manifests SELECT * FROM manifests WHERE number = 1": "never replaced",
    "REPLACE INTO manifests SELECT 9, name, 'x', 'x', digest, 'x' FROM manifests": "never replaced",
    "UPDATE manifests SET recorded_at = 'x'": "never changed",
    "UPDATE OR REPLACE manifests SET number = 2 WHERE number = 1": "never changed",
    "DELETE FROM manifests": "never deleted",
    "UPDATE events SET who = 'nobody'": "never changed",
    "DELETE FROM events": "never deleted",
    "REPLACE INTO events VALUES (1, '', '', '', '[]')": "never replaced",
    "UPDATE puts SET manifest = manifest": "never changed",
    "UPDATE puts SET origin = '{}'": "never changed",
    "UPDATE OR REPLACE puts SET number = 2 WHERE number = 1": "never changed",
    "DELETE FROM puts WHERE number = 1": "never deleted",
    "REPLACE INTO puts SELECT * FROM puts WHERE number = 1": "never replaced",
    "INSERT OR REPLACE INTO puts VALUES (1, 'web', 1, '{}', 't')": "never replaced",
    "UPDATE modules SET put = 1 WHERE name = 'web'": "what was put last",
    "UPDATE modules SET put = 99 WHERE name = 'web'": "what was put last",
    "INSERT INTO modules VALUES ('ghost', 1)": "what was put last",
    "REPLACE INTO modules VALUES ('web', 1)": "what was put last",
    "INSERT INTO modules VALUES ('web', 1) ON CONFLICT DO UPDATE SET put = 1": "what was put last",
    "UPDATE modules SET name = 'www' WHERE name = 'web'": "keeps its name",
    "UPDATE nodes SET name = 'pie' WHERE name = 'pi'": "keeps its name",
    "INSERT INTO capabilities VALUES ('pi', 'gpu', 1, NULL)": "never reported",
    "INSERT INTO capabilities VALUES ('gone', 'gpu', 1, NULL)": "never reported",
    "UPDATE capabilities SET node = 'pi'": "the node that reported it",
    "UPDATE nodes SET reported_at = NULL": "has reported",
    "INSERT INTO capabilities VALUES ('nas', 'kvm', 2, NULL)": "CHECK",
    "INSERT INTO capabilities VALUES ('nas', 'kvm', 'yes', NULL)": "TEXT value in INTEGER",
    "INSERT INTO assignments VALUES ('nas', x'00')": "BLOB value in TEXT",
    "INSERT INTO assignments VALUES ('nas', 'postgres')": "UNIQUE",
    "INSERT INTO nodes (name) VALUES ('nas')": "UNIQUE",
}


@pytest.mark.parametrize("foreign_keys", [True, False], ids=["fk", "no-fk"])
@pytest.mark.parametrize("statement", REFUSED)
def test_any_client_is_refused(lab: Path, statement: str, foreign_keys: bool) -> None:
    """Also one that forgot `foreign_keys`, which are off in a connection unless asked for."""
    before = counts(lab)
    refused = pytest.raises(sqlite3.IntegrityError, match=REFUSED[statement])
    with raw(lab, foreign_keys=foreign_keys) as conn, refused:
        conn.execute(statement)
    assert counts(lab) == before


@pytest.mark.parametrize("foreign_keys", [True, False], ids=["fk", "no-fk"])
@pytest.mark.parametrize("reason", ["assignments", "declared"])
def test_either_reason_keeps_a_module(lab: Path, reason: str, foreign_keys: bool) -> None:
    other = {"assignments": "declared", "declared": "assignments"}[reason]
    with raw(lab, foreign_keys=foreign_keys) as conn:
        conn.execute(f"DELETE FROM {other} WHERE module = 'postgres'")
        with pytest.raises(sqlite3.IntegrityError, match=IN_USE):
            conn.execute("DELETE FROM modules WHERE name = 'postgres'")
        conn.execute(f"DELETE FROM {reason} WHERE module = 'postgres'")
        conn.execute("DELETE FROM modules WHERE name = 'postgres'")
    assert counts(lab)["modules"] == 1


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO assignments VALUES ('gone', 'web')",
        "INSERT INTO pins VALUES ('gone', 'database', 'nas', NULL)",
        "INSERT INTO declared VALUES ('gone', 'web')",
        "INSERT INTO declared VALUES ('nas', 'ghost')",
        "INSERT INTO puts VALUES (9, 'ghost', 1, '{}', 't')",
        "INSERT INTO puts VALUES (9, 'web', 2, '{}', 't')",
        "INSERT INTO puts VALUES (9, 'web', 99, '{}', 't')",
    ],
)
def test_foreign_keys_refuse(lab: Path, statement: str) -> None:
    with raw(lab, foreign_keys=True) as conn, pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        conn.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "INSERT INTO assignments VALUES ('pi', 'ghost')",
        "INSERT INTO pins VALUES ('nas', 'database', 'gone', NULL)",
        "INSERT INTO capabilities VALUES ('nas', 'kvm', 0, NULL)",
    ],
)
def test_what_the_mesh_itself_calls_a_problem_is_no_fault_of_the_storage(lab: Path, statement: str) -> None:
    with raw(lab, foreign_keys=True) as conn:
        conn.execute(statement)
    with closing(SqliteStore.open(lab)) as store:
        store.mesh()


def test_removing_a_node_takes_everything_of_it_and_every_pin_at_it(lab: Path) -> None:
    """Counted before and after, in each table."""
    before = counts(lab)
    assert before | {"assignments": 2, "pins": 2, "capabilities": 2, "declared": 1} == before
    with raw(lab, foreign_keys=True) as conn:
        conn.execute("DELETE FROM nodes WHERE name = 'nas'")
    after = {"nodes": 2, "assignments": 1, "pins": 0, "capabilities": 0, "declared": 0}
    assert counts(lab) == before | after


def test_removing_a_node_takes_the_same_by_its_change(lab: Path) -> None:
    before = counts(lab)
    with closing(SqliteStore.open(lab)) as store:
        record(store, DropNode(node="nas"))
        record(store, DropModule(module="postgres"))
    gone = {"nodes": 2, "assignments": 1, "pins": 0, "capabilities": 0, "declared": 0}
    done = {"modules": 1, "events": before["events"] + 2}
    assert counts(lab) == before | gone | done


def test_other_pins_stay(lab: Path) -> None:
    with closing(SqliteStore.open(lab)) as store:
        record(store, DropNode(node="vps"))
    assert counts(lab)["pins"] == 1


ORPHANS = {
    "INSERT INTO assignments VALUES ('gone', 'web')": "mesh",
    "INSERT INTO pins VALUES ('gone', 'database', 'nas', NULL)": "mesh",
    "UPDATE nodes SET name = 'no name' WHERE name = 'pi'": "mesh",
    "UPDATE assignments SET module = 'No Name'": "mesh",
    "UPDATE manifests SET document = replace(document, '1.4.0', '1.4.1')": "mesh",
    "UPDATE manifests SET document = '[', digest = 'x'": "mesh",
    "UPDATE nodes SET reported_at = NULL": "mesh",
    "UPDATE modules SET put = 99 WHERE name = 'web'": "mesh",
    "UPDATE puts SET manifest = 99 WHERE number = (SELECT put FROM modules WHERE name = 'web')": "mesh",
    'UPDATE events SET changes = \'[{"change":"sing"}]\'': "history",
    "UPDATE events SET changes = '[{}]'": "history",
    "UPDATE events SET changes = '5'": "history",
    "UPDATE events SET changes = '" + "[" * 100_000 + "'": "history",
    "UPDATE events SET who = CAST(x'ff' AS TEXT)": "history",
}


@pytest.mark.parametrize("statement", ORPHANS)
def test_what_got_past_the_rules_reads_as_damage_and_not_as_nothing(lab: Path, statement: str) -> None:
    with raw(lab, foreign_keys=False) as conn:
        for (trigger,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            conn.execute(f"DROP TRIGGER {trigger}")
        conn.execute(statement)
    with closing(SqliteStore.open(lab)) as store:
        question = store.mesh if ORPHANS[statement] == "mesh" else store.history
        with pytest.raises(StoreUnreadable) as caught:
            question()
        assert caught.value.why is Unreadable.DAMAGED
        assert caught.value.detail
        assert "NoneType" not in caught.value.detail


def test_damage_that_a_change_meets_is_damage_too(lab: Path) -> None:
    with raw(lab, foreign_keys=False) as conn:
        conn.execute("UPDATE assignments SET module = 'No Name' WHERE node = 'pi'")
    with closing(SqliteStore.open(lab)) as store:
        with pytest.raises(StoreUnreadable):
            record(store, Assign(node="pi", module="postgres"))
        with pytest.raises(StoreUnreadable):
            record(store, PutNode(node=Node(name="pi")))
