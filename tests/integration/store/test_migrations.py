"""Schemas that come and go: sqlite-utils' `Migrations`, in one transaction of ours."""

import threading
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database, Migrations

from mesh_adapters.store import SqliteStore, schema
from mesh_core import DropNode, Mesh, apply_all
from mesh_core.ports import StoreReadOnly, StoreTooNew
from tests.integration.store.helpers import (
    HOMELAB,
    commits,
    everything,
    homelab,
    raw,
    record,
    unprivileged,
)


def test_known_is_the_number_of_migrations() -> None:
    with closing(Database(memory=True)) as db:
        assert len(schema.MIGRATIONS.pending(db)) == schema.KNOWN


def test_a_new_store_has_its_marks(path: Path) -> None:
    SqliteStore.create(path).close()
    with raw(path, foreign_keys=False) as conn:
        assert conn.execute("PRAGMA application_id").fetchone() == (schema.APPLICATION_ID,)
        assert conn.execute("PRAGMA user_version").fetchone() == (schema.KNOWN,)
        assert conn.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def add_a_column(db: Database) -> None:
    db.execute("ALTER TABLE nodes ADD COLUMN colour TEXT")


def fail_half_way(db: Database) -> None:
    db.execute("ALTER TABLE nodes ADD COLUMN colour TEXT")
    raise ZeroDivisionError


def as_of_later(monkeypatch: pytest.MonkeyPatch, *steps: object) -> None:
    """Be a later program, which has these migrations besides."""
    later = Migrations("meshwright")
    now = (
        schema.the_first_tables,
        schema.what_was_sent_and_heard,
        schema.sources_puts_and_builds,
        schema.the_overlay_network,
    )
    for step in (*now, *steps):
        later()(step)  # type: ignore[type-var]
    monkeypatch.setattr(schema, "MIGRATIONS", later)
    monkeypatch.setattr(schema, "KNOWN", schema.KNOWN + len(steps))


def test_an_older_store_is_brought_up_to_date_in_one_commit(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    homelab(path)
    as_of_later(monkeypatch, add_a_column)
    with closing(SqliteStore.open(path)) as store:
        assert commits(path) == 1
        assert store.mesh() == apply_all(Mesh(), HOMELAB)
        record(store, DropNode(node="pi"))
    with raw(path, foreign_keys=False) as conn:
        assert conn.execute("PRAGMA user_version").fetchone() == (schema.KNOWN,)
        assert conn.execute("SELECT colour FROM nodes").fetchall() == [(None,), (None,)]
    before = everything(path.parent)
    SqliteStore.open(path).close()
    assert everything(path.parent) == before


def test_a_migration_that_fails_leaves_the_store_as_it_was(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The one before it, which did not fail, is taken back with it."""
    homelab(path)
    with monkeypatch.context() as later:

        def another(db: Database) -> None:
            db.execute("CREATE TABLE another (name TEXT)")

        as_of_later(later, another, fail_half_way)
        with pytest.raises(ZeroDivisionError):
            SqliteStore.open(path)
    with closing(SqliteStore.open(path)) as store:
        assert store.mesh() == apply_all(Mesh(), HOMELAB)
    with raw(path, foreign_keys=False) as conn:
        tables = {name for (name,) in conn.execute("SELECT name FROM sqlite_master")}
        assert "another" not in tables
        assert conn.execute("SELECT count(*) FROM _sqlite_migrations").fetchone() == (schema.KNOWN,)


def test_an_older_store_that_cannot_be_written_is_not_read_wrongly(
    open_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = open_folder / "mesh.db"
    homelab(path)
    path.chmod(0o444)
    as_of_later(monkeypatch, add_a_column)
    with unprivileged(open_folder), pytest.raises(StoreReadOnly):
        SqliteStore.open(path)
    open_folder.chmod(0o555)
    with unprivileged(open_folder), pytest.raises(StoreReadOnly):
        SqliteStore.open(path)


def test_a_newer_program_that_was_first(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It holds the store while we wait with our own migration, and that is now an old one."""
    homelab(path)
    as_of_later(monkeypatch, add_a_column)
    found: list[BaseException] = []

    def migrate() -> None:
        try:
            SqliteStore.open(path).close()
        except BaseException as error:  # shown by the thread that can fail the test
            found.append(error)

    thread = threading.Thread(target=migrate)
    with raw(path, foreign_keys=False) as conn:
        conn.execute("BEGIN IMMEDIATE")
        thread.start()
        thread.join(0.3)
        assert thread.is_alive()
        conn.execute("PRAGMA user_version = 9")
        conn.execute("COMMIT")
    thread.join(20)
    assert [type(error) for error in found] == [StoreTooNew]
    with raw(path, foreign_keys=False) as conn:
        assert conn.execute("PRAGMA user_version").fetchone() == (9,)


def test_two_that_migrate_at_once(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    homelab(path)
    as_of_later(monkeypatch, add_a_column)
    failures: list[BaseException] = []
    start = threading.Barrier(4)

    def migrate() -> None:
        try:
            start.wait(10)
            SqliteStore.open(path).close()
        except BaseException as error:  # shown by the thread that can fail the test
            failures.append(error)

    threads = [threading.Thread(target=migrate) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(20)
    assert failures == []
    with raw(path, foreign_keys=False) as conn:
        assert conn.execute("SELECT count(*) FROM _sqlite_migrations").fetchone() == (schema.KNOWN,)
