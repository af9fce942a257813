"""`backup` of a store that is in use: whole, at one moment, and a store again."""

import stat
from contextlib import closing
from pathlib import Path

import pytest

from mesh_adapters.store import SqliteStore
from mesh_adapters.store.connection import lay_down
from mesh_core import Assign, DropNode
from mesh_core.ports import StoreExists
from tests.integration.store.helpers import event, everything, homelab, raw, record


def test_a_live_store_is_backed_up_whole(path: Path, tmp_path: Path) -> None:
    """What was committed is in it, wherever it lies; what somebody is just writing is not."""
    homelab(path)
    copy = tmp_path / "backups" / "b.db"
    with closing(SqliteStore.open(path)) as store, closing(SqliteStore.open(path)) as other:
        record(store, Assign(node="vps", module="web"))
        expected = (store.mesh(), store.declared(), store.history(), store.manifests("web"))
        with other.writing() as session:
            session.record(event(DropNode(node="nas")))
            store.backup(str(copy))
    assert sorted(everything(copy.parent)) == ["b.db"]
    assert stat.S_IMODE(copy.stat().st_mode) == 0o600
    with closing(SqliteStore.open(copy)) as backup:
        found = (backup.mesh(), backup.declared(), backup.history(), backup.manifests("web"))
        assert found == expected
        record(backup, DropNode(node="pi"))
    with raw(copy, foreign_keys=True) as conn:
        assert conn.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert conn.execute("PRAGMA foreign_key_check").fetchall() == []


@pytest.mark.parametrize("name", ["taken.db", "mesh.db", "folder", "loose"])
def test_a_backup_goes_over_nothing(path: Path, tmp_path: Path, name: str) -> None:
    homelab(path)
    (tmp_path / "taken.db").write_bytes(b"precious")
    (tmp_path / "folder").mkdir()
    (tmp_path / "loose").symlink_to("nowhere")
    before = everything(tmp_path)
    with closing(SqliteStore.open(path)) as store, pytest.raises(StoreExists) as caught:
        store.backup(str(tmp_path / name))
    assert caught.value.path == str(tmp_path / name)
    assert everything(tmp_path) == before


def test_of_two_that_are_made_at_once_one_is_refused(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The name is taken while the content was being made."""

    def slowly(temporary: str, where: str) -> None:
        lay_down(temporary, where)
        path.write_bytes(b"somebody else")

    monkeypatch.setattr("mesh_adapters.store.store.lay_down", slowly)
    with pytest.raises(StoreExists):
        SqliteStore.create(path)
    assert everything(path.parent) == {"mesh.db": b"somebody else"}
