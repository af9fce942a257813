"""Looking at a journal: nothing is made or changed on the disk, whatever state it is in."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest

from mesh_adapters.host.anew import put_aside
from mesh_adapters.host.journal import Journal, JournalBusy, JournalError
from mesh_adapters.host.peeking import peek

TAKEN = {"node": "pi", "generation": 1, "digest": "x"}


def files(directory: Path) -> dict[str, bytes]:
    """The bytes of the journal's own files. What is shared between programs at work (-shm) is no content."""
    return {path.name: path.read_bytes() for path in directory.iterdir() if path.suffix != ".db-shm"}


def generation(directory: Path) -> int | None:
    looked_at = peek(directory)
    try:
        taken = looked_at.taken()
        return None if taken is None else taken.generation
    finally:
        looked_at.close()


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    """Where there was a journal, closed in order."""
    made = tmp_path / "journal"
    journal = Journal.open(made)
    journal.remember(taken=TAKEN)
    journal.close()
    return made


def test_where_there_never_was_one_it_is_empty_and_none_is_made(tmp_path: Path) -> None:
    looked_at = peek(tmp_path / "journal")
    assert (looked_at.taken(), looked_at.entries()) == (None, ())
    looked_at.close()
    assert list(tmp_path.iterdir()) == []


def test_one_that_was_closed_is_read_and_left_as_it_is(directory: Path) -> None:
    before = files(directory)
    assert generation(directory) == 1
    assert files(directory) == before
    assert sorted(before) == ["began", "journal.db", "lock"]


def test_what_is_written_to_it_is_written_nowhere(directory: Path) -> None:
    before = files(directory)
    looked_at = peek(directory)
    looked_at.remember(taken=TAKEN | {"generation": 9})
    looked_at.close()
    assert files(directory) == before
    assert generation(directory) == 1


def test_what_a_killed_run_left_in_the_log_is_read_without_touching_it(directory: Path) -> None:
    child = os.fork()
    if child == 0:
        Journal.open(directory).remember(taken=TAKEN | {"generation": 2})
        os._exit(9)
    os.waitpid(child, 0)
    before = files(directory)
    assert before["journal.db-wal"]
    assert generation(directory) == 2
    assert files(directory) == before


def test_while_somebody_is_at_work_it_is_what_was_committed(
    directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """SQLite reads it: a copy of a file that is written to is not whole."""
    monkeypatch.delattr(shutil, "copyfile")
    journal = Journal.open(directory)
    journal.remember(taken=TAKEN | {"generation": 3})
    journal._db.execute("BEGIN IMMEDIATE")
    journal._db.execute("DELETE FROM facts")
    try:
        assert generation(directory) == 3
        with pytest.raises(JournalBusy):
            Journal.open(directory)
    finally:
        journal._db.execute("ROLLBACK")
        journal.close()


def test_nobody_is_kept_from_working_afterwards(directory: Path) -> None:
    looked_at = peek(directory)
    journal = Journal.open(directory)
    journal.close()
    looked_at.close()


def test_a_missing_lock_is_not_made(directory: Path) -> None:
    (directory / "lock").unlink()
    assert generation(directory) == 1
    assert not (directory / "lock").exists()


@pytest.mark.parametrize("damage", ["journal.db", "header", "gone"])
def test_a_damaged_one_raises(directory: Path, damage: str) -> None:
    if damage == "gone":
        (directory / "journal.db").unlink()
    else:
        (directory / "journal.db").write_bytes(b"x" * 4096 if damage == "header" else b"")
    before = files(directory)
    with pytest.raises(JournalError, match="forget --everything"):
        peek(directory)
    assert files(directory) == before


def test_put_aside_moves_all_of_it_and_a_new_one_can_begin(directory: Path) -> None:
    folder = put_aside(directory)
    assert folder == directory / "put-aside-1"
    assert generation(directory) is None
    assert put_aside(directory) is None
    journal = Journal.open(directory)
    journal.close()
    assert put_aside(directory) == directory / "put-aside-2"
    # It is whole: put back, it is as it was.
    shutil.rmtree(directory / "put-aside-2")
    for path in (directory / "put-aside-1").iterdir():
        path.rename(directory / path.name)
    assert generation(directory) == 1


@pytest.mark.parametrize("stopped_after", [1, 2])
def test_one_that_was_half_put_aside_is_missed_not_empty(
    directory: Path, monkeypatch: pytest.MonkeyPatch, stopped_after: int
) -> None:
    """Whoever is killed in between finds a journal that is whole, or one that is missed: never none."""
    done: list[str] = []
    rename = Path.rename

    def stopping(self: Path, target: Path) -> Path:
        if len(done) == stopped_after - 1:
            raise KeyboardInterrupt
        done.append(self.name)
        return rename(self, target)

    with monkeypatch.context() as patched:
        patched.setattr(Path, "rename", stopping)
        with pytest.raises(KeyboardInterrupt):
            put_aside(directory)
    if done:
        assert done == ["journal.db"]
        with pytest.raises(JournalError, match=r"journal\.db is missing"):
            peek(directory)
    else:
        assert generation(directory) == 1
    assert put_aside(directory) is not None
    assert generation(directory) is None


def test_put_aside_waits_for_nobody(directory: Path) -> None:
    journal = Journal.open(directory)
    try:
        with pytest.raises(JournalBusy):
            put_aside(directory)
    finally:
        journal.close()
    assert generation(directory) == 1
