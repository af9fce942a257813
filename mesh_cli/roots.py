"""The directory that everything is put under, for trying: an option that several programs have."""

from __future__ import annotations

import os
import shlex
from pathlib import Path
from typing import Annotated

import typer

from mesh_cli.exits import Exit, Stop

RootOption = Annotated[
    str | None,
    typer.Option("--root", metavar="DIR", help="Put everything under this directory, for trying."),
]


def root_of(said: str | None) -> Path:
    """The root directory that was said, else the machine's; where it is not there, it is as an empty one."""
    if said is None:
        return Path("/")
    if not said:
        raise Stop(Exit.USAGE, "no-root", "--root is empty; it is the directory to put everything under")
    root = Path("/" + os.path.realpath(said).lstrip("/"))
    if root.exists() and not root.is_dir():
        raise Stop(Exit.FAILED, "not-a-directory", f"{said} is not a directory", {"root": said})
    return root


def called(command: str, said: str | None) -> str:
    """A command as it is to be typed next, under the same root."""
    return command if said is None else f"{command} --root {shlex.quote(said)}"
