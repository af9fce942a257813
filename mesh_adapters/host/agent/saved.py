"""The declarations that the host keeps: the one that holds here, and one that came and is to be looked at.

What came is put beside the one that holds, and lasts there, before it is acknowledged; it takes the other's
place only once it was taken. So nothing that is refused ever replaces what the machine goes by. Two threads
use this.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from threading import Lock

from attrs import frozen

from mesh_adapters.host.files import sync_directory
from mesh_adapters.host.whole import write_whole
from mesh_core.reconcile import Taken
from mesh_core.wire.declaration import received
from mesh_core.wire.faults import WireError

HOLDS = "declaration.json"
CAME = "declaration-came.json"


@frozen(kw_only=True)
class _Kept:
    """One that is kept: the SHA-256 of its bytes, and what it is, as far as it can be read."""

    sha256: str
    taken: Taken | None


class Saved:
    """The declarations for `node` in the state directory. Raises `OSError` where they cannot be kept."""

    def __init__(self, directory: Path, node: str) -> None:
        self._node = node
        self._holding = directory / HOLDS
        self._coming = directory / CAME
        self._lock = Lock()
        self._held = _kept(_content(self._holding))
        self._came = _kept(_content(self._coming))

    def newest(self) -> Taken | None:
        """What is newest of what is kept: the one that came, else the one that holds."""
        with self._lock:
            kept = self._came if self._came is not None and self._came.taken is not None else self._held
            return None if kept is None else kept.taken

    def holding(self) -> Taken | None:
        """What holds here, where it can be read."""
        with self._lock:
            taken = None if self._held is None else self._held.taken
            return taken if taken is not None and taken.node == self._node else None

    def keep(self, content: bytes, taken: Taken) -> None:
        """Keep what came, in the place of what came before and was not looked at. It lasts from then on."""
        with self._lock:
            write_whole(self._coming, content)
            self._came = _Kept(sha256=_digest(content), taken=taken)

    @property
    def something_came(self) -> bool:
        """Whether there is one that was not looked at."""
        return self._came is not None

    def came(self) -> bytes | None:
        """The one that came and is to be looked at."""
        with self._lock:
            content = None if self._came is None else _content(self._coming)
            if content is None or self._came is None:
                self._came = None
            elif self._came.sha256 != _digest(content):  # it is not as it was written
                self._came = _kept(content)
            return content

    def holds(self) -> bytes | None:
        """The one that holds here. One that was for the node that this machine was before does not."""
        with self._lock:
            taken = None if self._held is None else self._held.taken
            other = taken is not None and taken.node != self._node
            return None if other else _content(self._holding)

    def settle(self, content: bytes) -> bool:
        """What was looked at is taken: from now on it holds, which is news or not.

        Something newer that came meanwhile stays.
        """
        digest = _digest(content)
        with self._lock:
            if self._came is not None and self._came.sha256 == digest:
                os.replace(self._coming, self._holding)
                self._held, self._came = self._came, None
                sync_directory(self._holding.parent)
                return True
            if self._held is not None and self._held.sha256 == digest:
                return False
            write_whole(self._holding, content)
            self._held = _kept(content)
            return True

    def drop(self, content: bytes) -> None:
        """What was looked at is refused: forget it, unless something newer is in its place."""
        with self._lock:
            if self._came is not None and self._came.sha256 == _digest(content):
                self._came = None
                with suppress(FileNotFoundError):
                    os.unlink(self._coming)
                sync_directory(self._coming.parent)


def _content(place: Path) -> bytes | None:
    try:
        return place.read_bytes()
    except FileNotFoundError:
        return None


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _kept(content: bytes | None) -> _Kept | None:
    if content is None:
        return None
    try:
        declaration, digest = received(content)
    except WireError:
        return _Kept(sha256=_digest(content), taken=None)
    taken = Taken(node=declaration.node, generation=declaration.generation, digest=digest)
    return _Kept(sha256=_digest(content), taken=taken)
