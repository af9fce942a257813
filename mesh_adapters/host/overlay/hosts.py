"""The file with the names: read, and written so that it is there whole, with the mode and owner it had."""

from __future__ import annotations

import errno
import os
from pathlib import Path

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay.names import BEGIN, DamagedBlock, with_names
from mesh_adapters.host.whole import write_whole
from mesh_core.explain import overlay as say

PLACE = "/etc/hosts"


def write_names(machine: Machine, names: tuple[tuple[str, str], ...]) -> tuple[bool, str | None]:
    """Put these names into the file: whether it was changed, and what kept it from being written.

    Without names the block goes, and the file with it where nothing else is in it.
    """
    place = Path(os.path.realpath(machine.root / PLACE.lstrip("/")))
    try:
        before = place.read_bytes().decode("utf-8", "surrogateescape") if place.exists() else ""
        after = with_names(before, names)
        if after == before:
            return False, None
        _write(place, after.encode("utf-8", "surrogateescape"))
    except DamagedBlock:
        return False, say.names_damaged()
    except OSError as error:
        return False, say.names_unwritable(error.strerror or str(error))
    return True, None


def _write(place: Path, content: bytes) -> None:
    if not content:
        place.unlink()
        return
    if not place.exists():
        write_whole(place, content, 0o644)
        return
    was = place.stat()
    try:
        write_whole(place, content, was.st_mode & 0o7777)
        os.chown(place, was.st_uid, was.st_gid)
    except OSError as error:
        if error.errno not in (errno.EBUSY, errno.EXDEV):
            raise
        place.write_bytes(content)  # a mount point, as in a container: it can be filled, not replaced


def has_names(machine: Machine) -> bool:
    """Whether a block is in the file."""
    try:
        return BEGIN in (machine.root / PLACE.lstrip("/")).read_text("utf-8", "replace")
    except OSError:
        return False
