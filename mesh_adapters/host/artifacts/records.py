"""What the host remembers of the tree at a path, in a directory of its own under its state directory.

    now    the record of the tree that is there
    next   the record of the one that is being put there: as long as it is, a run has not come to its end
    carried  what of a person's was put into the next tree too, before the trees were exchanged
    seen   which files were looked at, and by what one sees that they were not changed since: only to be quick

Each is written whole and lasts once it is written.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeAlias

from mesh_adapters.host.artifacts.listing import (
    Record,
    record_from_bytes,
    record_to_bytes,
    sealed,
    unsealed,
)
from mesh_adapters.host.artifacts.whole_trees import remove_all
from mesh_adapters.host.files import sync_directory

Seen: TypeAlias = dict[str, tuple[str, int, int, int, int]]
"""By path inside of the tree: SHA-256, size, mtime and ctime in nanoseconds, and inode, as they were once."""

Carried: TypeAlias = dict[str, int]
"""By path inside of the tree: the inode that is in both trees; of a directory 0."""

_PLACE = "trees"


class Records:
    """The records of one path. Raises `OSError`."""

    def __init__(self, state: Path, path: str) -> None:
        # A path can be longer than a name may be.
        self._folder = state / _PLACE / hashlib.sha256(os.fsencode(path)).hexdigest()[:32]

    @property
    def unfinished(self) -> bool:
        """Whether a run was putting a tree there, and did not come to its end."""
        return (self._folder / "next").exists()

    def now(self) -> Record | None:
        """Which tree is there; None where that is not known, or not any more."""
        return self._record("now")

    def next(self) -> Record | None:
        """Which tree is being put there."""
        return self._record("next")

    def put_now(self, record: Record) -> None:
        """That this tree is there."""
        self._put("now", record_to_bytes(record))

    def put_next(self, record: Record) -> None:
        """That this tree is going to be there; nothing is carried over to it yet."""
        with suppress(FileNotFoundError):
            (self._folder / "carried").unlink()
        self._put("next", record_to_bytes(record))

    def promote(self) -> None:
        """That what was to be there is there."""
        os.rename(self._folder / "next", self._folder / "now")
        with suppress(FileNotFoundError):
            (self._folder / "carried").unlink()
        sync_directory(self._folder)

    def drop_next(self) -> None:
        """That nothing is being put there any more."""
        self._drop("next")
        with suppress(FileNotFoundError):
            (self._folder / "carried").unlink()
        if not (self._folder / "now").exists():
            remove_all(self._folder)

    def put_carried(self, carried: Carried) -> None:
        """What is in both trees now."""
        self._put("carried", sealed(carried))

    def carried(self) -> Carried:
        """What was in both trees before they were exchanged."""
        content = self._read("carried")
        data: Any = None if content is None else unsealed(content)
        return dict(data) if isinstance(data, dict) else {}

    def drop(self) -> None:
        """That nothing of the mesh is there."""
        if self._folder.is_dir():
            self._drop("now")  # first, and so that it lasts: the others mean nothing without it
            remove_all(self._folder)

    def seen(self) -> Seen:
        """What was looked at; nothing where that is not known."""
        content = self._read("seen")
        data: Any = None if content is None else unsealed(content)
        return {path: tuple(one) for path, one in data.items()} if isinstance(data, dict) else {}

    def put_seen(self, seen: Seen) -> None:
        """What was looked at."""
        self._put("seen", sealed(seen), lasting=False)

    def _record(self, name: str) -> Record | None:
        content = self._read(name)
        return None if content is None else record_from_bytes(content)

    def _read(self, name: str) -> bytes | None:
        try:
            return (self._folder / name).read_bytes()
        except FileNotFoundError:
            return None

    def _put(self, name: str, content: bytes, *, lasting: bool = True) -> None:
        if not self._folder.is_dir():
            self._folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._folder.mkdir(mode=0o700, exist_ok=True)
            sync_directory(self._folder.parent)
            sync_directory(self._folder.parent.parent)
        # Of one name for each, so that what a killed run began to write is written over.
        temporary = self._folder / f"{name}.new"
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            if lasting:
                os.fsync(descriptor)
        os.rename(temporary, self._folder / name)
        if lasting:
            sync_directory(self._folder)

    def _drop(self, name: str) -> None:
        with suppress(FileNotFoundError):
            (self._folder / name).unlink()
        sync_directory(self._folder)


def drop_without_tree(state: Path, place_of: Any) -> None:
    """Forget trees whose path has nothing any more: somebody has taken them away, as far as that can be done.

    `place_of` says where a path of the machine is here.
    """
    with suppress(OSError):
        for folder in _folders(state):
            content = (folder / "now").read_bytes() if (folder / "now").exists() else b""
            record = record_from_bytes(content)
            if (folder / "next").exists():
                continue
            if record is None or not os.path.lexists(place_of(record.path)):
                remove_all(folder)


def _folders(state: Path) -> Iterator[Path]:
    if (state / _PLACE).is_dir():
        yield from list((state / _PLACE).iterdir())
