"""Files of the host's own that are there whole, or as they were: nobody finds half of one."""

from __future__ import annotations

import os
import tempfile
from contextlib import suppress
from pathlib import Path

from mesh_adapters.host.files import sync_directory


def write_whole(path: Path, content: bytes, mode: int = 0o600, owner: tuple[int, int] | None = None) -> None:
    """Put the bytes at a path so that they last, in the place of what was there. Raises `OSError`.

    Missing directories are made. What a run that was killed began to write has another name, and stays.
    `owner` is whose it is to be, with the group, where that is not whoever writes.
    """
    _make_directories(path.parent)
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}-", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if owner is not None:
                os.fchown(file.fileno(), *owner)
            os.fchmod(file.fileno(), mode)
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(temporary)
        raise
    sync_directory(path.parent)


def _make_directories(directory: Path) -> None:
    if directory.is_dir():
        return
    _make_directories(directory.parent)
    directory.mkdir(mode=0o755, exist_ok=True)
    sync_directory(directory.parent)
