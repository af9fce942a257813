"""The file with the names: read, and written so that it is there whole, with the mode and owner it had."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Final

from attrs import frozen

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay.names import DamagedBlock, with_names
from mesh_adapters.host.whole import write_whole
from mesh_core.explain import overlay as say
from mesh_core.model.declaration import Declaration

PLACE: Final = "/etc/hosts"
IDENTITY: Final = f"path:{PLACE}"
"""What a module calls it that has the file for itself."""


@frozen(kw_only=True)
class Named:
    """What became of the names: whether the file was changed, and why they are not in it, if they are not."""

    changed: bool = False
    failed: str | None = None


def declared(declaration: Declaration) -> bool:
    """Whether a module has the file for itself."""
    return any(one.identity == IDENTITY for module in declaration.modules for one in module.resources)


def is_there(machine: Machine) -> bool:
    """Whether there is such a file."""
    return _place(machine).exists()


def write_names(machine: Machine, names: tuple[tuple[str, str], ...], *, ours: bool) -> Named:
    """Put these names into the file; without names the block goes.

    `ours` is whether there was no such file before: then it goes with the block, if nothing else is in it.
    """
    place = _place(machine)
    try:
        before = place.read_bytes() if place.exists() else b""
        after = with_names(before, names)
        if after != before:
            _write(place, after, drop=ours and not after)
    except DamagedBlock:
        return Named(failed=say.names_damaged())
    except OSError as error:
        return Named(failed=say.names_unwritable(error.strerror or str(error)))
    return Named(changed=after != before)


def _place(machine: Machine) -> Path:
    """Where it is: a link is kept, and what it leads to is written."""
    return Path(os.path.realpath(machine.root / PLACE.lstrip("/")))


def _write(place: Path, content: bytes, *, drop: bool) -> None:
    if drop:
        place.unlink()
        return
    if not place.exists():
        write_whole(place, content, 0o644)
        return
    was = place.stat()
    try:
        write_whole(place, content, was.st_mode & 0o7777, (was.st_uid, was.st_gid))
    except OSError as error:
        if error.errno not in (errno.EBUSY, errno.EXDEV):
            raise
        place.write_bytes(content)  # a mount point, as in a container: it can be filled, not replaced
