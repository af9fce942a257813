"""`mesh-host owned`, `status` and `forget`; and a journal that cannot be used."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

from mesh_adapters.host.journal import Journal
from tests.integration.cli.program import environment
from tests.integration.host.cli.program import (
    JOURNAL,
    PROGRAM,
    declared,
    file,
    host,
    named,
    on_the_machine,
    tree,
    well,
)


@pytest.fixture
def applied(root: Path) -> Path:
    """A machine with a file that was there before, one that was not, and what came along with it."""
    (root / "etc").mkdir()
    (root / "etc/motd").write_text("before\n")
    (root / "etc/motd").chmod(0o640)
    well("apply", "-", "--root", root, stdin=declared(43, file("/etc/motd"), file("/srv/a")))
    return root


def test_owned_says_what_why_and_what_was_there(applied: Path) -> None:
    owner, group = (applied / "etc").owner(), (applied / "etc").group()
    was = f"a file was there before (group {group}, mode 0640, owner {owner})"
    assert well("owned", "--root", applied).out.splitlines() == [
        "WHAT            WHY                        BEFORE",
        f"file /etc/motd  declared by web            {was}",
        "directory /srv  came along with something  nothing was there before",
        "file /srv/a     declared by web            nothing was there before",
    ]
    found = well("owned", "--root", applied, "--json").json["owned"]
    assert found[0]["before"]["mode"] == "0640"
    assert found[1:] == [
        {
            "identity": "path:/srv",
            "kind": "directory",
            "why": "came-along",
            "modules": [],
            "before": None,
            "unfinished": False,
        },
        {
            "identity": "path:/srv/a",
            "kind": "file",
            "why": "declared",
            "modules": ["web"],
            "before": None,
            "unfinished": False,
        },
    ]


def test_on_a_machine_that_never_was_told_anything(root: Path) -> None:
    assert well("owned", "--root", root).out == "the mesh has nothing on this machine\n"
    assert well("owned", "--root", root, "--json").json == {"format": 1, "owned": []}
    said = well("status", "--root", root).out
    assert said == "no declaration was ever applied here; begin with `mesh-host apply --dry-run FILE`\n"
    assert well("status", "--root", root, "--json").json == {
        "format": 1,
        "node": None,
        "generation": None,
        "state": "never",
        "at": None,
        "owned": 0,
        "failed": [],
        "drifted": [],
        "troubles": [],
        "checks": [],
        "network": None,
    }
    assert host("forget", "/etc/motd", "--root", root).code == 1
    assert (
        well("forget", "--everything", "--root", root).out
        == "there is no journal here; nothing to let go of\n"
    )
    assert tree(root) == {}, "a question leaves no journal"


def test_status_says_how_the_last_run_ended(applied: Path) -> None:
    lines = well("status", "--root", applied).out.splitlines()
    assert lines[:3] == ["node        pi", "generation  43", "state       applied"]
    assert lines[3].startswith("last run    ")
    assert lines[4:] == ["owned       3 (`mesh-host owned` lists them)"]
    data = well("status", "--root", applied, "--json").json
    assert (data["state"], data["owned"], data["failed"]) == ("applied", 3, [])
    assert data["at"].endswith("Z")


def test_status_says_what_failed_and_what_drifted(applied: Path) -> None:
    (applied / "srv/a").unlink()
    (applied / "srv/a").mkdir()
    (applied / "etc/motd").write_text("mine\n")
    stdin = declared(44, file("/etc/motd"), file("/srv/a"), named("thing", "x"))
    assert host("apply", "-", "--root", applied, stdin=stdin).code == 4
    data = well("status", "--root", applied, "--json").json
    assert data["state"] == "failed"
    assert [action["identity"] for action in data["failed"]] == ["path:/srv/a"]
    assert [a["identity"] for a in data["drifted"] if a["outcome"] == "done"] == ["path:/etc/motd"]
    assert [trouble["identity"] for trouble in data["troubles"]] == ["thing:x"]
    lines = well("status", "--root", applied).out.splitlines()
    assert "state       failed in part; the next apply tries again" in lines
    assert [line for line in lines if line[:1] in "!~"] == [
        "! thing x         not touched: " + data["troubles"][0]["why"] + "   for web",
        "! file /srv/a     failed: there is a directory at /srv/a; move it away, and apply again   for web",
        "~ file /etc/motd  put back: edited by hand   for web",
    ]


def test_status_tells_a_run_that_was_stopped(applied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from mesh_adapters.host.files import Files

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    stdin = declared(44, file("/etc/motd", "new\n"), file("/srv/a"))
    with monkeypatch.context() as patched:
        patched.setattr(Files, "write_soon", stopped)
        assert host("apply", "-", "--root", applied, stdin=stdin).code == 130
    assert well("status", "--root", applied, "--json").json["state"] == "unfinished"
    assert "a run was stopped on its way" in well("status", "--root", applied).out
    motd, *_ = well("owned", "--root", applied, "--json").json["owned"]
    assert motd["unfinished"]
    well("apply", "-", "--root", applied, stdin=stdin)
    assert well("status", "--root", applied, "--json").json["state"] == "applied"
    # The same generation again, to put something back: what was said of it before does not stand either.
    (applied / "etc/motd").write_text("mine\n")
    with monkeypatch.context() as patched:
        patched.setattr(Files, "write_soon", stopped)
        assert host("apply", "-", "--root", applied, stdin=stdin).code == 130
    assert well("status", "--root", applied, "--json").json["state"] == "unfinished"


def test_forget_lets_go_and_touches_nothing(applied: Path) -> None:
    before = on_the_machine(applied)
    ran = well("forget", "/etc/motd", "path:/srv/a", "/etc/motd", "--root", applied)
    assert ran.out == "/etc/motd, /srv/a are no longer the mesh's, and stay as they are\n"
    assert on_the_machine(applied) == before
    owned = well("owned", "--root", applied, "--json").json["owned"]
    assert [one["identity"] for one in owned] == ["path:/srv"]
    # The same declaration finds them as there before the mesh, and so they stay when it lets go.
    again = well("apply", "-", "--root", applied, stdin=declared(43, file("/etc/motd"), file("/srv/a")))
    assert again.out.splitlines()[-1] == "2 found as it is to be"
    well("apply", "-", "--root", applied, stdin=declared(44, empty=True))
    assert (applied / "srv/a").read_text() == "ours\n"


def test_forget_of_what_it_does_not_have_lets_go_of_nothing(applied: Path) -> None:
    before = on_the_machine(applied)
    ran = host("forget", "/srv/a", "/etc/mtd", "--root", applied, "--json")
    assert (ran.code, ran.error["code"]) == (1, "not-owned")
    assert "path:/etc/motd" in ran.error["near"]
    assert "the mesh has no '/etc/mtd' here; near: path:/etc/motd" in ran.err
    assert len(well("owned", "--root", applied, "--json").json["owned"]) == 3
    assert on_the_machine(applied) == before


def test_forget_everything_starts_anew(applied: Path) -> None:
    before = on_the_machine(applied)
    data = well("forget", "--everything", "--root", applied, "--json").json
    folder = applied / JOURNAL / "put-aside-1"
    assert data == {"format": 1, "forgotten": "everything", "put_aside": str(folder)}
    assert sorted(path.name for path in folder.iterdir()) == ["began", "journal.db"]
    assert on_the_machine(applied) == before
    assert well("status", "--root", applied, "--json").json["state"] == "never"
    # It may be another node now; and what is there was there before.
    ran = well("apply", "-", "--root", applied, stdin=declared(1, file("/etc/motd"), node="nas"))
    assert ran.out.splitlines()[-1] == "1 found as it is to be"
    said = well("forget", "--everything", "--yes", "--root", applied).out
    assert said.endswith(f"its journal was put aside in {folder.with_name('put-aside-2')}\n")


@pytest.mark.parametrize("words", [[], ["/etc/motd", "--everything"]])
def test_forget_wants_to_know_what(applied: Path, words: list[str]) -> None:
    assert host("forget", *words, "--root", applied).code == 64
    assert len(well("owned", "--root", applied, "--json").json["owned"]) == 3


def cut(journal: Path) -> None:
    os.truncate(journal / "journal.db", 5000)


def lost(journal: Path) -> None:
    (journal / "journal.db").unlink()


def scribbled(journal: Path) -> None:
    (journal / "journal.db").write_bytes(b"no database at all" * 100)


def anothers(journal: Path) -> None:
    import sqlite3

    (journal / "journal.db").unlink()
    db = sqlite3.connect(journal / "journal.db")
    db.execute("CREATE TABLE x (y)")
    db.close()


def emptied(journal: Path) -> None:
    (journal / "journal.db").write_bytes(b"")


DAMAGES = [cut, lost, scribbled, anothers, emptied]
ASKED = [["status"], ["owned"], ["apply", "-"], ["apply", "-", "--dry-run"], ["forget", "/etc/motd"]]


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda damage: damage.__name__)
def test_a_damaged_journal_never_reads_as_owning_nothing(applied: Path, damage: object) -> None:
    assert callable(damage)
    damage(applied / JOURNAL)
    before = on_the_machine(applied)
    for words in ASKED:
        ran = host(*words, "--root", applied, "--json", stdin=declared(44, file("/etc/motd"), file("/srv/b")))
        assert (ran.code, ran.error["code"]) == (5, "journal"), words
        assert "mesh-host forget --everything" in ran.err
    assert on_the_machine(applied) == before
    # And the way out.
    well("forget", "--everything", "--root", applied)
    assert well("owned", "--root", applied, "--json").json["owned"] == []
    assert on_the_machine(applied) == before


def test_a_journal_of_a_newer_program_is_not_taken_for_damaged(applied: Path) -> None:
    journal = Journal.open(applied / JOURNAL)
    journal._db.execute("PRAGMA user_version = 99")
    journal.close()
    for words in ASKED:
        ran = host(*words, "--root", applied, stdin=declared(44, file("/etc/motd")))
        assert ran.code == 5
        assert "newer" in ran.err
        assert "forget" not in ran.err


@pytest.mark.parametrize(("answer", "code"), [("n", 1), ("y", 0)])
@pytest.mark.parametrize("words", [["/etc/motd"], ["--everything"]])
def test_on_a_terminal_forget_asks_first(applied: Path, answer: str, code: int, words: list[str]) -> None:
    ours, theirs = pty.openpty()
    try:
        with subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "forget", *words, "--root", str(applied)],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environment(),
        ) as running:
            os.write(ours, f"{answer}\n".encode())
            _, err = running.communicate(timeout=30)
    finally:
        os.close(ours)
        os.close(theirs)
    assert running.returncode == code
    assert b"lets go of" in err
    assert b"Go on?" in err
    left = len(well("owned", "--root", applied, "--json").json["owned"])
    assert (left < 3) == (code == 0)
