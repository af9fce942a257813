"""No traceback for any file: each the right outage, and nothing written or changed.

"A store of a newer schema, a store that is no database, a store on a read-only disk": here, each with
what it looks like on a disk.
"""

import os
import random
import sqlite3
import subprocess
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from mesh_adapters.store import SqliteStore
from mesh_adapters.store.schema import APPLICATION_ID, KNOWN
from mesh_core import DropNode, Mesh, apply_all
from mesh_core.ports import (
    StoreMissing,
    StoreOutage,
    StoreTooNew,
    StoreUnreadable,
    Unreadable,
)
from tests.integration.store.helpers import (
    HOMELAB,
    PYTHON,
    event,
    everything,
    homelab,
    raw,
    record,
)
from tests.integration.store.works import workshop


def text(path: Path) -> None:
    path.write_text("modules:\n" * 2000)


def short_text(path: Path) -> None:
    path.write_text("{}")


def empty(path: Path) -> None:
    path.touch()


def directory(path: Path) -> None:
    path.mkdir()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def another_database(path: Path) -> None:
    with raw(path, foreign_keys=False) as conn:
        conn.execute("CREATE TABLE nodes (name TEXT)")


def another_database_with_a_log(path: Path) -> None:
    """Of a program that was killed: opening it as one's own would empty its log into it."""
    program = (
        "import os, sqlite3, sys\n"
        "conn = sqlite3.connect(sys.argv[1], isolation_level=None)\n"
        "conn.execute('PRAGMA journal_mode = wal')\n"
        "conn.execute('PRAGMA application_id = 1')\n"
        "conn.execute('PRAGMA wal_checkpoint')\n"
        "conn.execute('CREATE TABLE nodes (name TEXT)')\n"
        "os.kill(os.getpid(), 9)\n"
    )
    subprocess.run([PYTHON, "-c", program, str(path)], check=False)
    assert Path(f"{path}-wal").stat().st_size > 0


def an_empty_database(path: Path) -> None:
    with raw(path, foreign_keys=False) as conn:
        conn.execute(f"PRAGMA application_id = {APPLICATION_ID}")


BAD: dict[Callable[[Path], None], Unreadable] = {
    text: Unreadable.NO_DATABASE,
    short_text: Unreadable.NO_DATABASE,
    empty: Unreadable.EMPTY,
    directory: Unreadable.NOT_A_FILE,
    pipe: Unreadable.NOT_A_FILE,
    another_database: Unreadable.NO_STORE,
    another_database_with_a_log: Unreadable.NO_STORE,
    an_empty_database: Unreadable.DAMAGED,
}


@pytest.mark.parametrize("make", BAD)
def test_what_is_no_store(path: Path, make: Callable[[Path], None]) -> None:
    make(path)
    before = everything(path.parent)
    with pytest.raises(StoreUnreadable) as caught:
        SqliteStore.open(path)
    assert (caught.value.path, caught.value.why) == (str(path), BAD[make])
    assert caught.value.detail
    assert everything(path.parent) == before


@pytest.mark.parametrize("name", ["mesh.db", "no/such/folder/mesh.db", "file/mesh.db", "loose", "\0"])
def test_where_nothing_is(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "loose").symlink_to("nowhere")
    path = f"{tmp_path}/{name}"
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(StoreMissing) as caught:
        SqliteStore.open(path)
    assert caught.value.path == path
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize("name", ["100%25.db", "a?mode=memory", "a#b", "a b", "å", "-x", "x" * 200])
def test_any_name_is_only_a_name(tmp_path: Path, name: str) -> None:
    """SQLite is given a URI, in which some characters mean something."""
    homelab(tmp_path / name)
    assert [found.name for found in tmp_path.iterdir()] == [name]


def test_through_a_symbolic_link(path: Path, tmp_path: Path) -> None:
    homelab(path)
    link = tmp_path / "folder" / "link"
    link.parent.mkdir()
    link.symlink_to(path)
    with closing(SqliteStore.open(link)) as store:
        record(store, DropNode(node="nas"))
    with closing(SqliteStore.open(path)) as store:
        assert store.mesh().node("nas") is None


# Damage.


