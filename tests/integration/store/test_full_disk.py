"""A full disk: "transaction rolls back, clear error"."""

import os
import shutil
import subprocess
from contextlib import closing
from pathlib import Path

import pytest

from mesh_adapters.store import SqliteStore
from mesh_core import Mesh, Node, PutNode, apply_all
from mesh_core.ports import StoreFull
from tests.integration.store.helpers import HOMELAB, PYTHON, ROOT, event, homelab, record

MANY = [PutNode(node=Node(name=f"n{number}", assigned=["web"])) for number in range(800)]


def fill(store: SqliteStore) -> None:
    """As if there were room for one page more."""
    db = store._connection.db
    (pages,) = db.execute("PRAGMA page_count").fetchone()
    db.execute(f"PRAGMA max_page_count = {pages + 1}")


def test_the_transaction_is_taken_back(path: Path) -> None:
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        fill(store)
        with pytest.raises(StoreFull) as caught:
            record(store, *MANY)
        assert caught.value.path == str(path)
        assert store.mesh() == apply_all(Mesh(), HOMELAB)
        record(store, PutNode(node=Node(name="small")))
    with closing(SqliteStore.open(path)) as store:
        assert store.mesh() == apply_all(Mesh(), [*HOMELAB, PutNode(node=Node(name="small"))])


def test_an_outage_that_is_not_let_through_keeps_nothing(path: Path) -> None:
    """SQLite ends the transaction by itself, and each statement after it would be its own."""
    homelab(path)
    with closing(SqliteStore.open(path)) as store:
        fill(store)

        def go_on_regardless() -> None:
            with store.writing() as session:
                with pytest.raises(StoreFull):
                    session.record(event(*MANY))
                with pytest.raises(RuntimeError):
                    session.record(event(PutNode(node=Node(name="late"))))

        with pytest.raises(RuntimeError, match="outage"):
            go_on_regardless()
        assert store.mesh() == apply_all(Mesh(), HOMELAB)


PROGRAM = """
import os, sys
from contextlib import closing
from pathlib import Path
from mesh_adapters.store import SqliteStore
from mesh_core.ports import StoreFull
from tests.integration.store.helpers import homelab, record
from tests.integration.store.test_full_disk import MANY

folder = Path(sys.argv[1])
path, backup, new = (folder / name for name in ("mesh.db", "backup.db", "new.db"))
homelab(path)
filler = os.open(folder / "filler", os.O_CREAT | os.O_WRONLY)

def leave(room):
    try:
        while True:
            os.write(filler, bytes(4096))
    except OSError:
        os.ftruncate(filler, max(0, os.fstat(filler).st_size - room))
        os.lseek(filler, 0, os.SEEK_END)

def said_full(act, about):
    try:
        act()
    except StoreFull as error:
        assert error.path == str(about), error
        return True
    return False

def write():
    with closing(SqliteStore.open(path)) as store:
        record(store, *MANY)

with closing(SqliteStore.open(path)) as store:
    before = store.mesh()
    leave(0)
    assert said_full(lambda: record(store, *MANY), path)
    assert store.mesh() == before
    assert said_full(lambda: store.backup(str(backup)), backup)
    assert said_full(lambda: SqliteStore.create(new).close(), new)
for room in range(0, 120_000, 20_000):
    leave(room)
    assert said_full(write, path), room
    assert not backup.exists() and not new.exists()
leave(1_000_000)
with closing(SqliteStore.open(path)) as store:
    assert store.mesh() == before
write()
assert sorted(os.listdir(folder)) == ["filler", "mesh.db"], os.listdir(folder)
print("held")
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare (util-linux)")
def test_on_a_disk_that_is_full(tmp_path: Path) -> None:
    """A real one, of 2 MiB, that only this process sees."""
    mount = 'mount -t tmpfs -o size=2m none "$1" || exit 77; exec "$2" -c "$3" "$1"'
    inside = ["sh", "-c", mount, "sh", str(tmp_path), PYTHON, PROGRAM]
    done = subprocess.run(
        ["unshare", "--user", "--map-root-user", "--mount", *inside],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode == 77 or "unshare failed" in done.stderr:
        pytest.skip(f"no disk of one's own here: {done.stderr}")
    assert (done.returncode, done.stdout) == (0, "held\n"), done.stderr
