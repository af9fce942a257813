"""The rules that the storage itself keeps of what was sent and heard, against raw SQL, as in `test_rules`."""

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from mesh_adapters.store import SqliteStore
from mesh_core import DropNode
from mesh_core.model.said import Report
from mesh_core.model.sent import Sent
from mesh_core.ports import StoreUnreadable, Unreadable
from tests.integration.store.helpers import counts, homelab, raw, record

IN_USE = "assigned, declared, sent or running"


@pytest.fixture
def lab(path: Path) -> Path:
    """Two generations of nas, the older with web, which runs there; and vps, sent one and removed."""
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        with store.writing() as session:
            session.send(Sent(node="vps", generation=7, fingerprint="f"), b"7")
            session.send(Sent(node="nas", generation=4, fingerprint="f", modules=["web"]), b"4")
            session.send(Sent(node="nas", generation=5, fingerprint="f"), b"5")
            session.hear(Report(node="nas", machine="6f3c", generation=4, modules=["web"]), "t")
            session.seen("nas", "6f3c", "t")
            session.seen("nas", "other", "t")
        record(store, DropNode(node="vps"))
    return path


SENT = "'f', 't', 0, 0, 0, '{}', NULL"

REFUSED = {
    "UPDATE generations SET last = 4 WHERE node = 'nas'": "never goes back",
    "UPDATE generations SET last = last - 1": "never goes back",
    "UPDATE generations SET node = 'pi' WHERE node = 'vps'": "never goes back",
    "UPDATE OR REPLACE generations SET node = 'nas' WHERE node = 'vps'": "never goes back",
    "REPLACE INTO generations VALUES ('nas', 4)": "never goes back",
    "INSERT INTO generations VALUES ('vps', 6) ON CONFLICT DO UPDATE SET last = 6": "never goes back",
    "DELETE FROM generations": "never forgotten",
    "DELETE FROM generations WHERE node = 'vps'": "never forgotten",
    "INSERT INTO generations VALUES ('pi', 0)": "CHECK",
    "INSERT INTO generations VALUES ('pi', 'x')": "TEXT value in INTEGER",
    f"INSERT INTO sent VALUES ('nas', 6, {SENT})": "given before it is sent",
    f"INSERT INTO sent VALUES ('pi', 1, {SENT})": "given before it is sent",
    f"INSERT INTO sent VALUES ('nas', 5, {SENT})": "UNIQUE",
    f"INSERT INTO sent VALUES ('nas', -1, {SENT})": "CHECK",
    "UPDATE sent SET generation = 3 WHERE generation = 4": "keeps its generation",
    "UPDATE sent SET node = 'pi'": "keeps its generation",
    "UPDATE sent SET published = 2": "CHECK",
    "UPDATE sent SET allow_removals = 2": "CHECK",
    "UPDATE sent SET empty = 2": "CHECK",
    "UPDATE sent SET body = 'text'": "TEXT value in BLOB",
    "DELETE FROM modules WHERE name = 'web'": IN_USE,
}


@pytest.mark.parametrize("foreign_keys", [True, False], ids=["fk", "no-fk"])
@pytest.mark.parametrize("statement", REFUSED)
def test_any_client_is_refused(lab: Path, statement: str, foreign_keys: bool) -> None:
    before = counts(lab)
    refused = pytest.raises(sqlite3.IntegrityError, match=REFUSED[statement])
    with raw(lab, foreign_keys=foreign_keys) as conn, refused:
        conn.execute(statement)
    assert counts(lab) == before


@pytest.mark.parametrize("foreign_keys", [True, False], ids=["fk", "no-fk"])
@pytest.mark.parametrize("reason", ["sent_modules", "running"])
def test_either_reason_keeps_a_module(lab: Path, reason: str, foreign_keys: bool) -> None:
    other = {"sent_modules": "running", "running": "sent_modules"}[reason]
    with raw(lab, foreign_keys=foreign_keys) as conn:
        conn.execute("DELETE FROM assignments")
        conn.execute(f"DELETE FROM {other}")
        with pytest.raises(sqlite3.IntegrityError, match=IN_USE):
            conn.execute("DELETE FROM modules WHERE name = 'web'")
        conn.execute(f"DELETE FROM {reason}")
        conn.execute("DELETE FROM modules WHERE name = 'web'")
    assert counts(lab)["modules"] == 1


