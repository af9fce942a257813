"""The journal: what the host owns on this machine, and what was there before it (design, part 8).

An SQLite file, since it keeps what was committed through a crash; `synchronous` is FULL. Intent comes
before the act: `intend` is committed before anything is touched, `confirm` after it lasts. A journal that is
damaged, or missing on a machine that had one, never reads as "owns nothing": opening it raises.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import reduce
from operator import xor
from pathlib import Path
from typing import Any, TypeVar

from attrs import frozen

from mesh_adapters.host.files import sync_directory
from mesh_adapters.host.steps import Step, no_step
from mesh_core import Resource
from mesh_core.canonical import canonical_json
from mesh_core.model.resource import RESERVED_KEYS
from mesh_core.reconcile import Owned, State, Taken
from mesh_core.wire.data import resource_to_data

_Read = TypeVar("_Read")

APPLICATION_ID = 0x4D486F73
"""What tells our file from another program's."""
KNOWN = 1
"""The newest form of the file that this program knows."""

_TABLES = """
CREATE TABLE owned (
    identity TEXT NOT NULL PRIMARY KEY,
    kind TEXT NOT NULL,
    position INTEGER NOT NULL,
    before TEXT,
    left TEXT,
    intended TEXT,
    in_flight INTEGER NOT NULL,
    brought INTEGER NOT NULL,
    stale INTEGER NOT NULL,
    digest TEXT NOT NULL,
    -- Last: it can be large, and is not read where only the state matters.
    resource TEXT NOT NULL,
    resource_digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- Bytes of files that were there before, by their SHA-256.
CREATE TABLE kept (sha256 TEXT NOT NULL PRIMARY KEY, content BLOB NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE facts (
    name TEXT NOT NULL PRIMARY KEY, value TEXT NOT NULL, digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;
-- Of each table, the digests of all its rows in one (exclusive or): a row that is lost is noticed too.
CREATE TABLE sums (name TEXT NOT NULL PRIMARY KEY, sum TEXT NOT NULL) STRICT, WITHOUT ROWID;
INSERT INTO sums VALUES ('owned', '0'), ('facts', '0');
"""
_STATE = "identity, kind, position, before, left, intended, in_flight, brought, stale, digest"
_COLUMNS = f"{_STATE}, resource, resource_digest"
_OF_STATE = 9
"""Where in a row of these its digest is."""


class JournalError(Exception):
    """The journal cannot be used, and so nothing may be done: the reason, and what would help."""


class JournalBusy(JournalError):
    """Another run of the host holds it."""


@frozen(kw_only=True)
class Entry:
    """What is owned, and the resource as it was declared last (or as it was brought)."""

    owned: Owned
    resource: Resource


