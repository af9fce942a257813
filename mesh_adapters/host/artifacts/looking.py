"""Looks whether a tree is on the disk as it was put there.

Only what the artifact brought is looked at; what else is in its directories is somebody's. A file whose bytes
were seen before is not read again as long as its inode, size and both of its times are what they were then:
whoever changes a file cannot set its ctime. One that changed just before it was looked at may change again
within the same tick of the clock, so that one is read the next time too.
"""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Callable, Iterator

from attrs import frozen

from mesh_adapters.host.artifacts.listing import Item, Record
from mesh_adapters.host.artifacts.records import Seen
from mesh_adapters.host.files import sha256_of

ROOT_MODE = 0o755
"""The mode of the directory that a tree is."""
_FRESH = 2_000_000_000
"""Nanoseconds for which a change is too new for its times to tell it from the next."""


@frozen(kw_only=True)
class Looked:
    """What of a tree is not as it was put there, by path (`.` is its own directory); and what was seen now.

    `read` is how many files were read for that.
    """

    differing: tuple[str, ...]
    seen: Seen
    read: int


def look_at(place: str, record: Record, seen: Seen, alive: Callable[[], None]) -> Looked:
    """Look at every item of a record under `place`. Raises `OSError` where that cannot be done."""
    looking = _Looking(place, record.owner, seen, alive)
    differing = tuple(looking.differing(record.items))
    return Looked(differing=differing, seen=looking.now, read=looking.read)


def is_as_put(place: str, item: Item, owner: int | None, seen: Seen) -> bool:
    """Whether one item is as it was put there. Raises `OSError`."""
    looking = _Looking(place, owner, seen, lambda: None)
    return not [*looking.differing_items((item,))]


def signature(sha256: str, status: os.stat_result) -> tuple[str, int, int, int, int]:
    """What tells that a file was not changed since."""
    return sha256, status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


class _Looking:
    def __init__(self, place: str, owner: int | None, seen: Seen, alive: Callable[[], None]) -> None:
        self._place = place
        self._owner = owner
        self._seen = seen
        self._alive = alive
        self._recent = time.time_ns() - _FRESH
        self.now: Seen = {}
        self.read = 0

    def differing(self, items: tuple[Item, ...]) -> Iterator[str]:
        root = os.lstat(self._place)
        if not self._has_rights(root, ROOT_MODE, stat.S_IFDIR):
            yield "."
        yield from self.differing_items(items)

    def differing_items(self, items: tuple[Item, ...]) -> Iterator[str]:
        for item in items:
            try:
                status = os.lstat(f"{self._place}/{item.path}")
                if not self._is_so(item, status):
                    yield item.path
            except (FileNotFoundError, NotADirectoryError):
                yield item.path

    def _is_so(self, item: Item, status: os.stat_result) -> bool:
        if item.is_directory:
            return self._has_rights(status, item.mode, stat.S_IFDIR)
        # Its rights last: a file that only they differ of is still one whose bytes are known.
        so = status.st_size == item.size and stat.S_ISREG(status.st_mode) and self._has_bytes(item, status)
        return so and self._has_rights(status, item.mode, stat.S_IFREG)

    def _has_bytes(self, item: Item, status: os.stat_result) -> bool:
        known = self._seen.get(item.path)
        if known is not None and known == signature(known[0], status):
            self.now[item.path] = known
            return known[0] == item.sha256
        self._alive()
        self.read += 1
        found = sha256_of(f"{self._place}/{item.path}", status.st_size)
        if status.st_ctime_ns < self._recent and status.st_mtime_ns < self._recent:
            self.now[item.path] = signature(found, status)
        return found == item.sha256

    def _has_rights(self, status: os.stat_result, mode: int, type_: int) -> bool:
        if stat.S_IFMT(status.st_mode) != type_ or stat.S_IMODE(status.st_mode) != mode:
            return False
        return self._owner is None or (status.st_uid, status.st_gid) == (self._owner, self._owner)
