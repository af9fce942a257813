"""Two commands at once: both succeed or one says that the store is busy, and nothing is lost."""

from __future__ import annotations

import sqlite3
import subprocess
from contextlib import ExitStack, closing
from functools import partial
from pathlib import Path

import pytest

from mesh_adapters.store import SqliteStore
from tests.integration.cli.program import (
    events,
    exported,
    mesh,
    nothing_written,
    ok,
    rows,
    started,
)


def at_once(*lines: str) -> list[tuple[int, str]]:
    """Start commands together; how each ended, and what it said on stderr."""
    ended = []
    with ExitStack() as stack:
        running = [stack.enter_context(started(*line.split())) for line in lines]
        for process in running:
            _, err = process.communicate(timeout=60)
            ended.append((process.returncode, err.decode()))
    return ended


def test_commands_at_once_are_all_recorded(store: Path) -> None:
    lines = [f"node add n{number}" for number in range(4)]
    ended = at_once(*lines)
    done = [line for line, (code, _) in zip(lines, ended, strict=True) if code == 0]
    assert done
    for code, err in ended:
        assert (code, err) == (0, "") or (code == 5 and err.startswith("another command is writing to "))
    assert sorted(event["command"] for event in events(store)[:-1]) == sorted(f"mesh {line}" for line in done)
    assert [event["number"] for event in events(store)] == list(range(len(done) + 1, 0, -1))
    assert len(exported(store)["nodes"]) == 2 + len(done)


def test_what_was_decided_is_what_is_recorded(store: Path) -> None:
    """Each alone is no harm: the second to come sees the first, and is refused."""
    ok("import", "-", stdin='{"format": 1, "nodes": [{"name": "pi", "pins": {}}]}')
    for name in ("vps", "car"):
        ok("node", "add", name)
        ok("node", "report", name, "-", stdin='{"systemd": true}')
    ok("unassign", "nas", "postgres", "--anyway")
    ended = at_once("assign vps postgres", "assign car postgres")
    assert sorted(code for code, _ in ended) == [0, 3]
    assert sum(row[1] == "postgres" for row in rows(store)["assignments"]) == 1
    assert mesh("plan").code == 0


def test_of_two_that_make_a_store_one_does(folder: Path) -> None:
    ended = at_once("init --store new.db", "init --store new.db")
    assert sorted(code for code, _ in ended) == [0, 1]
    assert [err for code, err in ended if code] == ["new.db is there already, and was left as it is\n"]
    ok("node", "add", "tv", "--store", "new.db")
    assert sorted(path.name for path in folder.glob("*.db")) == ["new.db"]


def test_a_store_that_is_being_written_can_be_read_and_says_busy_to_a_writer(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SqliteStore, "open", partial(SqliteStore.open, patience=0.2))
    with nothing_written(store), closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        for line in ("plan", "node list", "export", "history"):
            assert mesh(*line.split()).code == 0
        ran = mesh("node", "add", "tv")
        assert (ran.code, ran.err) == (5, f"another command is writing to {store}; try again\n")
        assert mesh("node", "add", "tv", "--json").error["code"] == "busy-store"
        other.execute("ROLLBACK")
    ok("node", "add", "tv")


def test_whoever_waits_gets_a_turn(store: Path) -> None:
    with closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with started("node", "add", "tv") as running:
            with pytest.raises(subprocess.TimeoutExpired):
                running.wait(timeout=1)
            other.execute("COMMIT")
            out, _ = running.communicate(timeout=60)
    assert (running.returncode, out) == (0, b"+ node tv\n")


def test_a_command_that_is_killed_leaves_a_whole_store(store: Path) -> None:
    with nothing_written(store), closing(sqlite3.connect(store, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with started("node", "add", "tv") as running:
            with pytest.raises(subprocess.TimeoutExpired):
                running.wait(timeout=1)
            running.kill()
        assert running.returncode == -9
        other.execute("ROLLBACK")
    ok("node", "add", "tv")