class Journal:
    """The journal in a directory. One process has it open at a time."""

    def __init__(self, directory: Path, connection: sqlite3.Connection, lock: int, step: Step) -> None:
        self.directory = directory
        self._db = connection
        self._lock = lock
        self._step = step

    @classmethod
    def open(cls, directory: Path, step: Step = no_step) -> Journal:
        """The journal there; a new one where there never was one. Raises `JournalError`."""
        try:
            directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            lock = locked(directory / "lock")
        except OSError as error:
            raise JournalError(f"{directory}: {error.strerror}; nothing was changed") from None
        try:
            return cls(directory, _connected(directory, step), lock, step)
        except BaseException as error:
            os.close(lock)
            if isinstance(error, (*_NOT_AS_WRITTEN, OSError)):
                raise _not_usable(directory, error) from error
            raise

    @classmethod
    def exists(cls, directory: Path) -> bool:
        """Whether a machine has had a journal there."""
        return (directory / "journal.db").exists() or (directory / "began").exists()

    def close(self) -> None:
        """Let go of it."""
        self._db.close()
        os.close(self._lock)

    def entries(self) -> tuple[Entry, ...]:
        """Everything owned, by identity. Raises `JournalError` where a row is not as it was written."""
        return tuple(self._rows(_COLUMNS, _entry))

    def entries_of(self, identities: Iterable[str]) -> tuple[Entry, ...]:
        """As `entries`, only those. Raises `JournalError`."""
        wanted = set(identities)
        return tuple(entry for entry in self.entries() if entry.owned.identity in wanted)

    def owned(self) -> tuple[Owned, ...]:
        """As `entries`, without the resources: much less is read. Raises `JournalError`."""
        return tuple(self._rows(_STATE, _owned))

    def owns(self, identity: str) -> bool:
        """Whether anything of that identity is owned, in flight or not."""
        with self._usable():
            return bool(self._db.execute("SELECT 1 FROM owned WHERE identity = ?", (identity,)).fetchone())

    def left(self) -> dict[str, tuple[str, State | None]] | None:
        """The kind and state, by identity, of everything that is owned for its own sake and was left so.

        None where something is in flight or stale. The quickest look: no row is checked, as nothing is done
        to what is as a row says, and everything is checked before something is done to what is not.
        """
        with self._usable():
            unsettled = self._db.execute("SELECT 1 FROM owned WHERE in_flight OR stale LIMIT 1").fetchone()
            rows = self._db.execute("SELECT identity, kind, left FROM owned WHERE NOT brought").fetchall()
            states = json.loads(f"[{','.join(row[2] or 'null' for row in rows)}]", object_pairs_hook=tuple)
            left = [None if facts is None else State(facts=facts) for facts in states]
        if unsettled is not None or len(left) != len(rows):
            return None
        return {row[0]: (row[1], state) for row, state in zip(rows, left, strict=True)}

    def _rows(self, columns: str, read: Callable[[tuple[Any, ...]], _Read]) -> list[_Read]:
        with self._usable():
            rows = self._db.execute(f"SELECT {columns} FROM owned ORDER BY identity").fetchall()
            _check_sum(self._db, "owned", [row[_OF_STATE] for row in rows])
            return [read(row) for row in rows]

    def taken(self) -> Taken | None:
        """The declaration that was taken last."""
        found = self.fact("taken")
        return None if found is None else Taken(**found)

    def fact(self, name: str) -> Any:
        """One of the things that are remembered by name, as plain data; None where it is not."""
        with self._usable():
            row = self._db.execute("SELECT name, value, digest FROM facts WHERE name = ?", (name,)).fetchone()
            return None if row is None else _fact(row)

    def remember(self, **facts: Any) -> None:
        """Remember things by name, as plain data."""
        with self._writing("remembered"):
            self._put_facts(facts)

    def check(self) -> None:
        """Look at the whole file, before anything is done that has to be written down.

        Raises `JournalError`.
        """
        with self._usable():
            said = self._db.execute("PRAGMA quick_check(1)").fetchone()[0]
            if said != "ok":
                raise ValueError(said)

    def intend(self, entries: Iterable[Entry], kept: Iterable[bytes] = (), **facts: Any) -> None:
        """Before an act: what is owned from now on, with the bytes that were there before.

        `kept` is used up before `entries` is begun, and one of its items is held at a time.
        """
        with self._writing("intended"):
            self._db.executemany(
                "INSERT OR REPLACE INTO kept VALUES (?, ?)",
                ((hashlib.sha256(content).hexdigest(), content) for content in kept),
            )
            self._put_entries(entries)
            self._put_facts(facts)

    def confirm(self, entries: Iterable[Entry] = (), gone: Iterable[str] = (), **facts: Any) -> None:
        """After an act, once it lasts: what is so now, and what is owned no more."""
        with self._writing("confirmed"):
            self._put_entries(entries)
            going = list(gone)
            self._add("owned", going, ())
            self._db.executemany("DELETE FROM owned WHERE identity = ?", [(name,) for name in going])
            self._put_facts(facts)

    def kept(self, sha256: str) -> bytes:
        """The bytes of a file that was there before. Raises `JournalError` where they are not the same."""
        with self._usable():
            row = self._db.execute("SELECT content FROM kept WHERE sha256 = ?", (sha256,)).fetchone()
            if row is None or hashlib.sha256(row[0]).hexdigest() != sha256:
                raise ValueError(f"the bytes {sha256[:12]} are not there")
        content: bytes = row[0]
        return content

    def drop_unneeded(self) -> None:
        """Forget bytes that nothing refers to any more."""
        with self._writing("dropped"):
            self._db.execute(
                "DELETE FROM kept WHERE sha256 NOT IN (SELECT json_extract(before, '$.sha256') FROM owned"
                " WHERE json_extract(before, '$.sha256') IS NOT NULL)"
            )

    @contextmanager
    def _usable(self) -> Iterator[None]:
        """What SQLite says, and what is not as it was written, as `JournalError`."""
        try:
            yield
        except _NOT_AS_WRITTEN as error:
            raise _not_usable(self.directory, error) from error

    @contextmanager
    def _writing(self, what: str) -> Iterator[None]:
        self._step(f"before {what}")
        try:
            self._db.execute("BEGIN IMMEDIATE")
            self._step(f"begun {what}")
            yield
            self._step(f"written {what}")
            self._db.execute("COMMIT")
        except BaseException as error:
            with suppress(sqlite3.Error):
                self._db.execute("ROLLBACK")
            if isinstance(error, sqlite3.Error):
                raise _not_usable(self.directory, error) from error
            raise
        self._step(f"after {what}")

    def _put_entries(self, entries: Iterable[Entry]) -> None:
        rows = [_row(entry) for entry in entries]
        self._add("owned", [row[0] for row in rows], [row[_OF_STATE] for row in rows])
        marks = ", ".join("?" * len(_COLUMNS.split(",")))
        self._db.executemany(f"INSERT OR REPLACE INTO owned ({_COLUMNS}) VALUES ({marks})", rows)

    def _put_facts(self, facts: dict[str, Any]) -> None:
        written = [(name, canonical_json(value)) for name, value in facts.items()]
        rows = [(*row, _digest(row)) for row in written]
        self._add("facts", facts, [row[-1] for row in rows])
        self._db.executemany("INSERT OR REPLACE INTO facts VALUES (?, ?, ?)", rows)

    def _add(self, table: str, keys: Iterable[str], coming: Iterable[str]) -> None:
        """Put digests in the sum of a table, and take those out that stand under the keys."""
        key = {"owned": "identity", "facts": "name"}[table]
        query = f"SELECT digest FROM {table} WHERE {key} = ?"
        found = [self._db.execute(query, (name,)).fetchone() for name in keys]
        changed = _summed([_sum_of(self._db, table), *(row[0] for row in found if row), *coming])
        self._db.execute("UPDATE sums SET sum = ? WHERE name = ?", (changed, table))


