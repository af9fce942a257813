"""Looking at a journal without opening it for work: nothing is made, locked for long, or changed on the disk.

What was looked at is a copy in memory, taken in one piece. So a question may be asked while a run is at work,
and a dry run on a machine that never had a journal leaves no trace.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from mesh_adapters.host.journal import Journal, JournalError, check_form, damaged
from mesh_adapters.host.steps import no_step


def peek(directory: Path) -> Journal:
    """The journal there as it is now, in memory; an empty one where there never was one.

    Raises `JournalError`. What is written to it is written nowhere.
    """
    memory = sqlite3.connect(":memory:", isolation_level=None)
    try:
        there = _is_there(directory)
        if there:
            with _readable(directory) as source:
                source.backup(memory)
        check_form(memory, directory, fresh=not there)
        return Journal(directory, memory, os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), no_step)
    except PermissionError as error:
        memory.close()
        why = f"{error.filename or directory}: {error.strerror}"
        raise JournalError(f"the journal cannot be read ({why}); it belongs to root") from None
    except (sqlite3.Error, OSError, ValueError) as error:
        memory.close()
        raise JournalError(damaged(directory, str(error))) from error
    except BaseException:
        memory.close()
        raise


def _is_there(directory: Path) -> bool:
    if not Journal.exists(directory):
        return False
    if not (directory / "journal.db").exists():
        raise ValueError("journal.db is missing")
    return True


@contextmanager
def _readable(directory: Path) -> Iterator[sqlite3.Connection]:
    """A connection that leaves nothing behind beside the file.

    While somebody is at work they keep SQLite's own files there, and it reads beside them. Otherwise what a
    killed run left in the log is read from a copy, since to read it in place is to change it.
    """
    path = directory / "journal.db"
    with _held(directory / "lock") as alone, tempfile.TemporaryDirectory(prefix="mesh-host-") as folder:
        log = directory / "journal.db-wal"
        if not alone:
            uri = f"{path.as_uri()}?mode=ro"
        elif log.exists() and log.stat().st_size:
            for place in (path, log):
                shutil.copyfile(place, Path(folder) / place.name)
            uri = f"{(Path(folder) / path.name).as_uri()}?mode=rw"
        else:
            os.close(os.open(path, os.O_RDONLY | os.O_CLOEXEC))  # says why, where it may not be read
            uri = f"{path.as_uri()}?mode=ro&immutable=1"
        source = sqlite3.connect(uri, uri=True, isolation_level=None, timeout=5)
        try:
            yield source
        finally:
            source.close()


@contextmanager
def _held(lock: Path) -> Iterator[bool]:
    """Keep a run from beginning, for the moment that it takes; whether none is at work."""
    try:
        descriptor = os.open(lock, os.O_RDONLY | os.O_CLOEXEC)
    except FileNotFoundError:
        yield True
        return
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
            alone = True
        except BlockingIOError:
            alone = False
        yield alone
    finally:
        os.close(descriptor)
