"""Writes a tree from its tar into a new directory, so that it lasts. Nothing that is there is ever opened."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Iterable
from typing import BinaryIO

from mesh_adapters.host.artifacts.limits import Limits
from mesh_adapters.host.artifacts.listing import Item
from mesh_adapters.host.artifacts.looking import ROOT_MODE, signature
from mesh_adapters.host.artifacts.records import Seen
from mesh_adapters.host.artifacts.tar import Member, entries

_TO_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


def unpack(
    file: BinaryIO,
    into: str,
    items: Iterable[Item],
    owner: int | None,
    limits: Limits,
    alive: Callable[[], None],
) -> Seen:
    """Make the directory `into`, and in it what the tar has: `items` are what `listing_of` found in it.

    Returns by what to see that the files were not changed since. Raises `ArtifactError` and `OSError`; what
    was made by then stays.
    """
    os.mkdir(into, 0o700)
    root = os.open(into, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        return _Unpacking(root, owner, alive).all(file, list(items), limits)
    finally:
        os.close(root)


class _Unpacking:
    def __init__(self, root: int, owner: int | None, alive: Callable[[], None]) -> None:
        self._root = root
        self._owner = owner
        self._alive = alive
        self._seen: Seen = {}

    def all(self, file: BinaryIO, items: list[Item], limits: Limits) -> Seen:
        directories = [item for item in items if item.is_directory]
        for item in directories:
            os.mkdir(item.path, 0o700, dir_fd=self._root)
        digests = {item.path: item.sha256 for item in items}
        times: dict[str, int] = {}
        for member, content in entries(file, limits):
            self._alive()
            if member.is_directory:
                times[member.path] = member.mtime
            else:
                self._write(member, content, digests[member.path])
        for item in reversed(directories):
            self._finish(item, times.get(item.path))
        self._give(self._root, ROOT_MODE)
        sync_all(self._root)
        return self._seen

    def _write(self, member: Member, content: Iterable[bytes], sha256: str) -> None:
        descriptor = os.open(member.path, _TO_WRITE, 0o600, dir_fd=self._root)
        with os.fdopen(descriptor, "wb") as file:
            for chunk in content:
                file.write(chunk)
            file.flush()
            self._give(descriptor, member.mode)
            os.utime(descriptor, (member.mtime, member.mtime))
            self._seen[member.path] = signature(sha256, os.fstat(descriptor))

    def _finish(self, item: Item, mtime: int | None) -> None:
        flags = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(item.path, flags, dir_fd=self._root)
        try:
            self._give(descriptor, item.mode)
            if mtime is not None:
                os.utime(descriptor, (mtime, mtime))
        finally:
            os.close(descriptor)

    def _give(self, descriptor: int, mode: int) -> None:
        if self._owner is not None:
            os.fchown(descriptor, self._owner, self._owner)
        os.fchmod(descriptor, mode)


def sync_all(descriptor: int) -> None:
    """Make everything on that file system last. One call for all: syncing each file costs thousands."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "syncfs"):
        os.sync()
    elif libc.syncfs(descriptor) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def sync_all_at(place: str) -> None:
    """As `sync_all`, of the file system that a directory is on."""
    descriptor = os.open(place, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        sync_all(descriptor)
    finally:
        os.close(descriptor)
