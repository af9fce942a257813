"""A journal that cannot be used stops everything (design, part 11).

> A damaged or missing journal on a machine that was joined never reads as "owns nothing": the host refuses
> to act
"""

from __future__ import annotations

import os
import resource
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, suppress
from pathlib import Path

import pytest

from mesh_adapters.host.journal import KNOWN, Journal, JournalBusy, JournalError
from tests.integration.host.crash.dying import in_a_child
from tests.integration.host.world import PRIVILEGED, World, declaration, directory, file, shown

FIRST = declaration(1, [file("/etc/motd"), file("/a/b/new")], [directory("/d")])
SECOND = declaration(2, [file("/etc/motd", "other\n")], [file("/e")])


@pytest.fixture
def world(folder: Path) -> World:
    """A machine that owns something, and that had something there before."""
    made = World(folder / "machine")
    made.put("/etc/motd", "theirs\n" * 3000, mode=0o600)
    assert made.applied(FIRST).well
    return made


def refuses(world: World, says: str) -> None:
    """Nothing is changed, neither on the machine nor in the journal, and the sentence says why."""
    before = shown(world.root)
    with pytest.raises(JournalError, match=says) as raised:
        world.apply(SECOND)
    words = str(raised.value)
    assert str(world.state) in words
    assert "nothing was changed" in words or "nothing is done" in words
    assert shown(world.root) == before


def query(world: World, *statements: str) -> None:
    with closing(sqlite3.connect(world.state / "journal.db")) as db:
        for statement in statements:
            db.execute(statement)
        db.commit()


def test_bytes_that_were_overwritten_are_noticed_or_do_not_matter(world: World, folder: Path) -> None:
    """At every page, in its head and in its middle: it is refused, or nothing that is read was hit."""
    database = world.state / "journal.db"
    whole, refused, before = database.read_bytes(), 0, shown(world.root)
    expected = world.entries()
    motd = ("file", 0o600, os.geteuid(), os.getegid(), b"theirs\n" * 3000)
    at_first = {"/etc": before["/etc"], "/etc/motd": motd}
    places = {*range(0, 200, 3), *range(0, len(whole), 997)}
    places |= {
        page + at for page in range(0, len(whole), 4096) for at in (0, 1, 3, 4, 5, 7, 8, 9, 10, 11, 4000)
    }
    for place in sorted(place for place in places if place < len(whole)):
        database.write_bytes(whole[:place] + bytes([whole[place] ^ 0x5B]) + whole[place + 1 :])
        copy = world.copy(folder / "copy")
        there = before
        try:
            assert copy.applied(SECOND).well
            there = shown(copy.root)
            assert copy.applied(declaration(3)).well
        except JournalError:
            refused += 1
            assert shown(copy.root) == there
        else:
            assert shown(copy.root) == at_first
        shutil.rmtree(copy.folder)
    database.write_bytes(whole)
    assert world.entries() == expected
    assert refused > len(places) // 4


@pytest.mark.parametrize("size", [0, 1, 15, 16, 100, 101, 1000, 4096, 4097, 8192, 12288])
def test_a_journal_that_was_cut(world: World, size: int) -> None:
    database = world.state / "journal.db"
    database.write_bytes(database.read_bytes()[:size])
    refuses(world, "cannot be read")


def test_the_file_of_another_program_is_left_as_it_is(world: World) -> None:
    database = world.state / "journal.db"
    database.unlink()
    with closing(sqlite3.connect(database)) as db:
        db.execute("CREATE TABLE owned (identity TEXT)")
        db.commit()
    content = database.read_bytes()
    refuses(world, "no journal of a host")
    assert database.read_bytes() == content


def test_a_directory_instead(world: World) -> None:
    (world.state / "journal.db").unlink()
    (world.state / "journal.db").mkdir()
    refuses(world, "cannot be read")


def test_a_file_instead_of_the_directory(world: World) -> None:
    shutil.rmtree(world.state)
    world.state.write_text("")
    refuses(world, "nothing was changed")


def test_a_journal_that_is_gone_is_missed(world: World) -> None:
    (world.state / "journal.db").unlink()
    refuses(world, "journal.db is missing")
    assert not (world.state / "journal.db").exists()


def test_a_journal_without_its_mark_is_a_journal(world: World) -> None:
    (world.state / "began").unlink()
    assert world.applied(SECOND).well
    assert (world.state / "began").exists()


def test_a_newer_form(world: World) -> None:
    query(world, f"PRAGMA user_version = {KNOWN + 1}")
    refuses(world, "newer mesh-host")


