"""The store as a file: whether a path can be one, and how a new one comes to be, whole or not at
all.

Nothing here reads what is in the file. Opening and closing it ourselves would drop the locks that
another connection of this process holds on it (POSIX locks belong to the process), so only SQLite
opens it.
"""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from mesh_adapters.store.outages import translated_files
from mesh_core.ports import StoreExists, StoreMissing, StoreNowhere, StoreUnreadable, Unreadable

BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite appends to a path for the files that it keeps beside a database."""


def refuse_what_is_no_file(path: str) -> None:
    """Raise `StoreMissing` or `StoreUnreadable` where there is no file with something in it."""
    try:
        found = os.stat(path)
    except (FileNotFoundError, NotADirectoryError, ValueError):
        raise StoreMissing(path) from None
    except OSError as error:
        raise StoreUnreadable(path, Unreadable.OUT_OF_REACH, error.strerror or "") from error
    if not stat.S_ISREG(found.st_mode):
        kind = "a directory" if stat.S_ISDIR(found.st_mode) else "no ordinary file"
        raise StoreUnreadable(path, Unreadable.NOT_A_FILE, kind)
    if found.st_size == 0:
        raise StoreUnreadable(path, Unreadable.EMPTY, "an empty file")
    if not may(path, os.R_OK):
        raise StoreUnreadable(path, Unreadable.OUT_OF_REACH, "permission denied")


def may(path: str, what: int) -> bool:
    """Whether the process, as who it now is, may do that (`os.R_OK`, `os.W_OK`)."""
    return os.access(path, what, effective_ids=os.access in os.supports_effective_ids)


def is_settled(path: str) -> bool:
    """Whether the file alone is the whole store, and nobody here can change that.

    So it is in a directory that cannot be written, and no write-ahead log is there: a log holds
    what the file does not, and an empty one that is shared is the sign of somebody who has the
    store open.
    """
    real = os.path.realpath(path)  # beside which SQLite keeps its files
    with suppress(OSError):
        if os.stat(real + "-wal").st_size or os.path.exists(real + "-shm"):
            return False
    return not is_changeable(path)


def is_changeable(path: str) -> bool:
    """Whether files can be made beside `path`, which SQLite needs for more than looking at it."""
    return may(_folder(path), os.W_OK)


@contextmanager
def new_file(path: str) -> Iterator[str]:
    """Give a temporary path to write to; what is there then stands at `path`, or nothing does.

    Missing directories are made. Raises `StoreExists` where something stands at `path`, or a log of
    what once stood there (SQLite would take it for the new file's), `StoreNowhere` where a file
    stands in place of a directory, and any outage.
    """
    _refuse_what_is_taken(path)
    _refuse_what_is_no_directory(path)
    with translated_files(path):
        os.makedirs(_folder(path), exist_ok=True)
        handle, temporary = tempfile.mkstemp(prefix=".new-", dir=_folder(path))
        os.close(handle)
    try:
        yield temporary
        with translated_files(path):
            _sync(temporary)
            _put(temporary, path)
            _sync(_folder(path))
    finally:
        for end in ("", *BESIDE):
            with suppress(FileNotFoundError):
                os.unlink(temporary + end)


def _refuse_what_is_taken(path: str) -> None:
    for end in ("", *BESIDE):
        if os.path.lexists(path + end):
            raise StoreExists(path + end)


def _refuse_what_is_no_directory(path: str) -> None:
    """Find the file that stands where a directory is needed.

    Making the directories would fail too, and not say at which of them.
    """
    above = os.path.dirname(path)
    while above and not os.path.lexists(above):
        above = os.path.dirname(above)
    if above and os.path.exists(above) and not os.path.isdir(above):
        raise StoreNowhere(path, above)


def _put(temporary: str, path: str) -> None:
    """Move a file to a path where nothing is; of two that do so at once one gets `StoreExists`."""
    try:
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    except FileExistsError:
        raise StoreExists(path) from None
    try:
        os.replace(temporary, path)
    except OSError:
        os.unlink(path)
        raise


def _folder(path: str) -> str:
    return os.path.dirname(os.path.realpath(path))


def _sync(path: str) -> None:
    """Have the disk hold it: after a power cut the name is there, and with it the content."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
