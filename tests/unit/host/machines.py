"""Machines to look at: a directory with a few files, and commands that answer what a test says."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.files import Files
from mesh_adapters.host.machine import Machine

Run = Callable[[Command], Ended]


def answering(answers: Mapping[str, str]) -> Run:
    """Every program that is named says its text; any other is not there."""

    def run(command: Command) -> Ended:
        said = answers.get(command.argv[0])
        return Ended(command=command, code=127 if said is None else 0, output=said or "", errors="")

    return run


def machine_in(root: Path, run: Run | None = None) -> Machine:
    """The machine whose files are under `root`."""

    def nothing_kept(_sha256: str) -> bytes:
        raise LookupError

    return Machine(
        root=root, files=Files(root), privileged=False, run=run or answering({}), kept=nothing_kept
    )


def put(root: Path, path: str, content: str = "", *, executable: bool = False) -> Path:
    """A file under `root`, with the folders above it."""
    place = root / path
    place.parent.mkdir(parents=True, exist_ok=True)
    place.write_text(content)
    place.chmod(0o755 if executable else 0o644)
    return place
