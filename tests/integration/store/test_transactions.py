"""One command is one `BEGIN IMMEDIATE` and one commit, or nothing; and reading sees one moment.

What was measured of SQLite and sqlite-utils, and why this is done as it is, is in test_library.py.
"""

import os
import signal
import sqlite3
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from sqlite_utils import Database

from mesh_adapters.store import SqliteStore
from mesh_adapters.store.connection import Connection, _settle
from mesh_core import Assign, DropNode, Mesh, Node, NoSuchNode, PutNode, apply_all
from mesh_core.ports import StoreBusy
from tests.integration.store.helpers import (
    HOMELAB,
    PYTHON,
    ROOT,
    commits,
    counts,
    event,
    everything,
    homelab,
    raw,
    record,
)


@pytest.fixture
def lab(path: Path) -> Iterator[SqliteStore]:
    homelab(path)
    with closing(SqliteStore.open(path, patience=0.05)) as store:
        yield store


def connection(store: SqliteStore) -> Connection:
    return store._connection


def settings(db: Database) -> dict[str, object]:
    names = ("foreign_keys", "journal_mode", "synchronous", "busy_timeout", "query_only")
    return {name: db.execute(f"PRAGMA {name}").fetchone()[0] for name in names}


# Settings.


def test_the_settings_of_a_connection(path: Path) -> None:
    homelab(path)
    expected = {"foreign_keys": 1, "journal_mode": "wal", "synchronous": 2, "busy_timeout": 5000}
    with closing(SqliteStore.open(path)) as store:
        assert settings(connection(store).db) == {**expected, "query_only": 1}
        with store.writing():
            assert settings(connection(store).db) == {**expected, "query_only": 0}
        assert settings(connection(store).db)["query_only"] == 1


def test_settings_that_do_not_take_are_not_gone_on_with(path: Path) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as conn:
        conn.execute("BEGIN")
        with pytest.raises(RuntimeError, match="foreign_keys"):
            _settle(conn, 5.0)


def test_a_file_that_lost_its_log_mode_gets_it_back_before_it_is_written(path: Path) -> None:
    homelab(path)
    with raw(path, foreign_keys=True) as conn:
        assert conn.execute("PRAGMA journal_mode = delete").fetchone() == ("delete",)
    with closing(SqliteStore.open(path)) as store:
        assert len(store.mesh().nodes) == 3
        record(store, DropNode(node="pi"))
        assert settings(connection(store).db)["journal_mode"] == "wal"


def test_nothing_else_writes(lab: SqliteStore) -> None:
    """Outside `writing` the connection itself refuses."""
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection(lab).db.execute("DELETE FROM nodes")
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection(lab).db.table("nodes").insert({"name": "x"})
    with lab.writing():
        pass
    with pytest.raises(sqlite3.OperationalError, match="readonly"):
        connection(lab).db.execute("DELETE FROM nodes")


# One commit, or nothing.


def test_one_session_is_one_commit_whatever_is_in_it(path: Path) -> None:
    with closing(SqliteStore.create(path)) as store:
        for expected in (1, 2):
            with store.writing() as session:
                session.record(event(*HOMELAB))
                session.record(event(Assign(node="vps", module="web")))
                with pytest.raises(NoSuchNode):
                    session.record(event(PutNode(node=Node(name="x")), DropNode(node="gone")))
                session.declare("nas", ["web"])
                session.mesh()
            assert commits(path) == expected


def test_a_session_without_a_change_writes_nothing(lab: SqliteStore, path: Path) -> None:
    record(lab, DropNode(node="vps"))
    before = commits(path)
    with lab.writing() as session:
        session.mesh()
    assert commits(path) == before == 1


@pytest.mark.parametrize("error", [ZeroDivisionError, KeyboardInterrupt, SystemExit, StoreBusy("")])
def test_an_exception_takes_everything_back(
    lab: SqliteStore, path: Path, error: type[BaseException] | BaseException
) -> None:
    before, rows, history = lab.mesh(), counts(path), lab.history()

    def half_a_command() -> None:
        with lab.writing() as session:
            session.record(event(DropNode(node="nas"), PutNode(node=Node(name="new"))))
            session.declare("pi", ["web"])
            raise error

    kind = error if isinstance(error, type) else type(error)
    with pytest.raises(kind):
        half_a_command()
    assert (lab.mesh(), counts(path), lab.history()) == (before, rows, history)
    record(lab, DropNode(node="nas"))


def test_a_session_left_half_done_leaves_nothing(path: Path) -> None:
    """Closed in the middle, as when the interpreter goes away."""
    homelab(path)
    store = SqliteStore.open(path)
    before = store.mesh()
    writing = store.writing()
    writing.__enter__().record(event(DropNode(node="nas")))
    store.close()
    with pytest.raises(sqlite3.ProgrammingError):
        writing.__exit__(None, None, None)
    with closing(SqliteStore.open(path)) as store:
        assert store.mesh() == before


