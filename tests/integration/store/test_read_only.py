"""A disk, a folder or a file that may not be written, or not be read: reading goes on where it can."""

from contextlib import closing
from pathlib import Path

import pytest

from mesh_adapters.store import SqliteStore
from mesh_core import DropNode, Mesh, Node, PutNode, apply_all
from mesh_core.ports import (
    StoreReadOnly,
    StoreUnreadable,
    Unreadable,
)
from tests.integration.store.helpers import (
    HOMELAB,
    everything,
    homelab,
    record,
    unprivileged,
)


@pytest.fixture
def lab(open_folder: Path) -> Path:
    path = open_folder / "mesh.db"
    homelab(path)
    return path


def test_a_file_that_may_not_be_written(lab: Path) -> None:
    lab.chmod(0o444)
    before = lab.read_bytes()
    with unprivileged(lab.parent), closing(SqliteStore.open(lab)) as store:
        assert store.mesh() == apply_all(Mesh(), HOMELAB)
        with pytest.raises(StoreReadOnly) as caught, store.writing():
            pytest.fail("begun")
        assert caught.value.path == str(lab)
        assert store.mesh() == apply_all(Mesh(), HOMELAB)
    assert lab.read_bytes() == before


def test_a_folder_that_may_not_be_written(lab: Path) -> None:
    lab.parent.chmod(0o555)
    before = everything(lab.parent)
    with unprivileged(lab.parent), closing(SqliteStore.open(lab)) as store:
        assert store.mesh() == apply_all(Mesh(), HOMELAB)
        assert len(store.history()) == 1
        with pytest.raises(StoreReadOnly), store.writing():
            pytest.fail("begun")
        new = str(lab.parent / "new.db")
        for make in (SqliteStore.create, store.backup):
            with pytest.raises(StoreReadOnly) as caught:
                make(new)
            assert caught.value.path == new
    assert everything(lab.parent) == before


def test_a_folder_that_may_not_be_written_while_somebody_writes(lab: Path) -> None:
    """What is in the log of the one who may write is seen, also through a link from elsewhere."""
    link = lab.parent.parent / "link"
    with closing(SqliteStore.open(lab)) as writer:
        record(writer, PutNode(node=Node(name="new")))
        lab.parent.chmod(0o555)
        link.symlink_to(lab)
        for path in (lab, link):
            with unprivileged(lab.parent), closing(SqliteStore.open(path)) as store:
                assert store.mesh().node("new") is not None
        lab.parent.chmod(0o755)


def test_a_log_that_nobody_can_go_through_is_not_ignored(lab: Path) -> None:
    """The file alone would be an older mesh, and look whole."""
    with closing(SqliteStore.open(lab)) as writer:
        record(writer, DropNode(node="nas"))
        copy = lab.parent / "copy" / "mesh.db"
        copy.parent.mkdir()
        copy.write_bytes(lab.read_bytes())
        Path(f"{copy}-wal").write_bytes(Path(f"{lab}-wal").read_bytes())
    lab.parent.chmod(0o755)
    copy.parent.chmod(0o555)
    with unprivileged(copy.parent), pytest.raises(StoreReadOnly):
        SqliteStore.open(copy)
    copy.parent.chmod(0o755)


@pytest.mark.parametrize("folder", [0o755, 0o555])
def test_a_file_that_may_not_be_read(lab: Path, folder: int) -> None:
    lab.chmod(0)
    lab.parent.chmod(folder)
    with unprivileged(lab.parent), pytest.raises(StoreUnreadable) as caught:
        SqliteStore.open(lab)
    assert (caught.value.why, caught.value.detail) == (Unreadable.OUT_OF_REACH, "permission denied")


def test_a_folder_that_may_not_be_entered(lab: Path) -> None:
    lab.parent.chmod(0)
    with unprivileged(lab.parent), pytest.raises(StoreUnreadable) as caught:
        SqliteStore.open(lab)
    assert caught.value.why is Unreadable.OUT_OF_REACH
