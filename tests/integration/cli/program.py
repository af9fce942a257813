"""How the tests of the command line run it: inside this process for speed, or as a process of its own.

Beside it the looks at a store that prove "nothing was written": every row of every table, which is more than
an export shows, and the files that lie in its folder.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from attrs import evolve, frozen

from mesh_cli.main import run

ROOT = Path(__file__).parents[3]
EXAMPLES = ROOT / "examples"


@frozen(kw_only=True)
class Ran:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> dict[str, Any]:
        """What it printed, which is one JSON object with its format first."""
        data = json.loads(self.out)
        assert isinstance(data, dict)
        assert next(iter(data.items())) == ("format", 1)
        return data

    @property
    def error(self) -> dict[str, Any]:
        """The error that it printed for `--json`."""
        found = self.json["error"]
        assert isinstance(found, dict)
        return found


def mesh(*arguments: object, stdin: str | bytes = b"") -> Ran:
    """Run `mesh` inside this process."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    out, err = io.StringIO(), io.StringIO()
    source = io.TextIOWrapper(io.BytesIO(given), encoding="utf-8")
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", source):
        code = run([str(argument) for argument in arguments])
    assert "Traceback" not in err.getvalue()
    return Ran(code=int(code), out=out.getvalue(), err=err.getvalue())


def without_next(ran: Ran) -> Ran:
    """The same without what to do next: a document is planned, and only what is in a store is pushed."""
    return evolve(ran, out=ran.out.replace("      Next: mesh push\n", "\n"))


def ok(*arguments: object, stdin: str | bytes = b"") -> Ran:
    """Run `mesh` inside this process; it has to end well, and says nothing on stderr."""
    ran = mesh(*arguments, stdin=stdin)
    assert ran.code == 0, ran.err
    assert not ran.err
    return ran


def command() -> list[str]:
    """What starts `mesh` as a process: the program beside this Python, where it is installed."""
    installed = Path(sys.executable).with_name("mesh")
    if installed.exists():
        return [str(installed)]
    return [sys.executable, "-c", "from mesh_cli.program import main; main()"]


def environment(**more: str) -> dict[str, str]:
    """The environment of a process that finds the code of this tree, installed or not."""
    return os.environ | {"PYTHONPATH": str(ROOT)} | more


def process(
    *arguments: object, stdin: bytes = b"", env: Mapping[str, str] | None = None, cwd: Path | None = None
) -> Ran:
    """Run `mesh` as a process of its own."""
    ran = subprocess.run(
        [*command(), *map(str, arguments)],
        input=stdin,
        capture_output=True,
        env=environment() if env is None else env,
        cwd=cwd,
        timeout=60,
        check=False,
    )
    return Ran(code=ran.returncode, out=ran.stdout.decode(), err=ran.stderr.decode())


CTRL_C = "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); "
"""Has ctrl-c mean something again: whoever runs tests in the background of a shell has it ignored."""

BECOMES = "os.execv(sys.argv[1], sys.argv[1:])"


@contextmanager
def started(
    *arguments: object,
    before: str = CTRL_C,
    terminal: int | None = None,
    env: Mapping[str, str] | None = None,
) -> Iterator[subprocess.Popen[bytes]]:
    """`mesh` as a process that still runs, and does not outlive the test.

    `before` is run in it first; `terminal` is a terminal for all its streams, instead of pipes.
    """
    piped = terminal is None
    with subprocess.Popen(
        [sys.executable, "-c", before + BECOMES, *command(), *map(str, arguments)],
        stdin=subprocess.DEVNULL if piped else terminal,
        stdout=subprocess.PIPE if piped else terminal,
        stderr=subprocess.PIPE if piped else terminal,
        env=environment() if env is None else env,
        start_new_session=not piped,
    ) as running:
        try:
            yield running
        finally:
            if running.poll() is None:
                running.kill()


def rows(path: Path) -> dict[str, list[tuple[Any, ...]]]:
    """Every row of every table of a store, as any other program sees it."""
    with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as conn:
        tables = [name for (name,) in conn.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        return {name: sorted(conn.execute(f"SELECT * FROM {name}"), key=repr) for name in tables}


@contextmanager
def nothing_written(path: Path) -> Iterator[None]:
    """What happens inside leaves the store, and the names of the files beside it, as they were."""
    rows_before, files_before = rows(path), _files(path.parent)
    yield
    assert rows(path) == rows_before
    assert _files(path.parent) == files_before


def _files(folder: Path) -> set[str]:
    """The names in a folder, without the logs that SQLite keeps beside a file that is open."""
    return {entry.name for entry in folder.iterdir() if not entry.name.endswith(("-wal", "-shm"))}


def exported(path: Path) -> dict[str, Any]:
    """The mesh of a store, as a document."""
    return ok("export", "--store", path).json


def node_entry(path: Path, name: str) -> dict[str, Any]:
    """One node's entry in the mesh of a store."""
    (entry,) = [node for node in exported(path)["nodes"] if node["name"] == name]
    assert isinstance(entry, dict)
    return entry


def events(path: Path) -> list[dict[str, Any]]:
    """What was recorded in a store, the newest first."""
    found = ok("history", "--json", "--limit", 1000, "--store", path).json["events"]
    assert isinstance(found, list)
    return found


def written(folder: Path, name: str, document: Mapping[str, Any] | Sequence[Any] | str | bytes) -> Path:
    """A file with that content: text as it is, data as JSON."""
    path = folder / name
    if isinstance(document, str):
        path.write_text(document, encoding="utf-8")
    elif isinstance(document, bytes):
        path.write_bytes(document)
    else:
        path.write_text(json.dumps(document), encoding="utf-8")
    return path


MODULES: list[dict[str, Any]] = [
    {
        "name": "zsh",
        "version": "5.9",
        "provides": ["shell"],
        "resources": [{"kind": "package", "name": "zsh"}],
    },
    {
        "name": "postgres",
        "version": "16.2",
        "provides": [{"name": "database", "scope": "mesh", "exports": {"port": "5432"}}],
        "claims": ["port:5432"],
        "capabilities": ["systemd"],
    },
    {"name": "web", "version": "1.4.0", "requires": ["shell", "database"]},
]

NODES: list[dict[str, Any]] = [
    {
        "name": "nas",
        "assign": ["postgres"],
        "capabilities": {"systemd": True, "gpu": {"present": False, "detail": "no device"}},
    },
    {"name": "pi", "assign": ["web"], "pins": {"database": "nas"}},
]

MESH: dict[str, Any] = {"format": 1, "modules": MODULES, "nodes": NODES}
"""The example of design, part 4: nothing in it is refused."""


def database_of(store: Path, node: str) -> tuple[str, str]:
    """Where a node takes its database from, in the plan."""
    entry = ok("plan", node, "--json", "--store", store).json["nodes"][node]
    (answer,) = [answer for answer in entry["answers"] if answer["provision"] == "database"]
    return answer["node"], answer["module"]


def refused(ran: Ran, name: str, fragments: list[str]) -> None:
    assert ran.code == 1
    first, *faults = ran.err.splitlines()
    assert first.startswith(f"{name} is refused, with {len(faults)} fault")
    assert all(fault.startswith("  $") for fault in faults)
    for fragment in fragments:
        assert fragment in ran.err
    assert not ran.out
