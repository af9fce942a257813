"""A store that is none, or that cannot be written: exit 5, one sentence, and no file touched.

"A store of a newer schema, a store that is no database, a store on a read-only disk."
"""

from __future__ import annotations

import os
import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from tests.integration.cli.program import ROOT, mesh, nothing_written, ok
from tests.integration.store.helpers import everything, unprivileged

READING = (
    "plan",
    "plan pi",
    "node list",
    "module list",
    "node show pi",
    "history",
    "export",
    "lint",
    "graph",
    "status",
)
WRITING = ("node add tv", "assign pi web", "node remove pi", "unpin pi database", "module remove web")


def text(path: Path) -> None:
    path.write_text("modules:\n" * 2000)


def short_text(path: Path) -> None:
    path.write_text("hello\n")


def empty_file(path: Path) -> None:
    path.write_bytes(b"")


def folder(path: Path) -> None:
    path.mkdir()


def pipe(path: Path) -> None:
    os.mkfifo(path)


def other_program(path: Path) -> None:
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("CREATE TABLE bookmarks (url TEXT)")


def newer(path: Path) -> None:
    ok("init", "--store", path)
    with closing(sqlite3.connect(path)) as conn:
        conn.execute("PRAGMA user_version = 99")


def cut(path: Path) -> None:
    ok("init", "--store", path)
    whole = path.read_bytes()
    path.write_bytes(whole[: len(whole) // 2])


BAD: list[tuple[Callable[[Path], None], str, str]] = [
    (
        text,
        "unreadable-store",
        "cannot be read as a store: file is not a database; --store or MESH_STORE names",
    ),
    (short_text, "unreadable-store", "file is not a database; --store or MESH_STORE names another"),
    (empty_file, "unreadable-store", "cannot be read as a store: an empty file; --store or MESH_STORE names"),
    (
        folder,
        "unreadable-store",
        "cannot be read as a store: a directory; --store or MESH_STORE names another",
    ),
    (pipe, "unreadable-store", "cannot be read as a store: no ordinary file; --store or MESH_STORE names"),
    (other_program, "unreadable-store", "cannot be read as a store: a database of another program"),
    (newer, "newer-store", "was written by a newer meshwright (schema 99, this one knows "),
    (cut, "unreadable-store", "cannot be read as a store: "),
]


@pytest.mark.parametrize(("make", "code", "said"), BAD, ids=[make.__name__ for make, *_ in BAD])
def test_what_is_no_store_is_told_by_every_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, make: Callable[[Path], None], code: str, said: str
) -> None:
    at = tmp_path / "at"
    at.mkdir()
    path = at / "mesh.db"
    make(path)
    before = everything(at)
    monkeypatch.setenv("MESH_STORE", str(path))
    for line in (*READING, *WRITING, "backup copy.db"):
        ran = mesh(*line.split())
        assert ran.code == 5
        assert ran.err.startswith(f"{path} {said}" if not said.startswith("file") else str(path))
        assert said in ran.err
        assert len(ran.err.splitlines()) == 1
        assert not ran.out
    assert mesh("plan", "--json").error["code"] == code
    ran = mesh("init")
    assert (ran.code, ran.err) == (1, f"{path} is there already, and was left as it is\n")
    assert everything(at) == before
    assert mesh("plan", "--store", path).code == 5, "a flag finds the same as the variable"


def test_a_flag_beats_the_variable_beats_the_config_file_beats_the_default(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = Path(os.environ["HOME"])
    for name in ("flag", "variable", "configured"):
        ok("init", "--store", folder / f"{name}.db")
        ok("node", "add", name, "--store", folder / f"{name}.db")
    assert "mesh.db; `mesh init` makes one" in mesh("plan").err
    assert str(home) in mesh("plan").err
    config = home / ".config" / "meshwright" / "config.toml"
    config.parent.mkdir(parents=True)
    shutil.copyfile(folder / "configured.db", home / "configured.db")
    config.write_text('store = "~/configured.db"\n')
    assert "configured" in ok("node", "list").out
    for said in ("../../configured.db", str(home / "configured.db")):
        config.write_text(f"store = '{said}'\n")
        assert "configured" in ok("node", "list").out, "a relative path begins beside the config file"
    monkeypatch.setenv("MESH_STORE", str(folder / "variable.db"))
    assert "variable" in ok("node", "list").out
    assert "flag" in ok("node", "list", "--store", folder / "flag.db").out
    monkeypatch.setenv("MESH_STORE", "")
    assert "configured" in ok("node", "list").out


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("store = \n", "cannot be read: no TOML: Invalid value (at line 1, column 9)"),
        (b"\xff", "cannot be read: it is no UTF-8 text"),
        ("stor = 'x'\n", "unknown key 'stor'; the keys here are 'store', 'broker', 'broker_credential'"),
        ("store = 1\n", "'store' is the path of the store, as text"),
        ("store = ''\n", "'store' is the path of the store, as text"),
        ("store = '~nobody-at-all/mesh.db'\n", "begins with '~nobody-at-all', and there is no such home"),
        (None, "cannot be read: Is a directory"),
    ],
)
def test_a_bad_config_file_is_told_and_a_flag_needs_none(
    store: Path, monkeypatch: pytest.MonkeyPatch, config: str | bytes | None, said: str
) -> None:
    path = Path(os.environ["HOME"]) / ".config" / "meshwright" / "config.toml"
    path.parent.mkdir(parents=True)
    if config is None:
        path.mkdir()
    else:
        path.write_bytes(config if isinstance(config, bytes) else config.encode())
    assert mesh("plan").code == 0, "the variable names the store: the config file is not read"
    monkeypatch.delenv("MESH_STORE")
    ran = mesh("plan")
    assert ran.code == 1
    assert ran.err.startswith(str(path))
    assert said in ran.err
    assert mesh("plan", "--json").error["code"] == "bad-config"
    assert mesh("plan", "--store", store).code == 0