_NOT_AS_WRITTEN = (sqlite3.Error, ValueError, LookupError, TypeError, AttributeError)


def locked(path: Path) -> int:
    """Hold the lock, as a descriptor to close. Raises `OSError`, and `JournalBusy` where somebody has it."""
    lock = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(lock)
        raise JournalBusy(
            f"another mesh-host is at work here ({path.parent}); try again when it is done"
        ) from None
    return lock


def _connected(directory: Path, step: Step) -> sqlite3.Connection:
    path, began = directory / "journal.db", directory / "began"
    new = not path.exists()
    if new and began.exists():
        raise JournalError(damaged(directory, "journal.db is missing"))
    db = sqlite3.connect(path, isolation_level=None, timeout=5)
    step("journal opened")
    try:
        # Before anything is set, since that may change the file, and it may be somebody else's.
        check_form(db, directory, fresh=new or not began.exists())
        step("journal formed")
        db.execute("PRAGMA journal_mode = WAL")
        db.execute("PRAGMA synchronous = FULL")
    except BaseException:
        db.close()
        raise
    step("journal there")
    if not began.exists():
        began.touch(mode=0o600)
        step("journal marked")
        sync_directory(directory)
        sync_directory(directory.parent)
        step("journal began")
    return db


def check_form(db: sqlite3.Connection, directory: Path, *, fresh: bool) -> None:
    """Make the tables where the file is new (or was never finished); refuse what is not ours."""
    application = db.execute("PRAGMA application_id").fetchone()[0]
    version = db.execute("PRAGMA user_version").fetchone()[0]
    tables = db.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
    if fresh and not tables:
        db.executescript(
            f"BEGIN IMMEDIATE; {_TABLES}"
            f"PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = {KNOWN}; COMMIT;"
        )
    elif application != APPLICATION_ID:
        raise ValueError("journal.db is no journal of a host")
    elif version > KNOWN:
        newer = f"{directory}/journal.db is of a newer mesh-host (form {version}, this one knows {KNOWN})"
        raise JournalError(f"{newer}; nothing was changed. Use the newer program")
    rows = db.execute("SELECT name, value, digest FROM facts").fetchall()
    for row in rows:
        _fact(row)
    _check_sum(db, "facts", [row[-1] for row in rows])


