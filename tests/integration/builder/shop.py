"""A control plane, its repository, and builders as processes of their own, over a real RabbitMQ.

What a build runs is known by a word in its arguments that nothing else on the machine has.
"""

from __future__ import annotations

import io
import json
import secrets
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

from attrs import frozen

from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.opening import open_broker
from mesh_adapters.build.layout import read_blob
from mesh_cli.builder.main import run
from tests.integration.broker.server import RabbitServer
from tests.integration.build.repositories import Repository
from tests.integration.cli.program import Ran, environment, mesh, ok
from tests.integration.joining.conftest import Plane

PROGRAM = "from mesh_cli.builder.program import main; main()"
BUILDERS = ("smith", "mason")
LONG = 30.0
"""Seconds for what has to be so in the end, on a machine that has other things to do as well."""


def builder(*arguments: object) -> Ran:
    """Run `mesh-builder` inside this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err), patch.object(sys, "stdin", io.StringIO()):
        code = run([str(argument) for argument in arguments])
    assert "Traceback" not in err.getvalue()
    return Ran(code=int(code), out=out.getvalue(), err=err.getvalue())


def until(so: Any, what: str, seconds: float = LONG) -> Any:
    """Wait until something is so; what it was."""
    ends = time.monotonic() + seconds
    while not (found := so()):
        assert time.monotonic() < ends, f"not so in time: {what}"
        time.sleep(0.05)
    return found


def living(word: str) -> list[int]:
    """The processes that have this word among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                words = (entry / "cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            # A builder's shell has the whole command as one argument: what it starts has the word alone.
            if word.encode() in words:
                found.append(int(entry.name))
    return found


def marked(seconds: str) -> str:
    """About so many seconds for `sleep`, as a word that no other process of the machine has."""
    return f"{seconds}{secrets.randbelow(10**9):09}"


class Running:
    """A builder at work, which says what it does a line each. It does not outlive the test."""

    def __init__(self, process: subprocess.Popen[bytes], said: Path) -> None:
        self.process = process
        self._said = said

    @property
    def lines(self) -> list[str]:
        """What it said to people by now."""
        return self._said.read_text().splitlines()

    @property
    def objects(self) -> list[dict[str, Any]]:
        """What it said to programs by now, an object a line."""
        return [json.loads(line) for line in self._said.with_suffix(".out").read_text().splitlines()]

    def said(self, words: str) -> int:
        """How many of its lines have these words."""
        return sum(words in line for line in self.lines)

    def says(self, words: str) -> None:
        """Wait until it has said so."""
        until(lambda: self.said(words), f"it says {words!r}: {self.lines}")

    @property
    def works(self) -> set[int]:
        """The process that builds for it, if one does."""
        return {*living("mesh_cli.builder.work")} & {*living(str(self.process.pid))}

    def kill(self) -> None:
        """As `kill -9`; it is gone once this returns."""
        self.process.kill()
        self.process.wait(LONG)

    def asked_to_end(self, number: int) -> int:
        """Its exit code after a signal."""
        self.process.send_signal(number)
        return self.process.wait(LONG)

    def put_away(self) -> None:
        self.kill()
        print(*self.lines, sep="\n")  # shown with a test that fails


@frozen
class Shop:
    """A control plane whose builders joined, each under a directory of its own."""

    folder: Path
    plane: Plane
    repository: Repository

    @property
    def server(self) -> RabbitServer:
        return self.plane.server

    @property
    def registry(self) -> Path:
        return self.folder / "registry"

    def root(self, name: str) -> Path:
        return self.folder / f"machine-{name}"

    def has(self, module: str, commands: Sequence[str], **more: Any) -> str:
        """A module in the repository, made by commands, and its source known: its commit."""
        build = {"kind": "shell", "commands": [*commands], **more}
        words = ", ".join(f"{key} = {json.dumps(value)}" for key, value in build.items())
        manifest = (
            f'name = "{module}"\nversion = "1"\nbuild = {{{words}}}\n'
            f'resources = [{{kind = "tree", path = "/opt/{module}"}}]\n'
        )
        commit = self.repository.commit({f"{module}/module.toml": manifest, f"{module}/page": "telltale"})
        ok("source", "set", module, self.repository.address, "--path", module)
        return commit

    def ask(self, module: str) -> str:
        """Ask for a build: its id."""
        ran = mesh("build", module, "--json")
        assert ran.code == 0, ran.err
        return str(ran.json["builds"][0]["id"])

    def build(self, id: str) -> dict[str, Any]:
        """What is known of a build, with what waits taken in before."""
        mesh("collect")
        (found,) = ok("builds", id, "--json").json["builds"]
        assert isinstance(found, dict)
        return found

    def ends(self, id: str, seconds: float = LONG) -> dict[str, Any]:
        """The build once it is over."""

        def over() -> dict[str, Any] | None:
            found = self.build(id)
            return found if found["state"] in ("built", "failed") else None

        found = until(over, "the build is over", seconds)
        assert isinstance(found, dict)
        return found

    def counted(self, id: str) -> int:
        """How many rows of the store have an answer to it."""
        with closing(sqlite3.connect(f"file:{self.folder}/mesh.db?mode=ro", uri=True)) as conn:
            sql = "SELECT count(*) FROM builds WHERE id = ? AND answer IS NOT NULL"
            (found,) = conn.execute(sql, (id,)).fetchone()
        return int(found)

    def content(self, found: dict[str, Any]) -> bytes:
        """The tar of what was built."""
        content = read_blob(self.registry, found["built"]["content"], 64_000_000)
        assert isinstance(content, bytes)
        return content

    def waiting(self) -> int:
        """How many requests wait for a builder."""
        with closing(open_broker(self.control())) as broker:
            return broker.requests_waiting()

    def purge(self) -> int:
        """Empty the queue of requests: how many went."""
        waiting = self.waiting()
        host = quote(self.plane.virtual_host, safe="")
        self.plane.accounts()._do("DELETE", f"queues/{host}/mesh.requests/contents", None)
        return waiting

    def control(self) -> RabbitAddress:
        """The broker as the control plane reaches it."""
        from mesh_cli.wiring_broker import rabbit_named, with_login

        return with_login(rabbit_named(None), None)

    @contextmanager
    def running(self, name: str, *words: str, before: str = "") -> Iterator[Running]:
        """`mesh-builder run` of one of the builders, at work. `before` is run in it first."""
        default = "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        argv = ["run", "--root", self.root(name), "--registry", f"oci:{self.registry}", *words]
        said = self.folder / f"{name}-{time.monotonic_ns()}.err"
        with said.open("wb") as err, said.with_suffix(".out").open("wb") as out:
            process = subprocess.Popen(
                [sys.executable, "-c", f"{default}{before}\n{PROGRAM}", *map(str, argv)],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                env=environment(SECRET_OF_ENVIRONMENT=SECRET),
            )
        talking = Running(process, said)
        try:
            yield talking
        finally:
            talking.put_away()


SECRET = "sec" + "ret-of-the-builder"
"""In every file and variable that a build must not see; nowhere whole in what a build is told."""