def test_nobody_needs_a_home(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A uid without an entry, as in many containers: there is no default place, and that is told."""

    def nobody(_: int) -> None:
        raise KeyError("no such uid")

    monkeypatch.delenv("HOME")
    for name in ("LOGNAME", "USER", "LNAME", "USERNAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("pwd.getpwuid", nobody)
    for line in ("plan", "init", "node add tv"):
        ran = mesh(*line.split())
        assert ran.code == 5
        assert "there is no home directory" in ran.err
        assert "--store or MESH_STORE" in ran.err
    assert not list(folder.iterdir()), "nothing called ~ was made"
    ok("init", "--store", "mesh.db")
    ok("node", "add", "tv", "--store", "mesh.db")
    (event,) = ok("history", "--json", "--store", "mesh.db").json["events"]
    assert event["who"] == f"uid {os.getuid()}"


READ_ONLY = [(0o555, 0o600), (0o555, 0o400), (0o755, 0o400)]


@pytest.mark.parametrize(("of_folder", "of_file"), READ_ONLY, ids=["folder", "folder-and-file", "file"])
def test_what_cannot_be_written_can_be_read(
    store: Path, open_folder: Path, monkeypatch: pytest.MonkeyPatch, of_folder: int, of_file: int
) -> None:
    path = open_folder / "mesh.db"
    shutil.copyfile(store, path)
    monkeypatch.setenv("MESH_STORE", str(path))
    for line in (*READING, "assign pi postgres"):
        mesh(*line.split())  # what it imports can be read by us, and perhaps not by nobody
    path.chmod(of_file)
    open_folder.chmod(of_folder)
    before = everything(open_folder)
    with unprivileged(open_folder):
        assert not all(os.access(at, os.W_OK, effective_ids=True) for at in (path, open_folder))
        for line in READING:
            ran = mesh(*line.split())
            assert (ran.code, ran.err) == (0, "")
        named_tv = '{"format": 1, "nodes": [{"name": "tv"}]}'
        for line in (WRITING[0], "unassign nas postgres --anyway", "import -"):
            ran = mesh(*line.split(), stdin=named_tv)
            assert (ran.code, ran.err) == (5, f"{path} cannot be written, and nothing was\n")
        dry = mesh("import", "-", "--dry-run", stdin=named_tv)
        assert dry.code == 0, "what only looks needs to write nothing"
        if of_folder == 0o555:
            for line in ("init --store", "backup"):
                ran = mesh(*line.split(), open_folder / "new.db")
                assert (ran.code, ran.err) == (
                    5,
                    f"{open_folder}/new.db cannot be written, and nothing was\n",
                )
            ran = mesh("export", open_folder / "new.json")
            assert (ran.code, ran.err) == (
                1,
                f"{open_folder}/new.json cannot be written: Permission denied\n",
            )
    # Where SQLite may, it leaves the log that it read with; there is nothing in it.
    logs = {"mesh.db-wal", "mesh.db-shm"} if of_folder == 0o755 else set()
    after = everything(open_folder)
    assert after.keys() - before.keys() <= logs
    assert not after.get("mesh.db-wal")
    assert {name: after[name] for name in before} == before


def test_what_cannot_be_entered_is_out_of_reach(store: Path, open_folder: Path) -> None:
    path = open_folder / "in" / "mesh.db"
    path.parent.mkdir()
    shutil.copyfile(store, path)
    mesh("plan", "--store", path)
    path.parent.chmod(0)
    with unprivileged(open_folder):
        for line in ("plan", "node add tv"):
            ran = mesh(*line.split(), "--store", path)
            assert (ran.code, ran.err) == (5, f"{path} cannot be read as a store: Permission denied\n")
    path.parent.chmod(0o700)


def test_where_a_file_is_there_is_no_folder(store: Path, folder: Path) -> None:
    with nothing_written(store):
        for line in ("init --store", "backup"):
            for below in ("new.db", "no/such/new.db"):
                ran = mesh(*line.split(), store / below)
                assert (ran.code, ran.err) == (
                    5,
                    f"{store}/{below} cannot be made: {store} is not a directory\n",
                )
                assert mesh(*line.split(), store / below, "--json").error["code"] == "not-a-directory"
        ran = mesh("export", store / "new.json")
        assert (ran.code, ran.err) == (1, f"{store}/new.json cannot be written: Not a directory\n")
        assert mesh("plan", "--store", store / "new.db").code == 5


def test_a_document_needs_no_store(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESH_STORE", str(folder / "text.db"))
    text(folder / "text.db")
    homelab = ROOT / "examples" / "homelab" / "mesh.toml"
    for line in ("plan", "graph", "lint"):
        assert mesh(line, "--file", homelab).code in (0, 3)


def test_a_backup_opens_as_a_store_and_has_everything(store: Path, folder: Path) -> None:
    ok("node", "add", "tv")
    said = ok("backup", "my copy.db").out
    assert said == "wrote my copy.db; it opens as a store: mesh plan --store 'my copy.db'\n"
    for line in ("export", "history --json", "module list --json"):
        assert ok(*line.split(), "--store", "my copy.db").out == ok(*line.split()).out
    assert mesh("backup", "my copy.db").code == 1
    assert ok("backup", "other.db", "--json").json == {"format": 1, "backup": "other.db"}
    assert mesh("backup", store).code == 1, "never over the store itself"