@pytest.mark.parametrize(
    "statement",
    [
        f"INSERT INTO sent VALUES ('vps', 7, {SENT})",
        "INSERT INTO sent_modules VALUES ('nas', 3, 'web')",
        "INSERT INTO reports VALUES ('vps', '{}', 't')",
        "INSERT INTO running VALUES ('pi', 'web')",
        "INSERT INTO machines VALUES ('vps', 'x', 't')",
        "INSERT INTO strangers VALUES ('vps', 'x', 't')",
    ],
)
def test_foreign_keys_refuse(lab: Path, statement: str) -> None:
    with raw(lab, foreign_keys=True) as conn, pytest.raises(sqlite3.IntegrityError, match="FOREIGN KEY"):
        conn.execute(statement)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE generations SET last = 9",
        "INSERT INTO generations VALUES ('nobody', 1)",
        "INSERT INTO sent_modules VALUES ('nas', 5, 'ghost')",
        "INSERT INTO running VALUES ('nas', 'ghost')",
    ],
)
def test_what_a_machine_may_say_is_no_fault_of_the_storage(lab: Path, statement: str) -> None:
    with raw(lab, foreign_keys=True) as conn:
        conn.execute(statement)
    with closing(SqliteStore.open(lab)) as store:
        store.standings()


def test_removing_a_node_takes_all_of_it_but_its_generation(lab: Path) -> None:
    """Counted before and after, in each table."""
    before = counts(lab)
    full = {"sent": 2, "sent_modules": 1, "reports": 1, "running": 1, "machines": 1, "strangers": 1}
    assert before | full | {"generations": 2, "nodes": 2} == before
    with raw(lab, foreign_keys=True) as conn:
        conn.execute("DELETE FROM nodes WHERE name = 'nas'")
        assert conn.execute("SELECT * FROM generations ORDER BY 1").fetchall() == [("nas", 5), ("vps", 7)]
    found = counts(lab)
    assert {name: found[name] for name in full} == dict.fromkeys(full, 0)


def test_dropping_what_was_sent_takes_its_modules_alone(lab: Path) -> None:
    before = counts(lab)
    with raw(lab, foreign_keys=True) as conn:
        conn.execute("DELETE FROM sent WHERE node = 'nas' AND generation = 4")
    assert counts(lab) == before | {"sent": 1, "sent_modules": 0}


DAMAGE = [
    "DELETE FROM nodes WHERE name = 'nas'",
    "INSERT INTO reports VALUES ('gone', (SELECT document FROM reports), 't')",
    "INSERT INTO machines VALUES ('gone', 'x', 't')",
    "INSERT INTO strangers VALUES ('gone', 'x', 't')",
    "INSERT INTO sent_modules VALUES ('nas', 3, 'web')",
    "UPDATE reports SET document = replace(document, '\"nas\"', '\"pi\"')",
    "UPDATE reports SET document = '{}'",
    "UPDATE reports SET document = '['",
    "UPDATE sent SET document = '['",
    "UPDATE sent SET document = '{}'",
    "UPDATE sent SET document = '5'",
    'UPDATE sent SET document = replace(document, \'"claims":[]\', \'"claims":[{"a":1}]\')',
    "UPDATE sent SET generation = 6 WHERE generation = 5",
    "DELETE FROM generations WHERE node = 'nas'",
]


@pytest.mark.parametrize("statement", DAMAGE)
def test_what_got_past_the_rules_reads_as_damage_and_not_as_nothing(lab: Path, statement: str) -> None:
    with raw(lab, foreign_keys=False) as conn:
        for (trigger,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'"):
            conn.execute(f"DROP TRIGGER {trigger}")
        assert conn.execute(statement).rowcount > 0
    with closing(SqliteStore.open(lab)) as store:
        with pytest.raises(StoreUnreadable) as caught:
            store.standings()
        assert caught.value.why is Unreadable.DAMAGED
        assert caught.value.detail


def test_the_newest_without_its_bytes_is_damage(lab: Path) -> None:
    with raw(lab, foreign_keys=False) as conn:
        conn.execute("UPDATE sent SET body = NULL")
    with closing(SqliteStore.open(lab)) as store:
        for question in (store.pending, lambda: store.newest(["nas"])):
            with pytest.raises(StoreUnreadable, match="no bytes"):
                question()