def test_killed_in_the_middle_of_a_transaction(path: Path) -> None:
    """The port: what was committed is there after the process is killed; what was not is not."""
    homelab(path)
    program = (
        "import sys, time\n"
        "from mesh_adapters.store import SqliteStore\n"
        "from mesh_core import DropNode, Node, PutNode\n"
        "from tests.integration.store.helpers import event\n"
        "store = SqliteStore.open(sys.argv[1])\n"
        "with store.writing() as session:\n"
        "    session.record(event(PutNode(node=Node(name='committed'))))\n"
        "with store.writing() as session:\n"
        # More than SQLite keeps in memory, so that some of it is in the log already.
        "    session._db.execute('PRAGMA cache_size = 5')\n"
        "    for n in range(2000):\n"
        "        session.record(event(PutNode(node=Node(name=f'lost-{n}'))))\n"
        "    session.record(event(DropNode(node='nas')))\n"
        "    print('now', flush=True)\n"
        "    time.sleep(60)\n"
    )
    argv = [PYTHON, "-c", program, str(path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    child = subprocess.Popen(argv, stdout=subprocess.PIPE, env=environment, text=True)
    assert child.stdout is not None
    try:
        assert child.stdout.readline() == "now\n"
        log = Path(f"{path}-wal").stat().st_size
    finally:
        child.send_signal(signal.SIGKILL)
        child.wait()
        child.stdout.close()
    assert log > 100_000, "nothing of the lost transaction was written: the test shows nothing"
    with closing(SqliteStore.open(path)) as store:
        committed = PutNode(node=Node(name="committed"))
        assert store.mesh() == apply_all(Mesh(), [*HOMELAB, committed])
        assert store.declared() == {"nas": ("postgres",)}
        assert len(store.history()) == 2
        record(store, DropNode(node="committed"))
    assert sorted(everything(path.parent)) == ["mesh.db"]


# Two at once.


def test_a_second_writer_waits_and_loses_nothing(path: Path) -> None:
    """Both read before they write, so neither could go on from what it read without waiting."""
    homelab(path)
    held, failures = threading.Event(), list[BaseException]()

    def second() -> None:
        try:
            with closing(SqliteStore.open(path)) as store:
                assert held.wait(10)
                with store.writing() as session:
                    (node,) = (n for n in session.mesh().nodes if n.name == "vps")
                    assert node.assigned == ("first",)
                    session.record(event(Assign(node="vps", module="second")))
        except BaseException as error:  # shown by the thread that can fail the test
            failures.append(error)

    thread = threading.Thread(target=second)
    thread.start()
    with closing(SqliteStore.open(path)) as store:
        with store.writing() as session:
            session.record(event(Assign(node="vps", module="first")))
            held.set()
            time.sleep(0.2)
        thread.join(20)
        assert failures == []
        found = store.mesh().node("vps")
        assert found is not None
        assert found.assigned == ("first", "second")


def test_one_that_waits_longer_than_its_patience_says_busy(lab: SqliteStore, path: Path) -> None:
    with closing(SqliteStore.open(path)) as other, other.writing() as session:
        session.record(event(DropNode(node="nas")))
        with pytest.raises(StoreBusy) as caught, lab.writing():
            pytest.fail("two sessions at once")
        assert caught.value.path == str(path)
        assert lab.mesh() == apply_all(Mesh(), HOMELAB), "a reader need not wait"
    record(lab, Assign(node="pi", module="postgres"))


def test_reading_sees_one_moment(lab: SqliteStore, path: Path) -> None:
    """Somebody commits between two of the statements that make up one reading."""
    before = lab.mesh()
    seen: list[str] = []
    with closing(SqliteStore.open(path)) as other:

        def interfere(statement: str) -> None:
            if statement.startswith("SELECT"):
                seen.append(statement)
                if len(seen) == 2:
                    record(other, DropNode(node="nas"))

        connection(lab).db.conn.set_trace_callback(interfere)
        read = lab.mesh()
        connection(lab).db.conn.set_trace_callback(None)
        after = other.mesh()
    assert len(seen) > 2, "nobody interfered"
    assert read == before
    assert lab.mesh() == after != before


def test_reading_changes_no_byte_and_leaves_nothing_beside(path: Path) -> None:
    homelab(path)
    before = everything(path.parent)
    with closing(SqliteStore.open(path)) as store:
        store.mesh()
        store.declared()
        store.history()
        store.manifests("web")
    assert everything(path.parent) == before
