"""Starting anew: the journal is put aside whole, and nothing on the machine is touched."""

from __future__ import annotations

import os
from itertools import count
from pathlib import Path

from mesh_adapters.host.files import sync_directory
from mesh_adapters.host.journal import Journal, JournalError, locked
from mesh_adapters.host.overlay.record import NAME as NETWORK

_FILES = (NETWORK, "journal.db-shm", "journal.db-wal", "journal.db", "began")
"""In the order in which they go: as long as `began` is there, a journal that is gone is missed."""


def put_aside(directory: Path) -> Path | None:
    """Move the journal, damaged or not, to a folder of its own beside it; None where there is none.

    Raises `JournalError` where it cannot be moved, and `JournalBusy` where a run is at work.
    """
    try:
        if not Journal.exists(directory):
            return None
        lock = locked(directory / "lock")
        try:
            return _moved(directory)
        finally:
            os.close(lock)
    except OSError as error:
        why = f"{error.filename or directory}: {error.strerror}"
        raise JournalError(f"the journal cannot be put aside ({why}); nothing was changed") from None


def _moved(directory: Path) -> Path:
    folder = next(place for n in count(1) if not (place := directory / f"put-aside-{n}").exists())
    folder.mkdir(mode=0o700)
    for name in _FILES:
        if (directory / name).exists():
            (directory / name).rename(folder / name)
    sync_directory(folder)
    sync_directory(directory)
    return folder