def _not_usable(directory: Path, error: BaseException) -> JournalError:
    code = getattr(error, "sqlite_errorcode", 0) & 0xFF
    if code in (sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_BUSY):
        why = f"the journal in {directory} cannot be written ({error})"
        return JournalError(
            f"{why}. Nothing is done that is not written there first; try again when it can be"
        )
    return JournalError(damaged(directory, str(error)))


def damaged(directory: Path, why: str) -> str:
    """That a journal cannot be read, and what would do."""
    return (
        f"the journal in {directory} cannot be read ({why}). What this machine owns is not known, so nothing "
        "was changed. Put a copy of the directory back, or start anew with mesh-host forget --everything"
    )


def _sum_of(db: sqlite3.Connection, table: str) -> str:
    row = db.execute("SELECT sum FROM sums WHERE name = ?", (table,)).fetchone()
    if row is None:
        raise ValueError(f"the sum of {table} is missing")
    found: str = row[0]
    return found


def _check_sum(db: sqlite3.Connection, table: str, digests: Iterable[str]) -> None:
    if _summed(digests) != _sum_of(db, table):
        raise ValueError(f"the rows of {table} are not those that were written")


def _summed(digests: Iterable[str]) -> str:
    return f"{reduce(xor, (int(digest, 16) for digest in digests), 0):x}"


def _fact(row: tuple[str, str, str]) -> Any:
    name, value, digest = row
    if _digest((name, value)) != digest:
        raise ValueError(f"{name} is not as it was written")
    return json.loads(value)


def _row(entry: Entry) -> tuple[Any, ...]:
    owned = entry.owned
    state = (
        owned.identity,
        owned.kind,
        owned.position,
        _written(owned.before),
        _written(owned.left),
        _written(owned.intended),
        int(owned.in_flight),
        int(owned.brought),
        int(owned.stale),
    )
    resource = canonical_json(resource_to_data(entry.resource))
    return (*state, _digest(state), resource, _digest(resource))


def _entry(row: tuple[Any, ...]) -> Entry:
    *state, resource, digest = row
    owned = _owned(tuple(state))
    if _digest(resource) != digest:
        raise ValueError(f"the resource of {owned.identity} is not as it was written")
    return Entry(owned=owned, resource=resource_from_data(json.loads(resource)))


def _owned(row: tuple[Any, ...]) -> Owned:
    *state, digest = row
    identity, kind, position, before, left, intended, in_flight, brought, stale = state
    if _digest(tuple(state)) != digest:
        raise ValueError(f"the entry of {identity} is not as it was written")
    return Owned(
        identity=identity,
        kind=kind,
        position=position,
        before=_read(before),
        left=_read(left),
        intended=_read(intended),
        in_flight=bool(in_flight),
        brought=bool(brought),
        stale=bool(stale),
    )


def resource_from_data(data: dict[str, Any]) -> Resource:
    """A resource as `resource_to_data` gives it."""
    attributes = {key: value for key, value in data.items() if key not in RESERVED_KEYS}
    return Resource(
        kind=data["kind"], path=data.get("path"), name=data.get("name"), attributes_json=attributes
    )


def _digest(content: str | tuple[Any, ...]) -> str:
    text = content if isinstance(content, str) else repr(content)
    return hashlib.sha256(text.encode()).hexdigest()


def _written(state: State | None) -> str | None:
    return None if state is None else canonical_json(state.as_data())


def _read(text: str | None) -> State | None:
    return None if text is None else State(facts=json.loads(text))