def test_a_file_that_was_cut_off_anywhere(path: Path, tmp_path: Path) -> None:
    """SQLite fills a last page that was cut short with zeros: here it is one of which nothing can be zero."""
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        workshop(store)
        with store.writing() as session:
            session.record(event(command="x" * 3 * 4096))
    whole = path.read_bytes()
    cut_off = tmp_path / "cut" / "mesh.db"
    cut_off.parent.mkdir()
    pages = range(0, len(whole), 4096)
    for length in sorted({*range(1, 200, 9), *(p + d for p in pages for d in (-1, 0, 1, 2000))}):
        if not 0 < length < len(whole):
            continue
        cut_off.write_bytes(whole[:length])
        with pytest.raises(StoreUnreadable):
            read_everything(cut_off)
        assert everything(cut_off.parent) == {"mesh.db": whole[:length]}


def test_bytes_that_were_overwritten_anywhere(path: Path, tmp_path: Path) -> None:
    """SQLite does not see all damage. What it sees is an outage, and what it does not is read."""
    homelab(path)
    whole = path.read_bytes()
    spoiled = tmp_path / "spoiled" / "mesh.db"
    spoiled.parent.mkdir()
    dice, seen = random.Random(1), 0
    for _ in range(300):
        content = bytearray(whole)
        at, length = dice.randrange(len(whole)), dice.choice([1, 4, 60, 4096])
        content[at : at + length] = dice.randbytes(len(content[at : at + length]))
        spoiled.write_bytes(content)
        try:
            read_everything(spoiled)
        except StoreOutage:
            seen += 1
        assert everything(spoiled.parent) == {"mesh.db": bytes(content)}
    assert seen > 50


def read_everything(path: Path) -> None:
    with closing(SqliteStore.open(path)) as store:
        store.mesh()
        store.declared()
        store.history()
        store.manifests("web")
        store.standings()
        store.puts()
        store.current()
        store.heads()
        store.builds()
        store.open_builds()
        store.held()
        store.builders()


def test_a_backup_of_a_damaged_store_is_refused_and_not_made(path: Path, tmp_path: Path) -> None:
    homelab(path)
    content = bytearray(path.read_bytes())
    with raw(path, foreign_keys=False) as conn:
        find = "SELECT rootpage FROM sqlite_master WHERE name = 'pins_by_target'"
        (page,) = conn.execute(find).fetchone()
    content[(page - 1) * 4096 : page * 4096] = bytes(4096)
    path.write_bytes(content)
    folder = tmp_path / "backups"
    with closing(SqliteStore.open(path)) as store:
        assert store.mesh() == apply_all(Mesh(), HOMELAB), "nobody asked that page"
        with pytest.raises(StoreUnreadable) as caught:
            store.backup(str(folder / "b.db"))
    assert caught.value.path == str(path)
    assert caught.value.why is Unreadable.DAMAGED
    assert list(folder.iterdir()) == []


# A newer schema: "refused before anything is read".


def newer(conn: sqlite3.Connection) -> None:
    """As a program of later would leave it: not one table that we would know how to read."""
    for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'trigger'").fetchall():
        conn.execute(f"DROP TRIGGER {name}")
    conn.execute("DROP TABLE pins")
    conn.execute("DELETE FROM manifests")
    conn.execute(f"PRAGMA user_version = {KNOWN + 1}")


def test_a_newer_schema(path: Path) -> None:
    homelab(path)
    with raw(path, foreign_keys=False) as conn:
        newer(conn)
    before = everything(path.parent)
    with pytest.raises(StoreTooNew) as caught:
        SqliteStore.open(path)
    assert (caught.value.path, caught.value.found, caught.value.known) == (str(path), KNOWN + 1, KNOWN)
    assert everything(path.parent) == before


def test_a_newer_schema_that_is_still_in_the_log(path: Path) -> None:
    homelab(path)
    with raw(path, foreign_keys=False) as conn:
        conn.execute("PRAGMA wal_autocheckpoint = 0")
        newer(conn)
        with pytest.raises(StoreTooNew):
            SqliteStore.open(path)


def test_a_newer_program_came_by_while_we_had_the_store_open(path: Path) -> None:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        store.mesh()
        with raw(path, foreign_keys=False) as conn:
            newer(conn)
        with pytest.raises(StoreTooNew):
            store.mesh()
        with pytest.raises(StoreTooNew), store.writing():
            pytest.fail("begun")
        with pytest.raises(StoreTooNew):
            store.backup(str(path) + ".backup")
