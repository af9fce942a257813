"""Files beside a document that a person names: they stay inside the document's folder, links included."""

from __future__ import annotations

import os
import posixpath
import stat
from collections.abc import Callable
from pathlib import Path

from mesh_core.wire.beside import NotRead
from mesh_core.wire.faults import shown
from mesh_core.wire.text import MANIFEST_LIMIT

_INSIDE = "wanted the path of a file in the folder of this document, or below it"


def reader(document: str) -> Callable[[str], str | NotRead]:
    """Reads the files that a document names beside itself; those of `-` are in the current folder."""
    folder = Path() if document == "-" else Path(document).parent

    def read(named: str) -> str | NotRead:
        found = shown(named)
        why = _outside(named)
        if why is not None:
            return NotRead(found=f"found {found}, which is {why}", wanted=_INSIDE)
        try:
            where = (folder / named).resolve(strict=True)
            if not where.is_relative_to(folder.resolve()):
                return NotRead(found=f"found {found}, a link that leads out of the folder", wanted=_INSIDE)
            return _text(where, found)
        except FileNotFoundError:
            return NotRead(found=f"{found} is missing", wanted=f"wanted a file there, in {_said(folder)}")
        except (OSError, RuntimeError) as error:  # RuntimeError: links in a circle
            why = error.strerror or str(error) if isinstance(error, OSError) else "links in a circle"
            return NotRead(found=f"{found} cannot be read: {why}", wanted=_INSIDE)

    return read


def _outside(named: str) -> str | None:
    """Why a path cannot lie inside a folder, as far as its text says; None when it may."""
    if not named or "\0" in named or any("\ud800" <= letter <= "\udfff" for letter in named):
        return "no path"
    if named.startswith("/"):
        return "absolute"
    if posixpath.normpath(named).split("/")[0] == "..":
        return "outside of it"
    return None


def _text(where: Path, found: str) -> str | NotRead:
    # Not to wait for a pipe's other end.
    with open(os.open(where, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
        if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
            return NotRead(found=f"{found} is no regular file", wanted=_INSIDE)
        content = file.read(MANIFEST_LIMIT + 1)
    if len(content) > MANIFEST_LIMIT:
        limit = f"a manifest has at most {MANIFEST_LIMIT} with what is taken in"
        return NotRead(found=f"{found} has more than {MANIFEST_LIMIT} bytes", wanted=limit)
    try:
        return content.decode("utf-8")
    except UnicodeDecodeError as error:
        return NotRead(found=f"byte {error.start} of {found} is no UTF-8", wanted="wanted UTF-8 text")


def _said(folder: Path) -> str:
    return "the current folder" if folder == Path() else str(folder)
