"""Facts about SQLite and sqlite-utils that the store is built on: here they are seen to change."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from mesh_adapters.store import SqliteStore
from mesh_core import PutModule
from tests.integration.store.helpers import (
    WEB,
    commits,
    raw,
    record,
)


def test_foreign_keys_are_off_and_the_pragma_is_ignored_in_a_transaction() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as conn:
        assert conn.execute("PRAGMA foreign_keys").fetchone() == (0,)
        conn.execute("BEGIN")
        conn.execute("PRAGMA foreign_keys = ON")
        assert conn.execute("PRAGMA foreign_keys").fetchone() == (0,)


def test_with_conn_makes_many_commits_and_atomic_makes_one(path: Path) -> None:
    """`with db.conn` around sqlite-utils calls is no transaction."""
    with closing(sqlite3.connect(path)) as conn:
        db = Database(conn)
        db.enable_wal()
        db.table("rows").insert({"id": 0}, pk="id")
        before = commits(path)
        with db.conn:
            for number in (1, 2, 3):
                db.table("rows").insert({"id": number})
        assert commits(path) == before + 3
        with db.atomic():
            for number in (4, 5, 6):
                db.table("rows").insert({"id": number})
        assert commits(path) == before + 4


def test_with_conn_and_an_exception_kept_the_row(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn:
        db = Database(conn)
        db.table("rows").insert({"id": 0}, pk="id")

        def insert_and_fail(number: int) -> None:
            db.table("rows").insert({"id": number})
            raise ZeroDivisionError

        with pytest.raises(ZeroDivisionError), db.conn:
            insert_and_fail(1)
        assert db.table("rows").count == 2
        with pytest.raises(ZeroDivisionError), db.atomic():
            insert_and_fail(2)
        assert db.table("rows").count == 2


def test_a_transaction_that_reads_first_is_refused_without_waiting(path: Path) -> None:
    with raw(path, foreign_keys=False) as one, raw(path, foreign_keys=False) as two:
        one.execute("PRAGMA journal_mode = wal")
        one.execute("CREATE TABLE rows (id)")
        two.execute("PRAGMA busy_timeout = 60000")
        two.execute("BEGIN")
        two.execute("SELECT * FROM rows").fetchall()
        one.execute("INSERT INTO rows VALUES (1)")
        with pytest.raises(sqlite3.OperationalError) as caught:
            two.execute("INSERT INTO rows VALUES (2)")
        assert caught.value.sqlite_errorname == "SQLITE_BUSY_SNAPSHOT"


def test_copying_a_live_store_loses_what_is_in_its_log(path: Path, tmp_path: Path) -> None:
    """Why there is `backup`."""
    with closing(SqliteStore.create(path)) as store:
        record(store, PutModule(module=WEB))
        shutil.copy(path, tmp_path / "copy.db")
        store.backup(str(tmp_path / "backup.db"))
        for name, modules in (("copy.db", []), ("backup.db", [WEB])):
            with closing(SqliteStore.open(tmp_path / name)) as copy:
                assert list(copy.mesh().catalogue) == modules
