"""What SQLite and the system say when something is wrong -> the exceptions of the port.

Only translations. Where an error is the program's own fault (a constraint, a closed connection)
nothing is translated, so that a bug shows as one.
"""

from __future__ import annotations

import errno
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from mesh_core.ports import (
    StoreBusy,
    StoreFull,
    StoreMissing,
    StoreOutage,
    StoreReadOnly,
    StoreUnreadable,
    Unreadable,
)

_BUSY = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}
_NO_REACH = {
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CANTOPEN,
}
_OWN_FAULT = (sqlite3.InterfaceError, sqlite3.ProgrammingError, sqlite3.NotSupportedError)
# SQLite cannot make its shared-memory file larger: it says so when the disk is full, and never
# else.
_FULL = {sqlite3.SQLITE_IOERR_SHMSIZE}


def outage(error: sqlite3.Error, path: str) -> StoreOutage | None:
    """The outage that an error of SQLite is; None where it is no outage."""
    extended: int = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_OK)
    code = extended & 0xFF
    if code in _BUSY:
        return StoreBusy(path)
    if code == sqlite3.SQLITE_FULL or extended in _FULL:
        return StoreFull(path)
    if code == sqlite3.SQLITE_READONLY:
        return StoreReadOnly(path)
    if code == sqlite3.SQLITE_NOTADB:
        return StoreUnreadable(path, Unreadable.NO_DATABASE, str(error))
    if code == sqlite3.SQLITE_CORRUPT:
        return StoreUnreadable(path, Unreadable.DAMAGED, str(error))
    if code in _NO_REACH:
        return StoreUnreadable(path, Unreadable.OUT_OF_REACH, str(error))
    return None


@contextmanager
def translated(path: str) -> Iterator[None]:
    """Raise the outage for an error of SQLite; for anything else, what it is."""
    try:
        yield
    except sqlite3.Error as error:
        found = outage(error, path)
        if found is None:
            raise
        raise found from error


@contextmanager
def translated_reading(path: str) -> Iterator[None]:
    """As `translated`, around nothing but reading: whatever does not make sense there is damage."""
    try:
        yield
    except _OWN_FAULT:
        raise
    except sqlite3.Error as error:
        damaged = StoreUnreadable(path, Unreadable.DAMAGED, str(error))
        raise outage(error, path) or damaged from error
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise StoreUnreadable(path, Unreadable.DAMAGED, _first_line(error)) from error


def _first_line(error: Exception) -> str:
    said = str(error).partition("\n")[0]
    return said or type(error).__name__


@contextmanager
def translated_files(path: str) -> Iterator[None]:
    """Raise the outage for what the system says of a file or directory."""
    try:
        yield
    except OSError as error:
        raise _outage_of_files(error, path) from error
    except ValueError as error:  # a path with a NUL character
        raise StoreUnreadable(path, Unreadable.OUT_OF_REACH, str(error)) from error


def _outage_of_files(error: OSError, path: str) -> StoreOutage:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return StoreFull(path)
    if error.errno in (errno.EROFS, errno.EACCES, errno.EPERM):
        return StoreReadOnly(path)
    if error.errno in (errno.ENOENT, errno.ENOTDIR):
        return StoreMissing(path)
    return StoreUnreadable(path, Unreadable.OUT_OF_REACH, os.strerror(error.errno or errno.EIO))
