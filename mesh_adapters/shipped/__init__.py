"""The modules that ship with the control plane: a folder each, with its manifest and what that takes in.

They are read as anybody's manifest is, and are wherever the package is: in a checkout, or out of a wheel.
"""

from __future__ import annotations

from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Final

from mesh_core.model.module import Module
from mesh_core.wire.beside import NotRead, ReadBeside
from mesh_core.wire.document import read_module
from mesh_core.wire.kinds import Kinds
from mesh_core.wire.text import Syntax

MANIFEST: Final = "module.toml"


def names() -> tuple[str, ...]:
    """The modules that there are; each has a folder of its name."""
    return tuple(sorted(place.name for place in files(__name__).iterdir() if (place / MANIFEST).is_file()))


def manifest(name: str, kinds: Kinds | None = None) -> Module:
    """The module of one of these names. `kinds` are those whose attributes are checked."""
    folder = files(__name__) / name
    content = (folder / MANIFEST).read_bytes()
    return read_module(content, Syntax.TOML, beside=_beside(folder), kinds=kinds)


def _beside(folder: Traversable) -> ReadBeside:
    def read(named: str) -> str | NotRead:
        try:
            return (folder / named).read_text("utf-8")
        except OSError as error:
            return NotRead(found=f"{named} cannot be read: {error}", wanted="wanted a file beside it")

    return read
