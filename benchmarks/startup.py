"""Times the start of `mesh` against a bare typer program, and looks at what it imports.

Both are whole processes of the same Python that take turns, asked the same question. The bare
program is a typer application of one command with a `--version`, and is started as pip starts a
console script: a few lines that import a compiled module. What is counted is the time that a
person waits.
"""

import os
import py_compile
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from time import perf_counter
from typing import Any

from attrs import asdict, frozen

UNWANTED = frozenset({"networkx", "kombu", "sqlite_utils"})

BARE = '''
import typer

app = typer.Typer()


def say(wanted: bool) -> None:
    if wanted:
        typer.echo("1.0")
        raise typer.Exit


@app.command()
def hello(version: bool = typer.Option(False, "--version", callback=say, is_eager=True)) -> None:
    """Say hello."""
    typer.echo("hello")
'''
SCRIPT = """
import sys
from bare import app
sys.exit(app())
"""

OPTIONS = ("--help", "--version")


@frozen(kw_only=True)
class Started:
    """One question to `mesh`: medians in seconds, and what it imported that it must not."""

    option: str
    repetitions: int
    mesh: float
    bare: float
    unwanted: tuple[str, ...]

    @property
    def against_bare(self) -> float:
        """Times of the bare program."""
        return self.mesh / self.bare

    def as_data(self) -> dict[str, Any]:
        """Plain data, with the ratio."""
        return {**asdict(self), "against_bare": self.against_bare}


def program() -> Path | None:
    """The `mesh` beside this Python, or None where it is not installed."""
    found = Path(sys.executable).with_name("mesh")
    return found if found.is_file() else None


def measure(mesh: Path, *, repetitions: int) -> list[Started]:
    """`mesh --help` and `mesh --version`, that many turns each."""
    with TemporaryDirectory() as folder:
        bare = bare_program(Path(folder))
        return [started(mesh, bare, option, repetitions) for option in OPTIONS]


def bare_program(folder: Path) -> Path:
    """A program of one command, its module already compiled as an installed one is."""
    module = folder / "bare.py"
    module.write_text(BARE, encoding="utf-8")
    py_compile.compile(str(module), doraise=True)
    script = folder / "bare"
    script.write_text(SCRIPT, encoding="utf-8")
    return script


def started(mesh: Path, bare: Path, option: str, repetitions: int) -> Started:
    """Both programs, one after the other, again and again; a first turn warms the disk."""
    times: dict[Path, list[float]] = {mesh: [], bare: []}
    for turn in range(repetitions + 1):
        for script in (mesh, bare):
            begun = perf_counter()
            run([str(script), option])
            if turn:
                times[script].append(perf_counter() - begun)
    return Started(
        option=option,
        repetitions=repetitions,
        mesh=median(times[mesh]),
        bare=median(times[bare]),
        unwanted=unwanted([str(mesh), option]),
    )


def unwanted(command: Sequence[str]) -> tuple[str, ...]:
    """Which of `UNWANTED` the command imports."""
    log = run(["-X", "importtime", *command]).stderr
    lines = [line for line in log.splitlines() if line.startswith("import time:")]
    if not any(line.split("|")[-1].strip() == "mesh_cli" for line in lines):
        raise RuntimeError(f"the import log of {command} does not even show mesh_cli")
    packages = {line.split("|")[-1].strip().split(".")[0] for line in lines}
    return tuple(sorted(packages & UNWANTED))


def run(arguments: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run Python on those arguments; a program that fails was not measured."""
    return subprocess.run(
        [sys.executable, *arguments],
        check=True,
        capture_output=True,
        text=True,
        env={**os.environ, "TERM": "dumb", "COLUMNS": "100"},
    )
