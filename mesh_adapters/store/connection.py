"""One open SQLite file: how it is opened, and the two kinds of transaction that there are on it.

Every read and every write of the store goes through `Connection.reading` or `Connection.writing`;
outside the latter the connection refuses to write.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlite_utils import Database

from mesh_adapters.store import schema
from mesh_adapters.store.files import is_changeable, is_settled, refuse_what_is_no_file
from mesh_adapters.store.outages import translated, translated_reading
from mesh_core.ports import StoreReadOnly, StoreTooNew, StoreUnreadable, Unreadable

PATIENCE = 5.0
"""How many seconds one waits for another command that is writing."""


class Connection:
    """An open database that is a store, of a schema that this program knows."""

    def __init__(self, path: str, db: Database, *, settled: bool) -> None:
        self.path = path
        self.db = db
        self._settled = settled

    @contextmanager
    def reading(self) -> Iterator[Database]:
        """A transaction that sees one moment. Raises outages, and reads any nonsense as damage."""
        self._refuse_nesting()
        with translated_reading(self.path), self.db.atomic():
            self._refuse_another_schema()
            yield self.db

    @contextmanager
    def writing(self) -> Iterator[Database]:
        """The one transaction that writes: `BEGIN IMMEDIATE`, one commit, or nothing of it.

        Immediate, because one that reads first and writes later is refused at once, without
        waiting, when somebody else wrote in between.
        """
        self._refuse_nesting()
        if self._settled:
            raise StoreReadOnly(self.path)
        try:
            with translated(self.path):
                self._make_writable()
                with _immediate(self.db):
                    self._refuse_what_has_changed()
                    yield self.db
        finally:
            self.db.execute("PRAGMA query_only = ON")

    @property
    def in_transaction(self) -> bool:
        """Whether a transaction is open; SQLite may end one by itself (a full disk)."""
        return self.db.conn.in_transaction

    def close(self) -> None:
        """Close it; what was not committed is gone."""
        self.db.close()

    def _make_writable(self) -> None:
        self.db.execute("PRAGMA query_only = OFF")
        if _pragma(self.db.conn, "journal_mode = WAL") != "wal":
            why = "the disk takes no write-ahead log"
            raise StoreUnreadable(self.path, Unreadable.OUT_OF_REACH, why)

    def _refuse_what_has_changed(self) -> None:
        self._refuse_another_schema()
        # On a file that cannot be written BEGIN IMMEDIATE succeeds, and the first statement fails.
        self.db.execute("DELETE FROM nodes WHERE 0")

    def _refuse_nesting(self) -> None:
        if self.in_transaction:
            raise RuntimeError("a transaction of this store is open: ask its session")

    def _refuse_another_schema(self) -> None:
        """A newer program may have come by since we opened the file."""
        found = _version(self.db.conn, self.path)
        if found != schema.KNOWN:
            raise StoreUnreadable(self.path, Unreadable.DAMAGED, f"schema {found}")


def lay_down(temporary: str, path: str) -> None:
    """Make an empty file a store, whole, with nothing beside it; it is to stand at `path`."""
    with translated(path), closing(_database(temporary, "rw", PATIENCE)) as db:
        db.enable_wal()
        _update(db, path)


def connect(path: str, patience: float) -> Connection:
    """Open a store, and bring an older schema up to date. Raises outages; see `mesh_core.ports`."""
    refuse_what_is_no_file(path)
    _refuse_what_is_no_store(path)
    settled = is_settled(path)
    try:
        return _connect(path, patience, settled=settled)
    except StoreUnreadable as error:
        # A log that has to be gone through first, in a directory where that cannot be done.
        if error.why is Unreadable.OUT_OF_REACH and not is_changeable(path):
            raise StoreReadOnly(path) from error
        raise


def _connect(path: str, patience: float, *, settled: bool) -> Connection:
    # Opened for writing where that can be, even to read: the last one to close such a file leaves
    # nothing beside it, and one that was opened for reading only does.
    with translated_reading(path):
        db = _database(path, "ro&immutable=1" if settled else "rw", patience)
    try:
        with translated_reading(path):
            version = _version(db.conn, path)
        if version == 0:
            raise StoreUnreadable(path, Unreadable.DAMAGED, "it has no schema")
        if version < schema.KNOWN:
            with translated(path):
                _update_what_is_there(db, path)
        db.execute("PRAGMA query_only = ON")
    except BaseException:
        db.close()
        raise
    return Connection(path, db, settled=settled)


def _update(db: Database, path: str) -> None:
    with _immediate(db):
        _version(db.conn, path)  # whoever kept us waiting may have been a newer program
        schema.bring_up_to_date(db)


def _update_what_is_there(db: Database, path: str) -> None:
    """As `_update`; rows that the newer schema does not take are no rows that we wrote."""
    try:
        _update(db, path)
    except sqlite3.IntegrityError as error:
        raise StoreUnreadable(path, Unreadable.DAMAGED, str(error)) from error


@contextmanager
def _immediate(db: Database) -> Iterator[None]:
    """The one helper that begins to write: everything within is one commit, or nothing.

    `db.atomic()`, ours or that of sqlite-utils, is a savepoint in here, and never a commit.
    """
    db.execute("BEGIN IMMEDIATE")
    try:
        yield
        if not db.conn.in_transaction:
            raise RuntimeError("an outage ended this transaction, and was not let through")
        db.commit()
    finally:
        db.rollback()


def _refuse_what_is_no_store(path: str) -> None:
    """Look at the first page, as of a file that nobody changes: nothing is locked, made or changed.

    So a file of somebody else stays as it is, down to what lies beside it, and of a newer schema
    nothing but its number is read. A page that another process is just writing proves nothing.
    """
    with translated(path), closing(_raw(path, "ro&immutable=1", PATIENCE)) as conn:
        try:
            application = _pragma(conn, "application_id")
        except sqlite3.DatabaseError as error:
            if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOTADB:
                raise
            return
        if application != schema.APPLICATION_ID:
            raise StoreUnreadable(path, Unreadable.NO_STORE, "a database of another program")
        _version(conn, path)


def _version(conn: sqlite3.Connection, path: str) -> int:
    found = int(_pragma(conn, "user_version"))
    if found > schema.KNOWN:
        raise StoreTooNew(path, found, schema.KNOWN)
    return found


def _database(path: str, mode: str, patience: float) -> Database:
    conn = _raw(path, mode, patience)
    try:
        _settle(conn, patience)
        # Plugins of sqlite-utils are the user's, for another program.
        return Database(conn, execute_plugins=False)
    except BaseException:
        conn.close()
        raise


def _settle(conn: sqlite3.Connection, patience: float) -> None:
    """Set what holds for a connection, not for the file: foreign keys first, in no transaction."""
    wanted = {"foreign_keys": 1, "synchronous": 2, "busy_timeout": int(patience * 1000)}
    for name, value in wanted.items():
        conn.execute(f"PRAGMA {name} = {value}")
        found = _pragma(conn, name)
        if found != value:
            raise RuntimeError(f"SQLite did not take {name} = {value}: it is {found}")


def _raw(path: str, mode: str, patience: float) -> sqlite3.Connection:
    # No implicit transactions: each is begun by name, in `Connection`.
    uri = f"{Path(path).absolute().as_uri()}?mode={mode}"
    return sqlite3.connect(uri, uri=True, isolation_level=None, timeout=patience)


def _pragma(conn: sqlite3.Connection, name: str) -> str | int:
    row: tuple[str | int] = conn.execute(f"PRAGMA {name}").fetchone()
    return row[0]