CHANGED = {
    "a state": "UPDATE owned SET before = NULL WHERE identity = 'path:/etc/motd'",
    "a resource": "UPDATE owned SET resource = replace(resource, '/etc/motd', '/etc/passwd')",
    "a position": "UPDATE owned SET position = position + 1",
    "an identity": "UPDATE owned SET identity = 'path:/etc/passwd' WHERE identity = 'path:/d'",
    "what is no state": "UPDATE owned SET left = '[' WHERE identity = 'path:/d'",
    "a row that is gone": "DELETE FROM owned WHERE identity = 'path:/d'",
    "all rows": "DELETE FROM owned",
    "a table": "DROP TABLE owned",
    "what was taken": "UPDATE facts SET value = replace(value, '1', '0') WHERE name = 'taken'",
    "what was taken, gone": "DELETE FROM facts WHERE name = 'taken'",
    "that a sweep is due": "UPDATE facts SET value = 'true' WHERE name = 'sweep_due'",
    "the sums": "UPDATE sums SET sum = '0'",
    "no sums": "DELETE FROM sums",
}


@pytest.mark.parametrize("what", CHANGED)
def test_what_was_changed_by_hand_is_noticed(world: World, what: str) -> None:
    query(world, CHANGED[what])
    refuses(world, "cannot be read")


@pytest.mark.parametrize("change", ["UPDATE kept SET content = x'00'", "DELETE FROM kept"])
def test_bytes_that_are_to_come_back_are_looked_at_before_anything_is_touched(
    world: World, change: str
) -> None:
    query(world, change)
    before = shown(world.root)
    with pytest.raises(JournalError, match=r"cannot be read \(the bytes"):
        world.apply(declaration(2, [file("/e")]))
    assert shown(world.root) == before
    assert len(world.entries()) == 5


def test_one_run_at_a_time(world: World) -> None:
    before = shown(world.root)
    with world.host(), pytest.raises(JournalBusy, match=r"another mesh-host is at work here"):
        world.apply(SECOND)
    assert shown(world.root) == before
    assert world.applied(SECOND).well


def test_another_process_holds_it(world: World) -> None:
    with world.host():
        said = in_a_child(lambda: world.apply(SECOND))
    assert "JournalBusy" in said


# What cannot be written


@pytest.mark.skipif(not PRIVILEGED, reason="only root can become somebody else")
def test_a_directory_that_may_not_be_written(world: World, folder: Path) -> None:
    def as_nobody() -> None:
        os.setgid(65534)
        os.setuid(65534)
        world.apply(SECOND)

    before = shown(world.root)
    for place in (folder, *folder.parents):
        if not place.stat().st_mode & 0o001:
            place.chmod(place.stat().st_mode | 0o011)  # its own folders, so that nobody gets this far
    said = in_a_child(as_nobody)
    assert "JournalError" in said
    assert "Permission denied" in said
    world.state.chmod(0o755)
    for inner in world.state.iterdir():
        inner.chmod(0o666 if inner.name == "lock" else 0o644)
    said = in_a_child(as_nobody)
    assert "JournalError" in said
    assert shown(world.root) == before


def limited(size: int, run: Callable[[], object]) -> Callable[[], object]:
    """What stops with EFBIG where a file would grow beyond a size, as it stops with ENOSPC on a full disk."""

    def with_a_limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))
        run()

    return with_a_limit


@pytest.mark.parametrize("size", [1, 8_000, 30_000])
def test_the_disk_is_full_before_anything_is_intended(world: World, size: int) -> None:
    world.put("/e", "theirs\n" * 20_000)
    before, entries = shown(world.root), world.entries()
    said = in_a_child(limited(size, lambda: world.apply(SECOND)))
    assert "JournalError" in said
    assert "cannot be written" in said or "cannot be read" in said
    assert shown(world.root) == before
    assert world.entries() == entries
    assert world.applied(SECOND).well


def test_a_new_journal_on_a_full_disk_owns_nothing_and_is_no_damage(folder: Path) -> None:
    world = World(folder / "machine")
    said = in_a_child(limited(1, lambda: world.apply(FIRST)))
    assert "JournalError" in said
    assert shown(world.root) == {}
    assert world.applied(FIRST).well


@pytest.fixture
def small(folder: Path) -> Iterator[Path]:
    """A disk of 2 MiB."""
    if not PRIVILEGED:
        pytest.skip("only root can mount a disk of its own")
    place = folder / "small"
    place.mkdir()
    if os.system(f"mount -t tmpfs -o size=2m mesh-test {place} 2>/dev/null") != 0:
        pytest.skip("nothing can be mounted here")
    yield place
    os.system(f"umount {place}")


def test_a_disk_that_is_full_of_somebody_elses_files(small: Path) -> None:
    world = World(small / "machine")
    assert world.applied(declaration(1, [file("/etc/motd", "ours\n" * 2000)])).well
    whole = shown(world.root)
    with (small / "ballast").open("wb", buffering=0) as ballast, suppress(OSError):
        while True:
            ballast.write(b"x" * 4096)
    with pytest.raises(JournalError):
        world.apply(declaration(2, [file("/etc/motd", "new\n" * 2000)]))
    assert shown(world.root) == whole
    (small / "ballast").unlink()
    assert world.applied(declaration(2, [file("/etc/motd", "new\n" * 2000)])).well


def test_closing_lets_go(folder: Path) -> None:
    journal = Journal.open(folder)
    journal.close()
    Journal.open(folder).close()
