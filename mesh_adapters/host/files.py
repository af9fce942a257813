"""Files and directories on the machine: looked at without following links, written whole or not at all.

A new file is written beside its place (O_EXCL, O_NOFOLLOW), given its owner and mode, synced, and renamed;
its directory is synced by `Files.settle`, once for all that was renamed in it. A rename is atomic, and lasts
only when the directory was synced too. Of many files, all are written before the first is synced, so that
the file system commits them together: that costs half of syncing each as it is written.
"""

from __future__ import annotations

import errno
import hashlib
import os
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

from mesh_adapters.host.accounts import Accounts
from mesh_adapters.host.steps import Step, no_step

MOST_BYTES = 64 * 1024 * 1024
"""The largest file whose bytes are remembered, to be put back."""

_TEMPORARY = ".mesh-host-"
_LONGEST_NAME = 255
"""Bytes of a name in a directory."""
_CHUNK = 256 * 1024
_TO_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""No link is followed, and nobody waits for the other end of a pipe."""


class Found(NamedTuple):
    """What is at a path. `sha256` is that of a regular file's bytes; `target` a link's."""

    type: str
    mode: str
    owner: str
    group: str
    sha256: str | None = None
    target: str | None = None


class _Waiting(NamedTuple):
    path: str
    temporary: str


class Files:
    """The files under one root directory (`/`, or that of an image).

    A path is absolute, as on the machine. No operation leaves the root: a link on the way is followed inside
    of it, as the machine itself would. An owner or group of None is not given. Raises `OSError`.
    """

    def __init__(self, root: Path, step: Step = no_step) -> None:
        self.root = root
        self._step = step
        self._root = "" if root == Path("/") else str(root)
        self._renamed_in: set[str] = set()
        self._waiting: dict[str, _Waiting] = {}
        """What is written but has not got its name yet, by its place."""
        self._failed: dict[str, OSError] = {}
        self._accounts = Accounts()

    def place(self, path: str) -> str:
        """Where a path of the machine is here: links above it are followed, itself it may be one.

        For what does more than what is offered here, and keeps to what is said above by itself.
        """
        return self._at(path)

    def _at(self, path: str) -> str:
        folder, name = os.path.split(path)
        return f"{self._directory(folder)}/{name}"

    def _directory(self, path: str) -> str:
        return _inside(self._root, path) if self._root else path.rstrip("/")

    def look(self, path: str) -> Found | None:
        """What is at a path, links not followed; None where nothing is."""
        return _look(self._at(path), self._accounts)

    def look_all(self, paths: Iterable[str]) -> dict[str, Found | OSError | None]:
        """As `look`, of many: directories are followed, and names of users looked up, once for all."""
        directories: dict[str, str] = {}
        accounts = Accounts()
        found: dict[str, Found | OSError | None] = {}
        for path in paths:
            folder, _, name = path.rpartition("/")
            try:
                if folder not in directories:
                    directories[folder] = self._directory(folder)
                found[path] = _look(f"{directories[folder]}/{name}", accounts)
            except OSError as error:
                found[path] = error
        return found

    def is_there(self, path: str) -> bool:
        """Whether anything is at a path, links not followed: much quicker than to look at it."""
        return os.path.lexists(self._at(path))

    def read(self, path: str) -> bytes:
        """The bytes of a regular file of at most `MOST_BYTES`."""
        descriptor = os.open(self._at(path), os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as file:
            if os.fstat(descriptor).st_size > MOST_BYTES:
                raise OSError(27, f"larger than {MOST_BYTES} bytes", path)
            return file.read()

    def write(self, path: str, content: bytes, *, mode: str, owner: str | None, group: str | None) -> None:
        """Put a regular file there, whole, instead of a regular file or a link, or of nothing."""
        self.write_soon(path, content, mode=mode, owner=owner, group=group)
        self._put_in_place(self._at(path))
        if path in self._failed:
            raise self._failed.pop(path)

    def write_soon(
        self, path: str, content: bytes, *, mode: str, owner: str | None, group: str | None
    ) -> None:
        """As `write`, but it gets its name with others, in `settle`, which tells where that fails."""
        place = self._settled(path)
        temporary = _emptied(place)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o600)
        self._step(f"temporary {path}")
        with _undone_if_it_fails(temporary, os.unlink), os.fdopen(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            self._step(f"filled {path}")
            os.fchown(descriptor, *self._accounts.numbers(owner, group))
            os.fchmod(descriptor, int(mode, 8))
            # Its bytes are on their way to the disk from here on, while the next file is being written.
            os.posix_fadvise(descriptor, 0, 0, os.POSIX_FADV_DONTNEED)
            self._step(f"given {path}")
        self._waiting[place] = _Waiting(path, temporary)

    def _put_in_place(self, place: str) -> None:
        """Sync what waits for a place, and give it its name; where that fails, it is undone and noted."""
        waiting = self._waiting.pop(place, None)
        if waiting is None:
            return
        path, temporary = waiting
        try:
            with _undone_if_it_fails(temporary, os.unlink):
                _sync(temporary, os.O_NOFOLLOW)
                self._step(f"written {path}")
                self._rename(temporary, place, path)
        except OSError as error:
            self._failed[path] = error

    def _settled(self, path: str) -> str:
        """Where a path is here, once what waited for that place, by this path or another, is there."""
        place = self._at(path)
        self._put_in_place(place)
        return place

    def write_link(self, path: str, target: str, *, owner: str | None, group: str | None) -> None:
        """Put a symbolic link there, instead of a regular file or a link, or of nothing."""
        with self._replacing(path, lambda temporary: os.symlink(target, temporary), os.unlink) as temporary:
            os.lchown(temporary, *self._accounts.numbers(owner, group))
            self._step(f"given {path}")

    def make_directory(self, path: str, *, mode: str, owner: str | None, group: str | None) -> None:
        """Make a directory, with its owner and mode from the first moment on."""
        with self._replacing(path, lambda temporary: os.mkdir(temporary, 0o700), os.rmdir) as temporary:
            os.chown(temporary, *self._accounts.numbers(owner, group))
            os.chmod(temporary, int(mode, 8))
            self._step(f"given {path}")

    @contextmanager
    def _replacing(
        self, path: str, make: Callable[[str], None], undo: Callable[[str], None]
    ) -> Iterator[str]:
        """Make something beside a path, and give it its name in the end; where that fails, undo it."""
        place = self._settled(path)
        temporary = _emptied(place)
        make(temporary)
        self._step(f"temporary {path}")
        with _undone_if_it_fails(temporary, undo):
            yield temporary
            self._rename(temporary, place, path)

    def _rename(self, temporary: str, place: str, path: str) -> None:
        os.rename(temporary, place)
        self._renamed_in.add(os.path.dirname(place))
        self._step(f"renamed {path}")

    def set_owner_and_mode(self, path: str, *, mode: str, owner: str | None, group: str | None) -> None:
        """Change who owns what is there, and its mode; a link is not followed."""
        descriptor = os.open(self._settled(path), _TO_READ)
        try:
            os.fchown(descriptor, *self._accounts.numbers(owner, group))
            self._step(f"owned {path}")
            os.fchmod(descriptor, int(mode, 8))
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
        self._step(f"mode {path}")

    def remove(self, path: str) -> None:
        """Take a file or a link away."""
        place = self._settled(path)
        os.unlink(place)
        self._renamed_in.add(os.path.dirname(place))
        self._step(f"removed {path}")

    def remove_directory(self, path: str) -> None:
        """Take an empty directory away; one that is not empty raises `OSError` (ENOTEMPTY)."""
        place = self._at(path)
        os.rmdir(place)
        self._renamed_in.discard(place)
        self._renamed_in.add(os.path.dirname(place))
        self._step(f"removed {path}")

    def tidy(self, path: str) -> None:
        """Take away what a run that was killed left beside a path."""
        with suppress(OSError):  # where nothing can be taken away, the next act says why
            _emptied(self._at(path))
        self._step(f"tidied {path}")

    def settle(self) -> dict[str, OSError]:
        """Make everything that was written, renamed or removed last, or else a power cut may undo it.

        Returns, by path, why a file that was to be written soon could not be given its name.
        """
        for place in list(self._waiting):
            self._put_in_place(place)
        for directory in sorted(self._renamed_in):
            with suppress(FileNotFoundError, NotADirectoryError):
                sync_directory(directory)
            self._step(f"synced {directory}")
        self._renamed_in.clear()
        self._step("settled")
        failed, self._failed = self._failed, {}
        self._accounts = Accounts()
        return failed


def _look(place: str, accounts: Accounts) -> Found | None:
    try:
        status = os.lstat(place)
    except (FileNotFoundError, NotADirectoryError):
        return None
    kind = stat.S_IFMT(status.st_mode)
    # By position, since this runs for every file that is owned, and names cost.
    return Found(
        _TYPES.get(kind, "special"),
        f"{stat.S_IMODE(status.st_mode):04o}",
        accounts.user(status.st_uid),
        accounts.group(status.st_gid),
        sha256_of(place, status.st_size) if kind == stat.S_IFREG else None,
        os.readlink(place) if kind == stat.S_IFLNK else None,
    )


@contextmanager
def _undone_if_it_fails(temporary: str, undo: Callable[[str], None]) -> Iterator[None]:
    try:
        yield
    except BaseException:
        with suppress(OSError):
            undo(temporary)
        raise


def _emptied(place: str) -> str:
    """Where something is written before it gets its name; what a run that was killed left there is gone."""
    folder, name = os.path.split(place)
    if len(os.fsencode(name)) > _LONGEST_NAME - len(_TEMPORARY):
        name = hashlib.sha256(os.fsencode(name)).hexdigest()
    temporary = f"{folder}/{_TEMPORARY}{name}"
    try:
        with suppress(FileNotFoundError):
            os.unlink(temporary)
    except OSError as error:
        if error.errno not in (errno.EISDIR, errno.EPERM):
            raise
        os.rmdir(temporary)
    return temporary


def sha256_of(place: str, size: int) -> str:
    """The SHA-256 of a regular file's bytes, in hexadecimal; `size` is how many they were a moment ago."""
    descriptor = os.open(place, _TO_READ)
    try:
        chunk = os.read(descriptor, min(size + 1, _CHUNK))
        digest, seen = hashlib.sha256(chunk), len(chunk)
        # Where it gives no more than its size, and less than was asked for, that was its end.
        while chunk and not (seen == size and len(chunk) < _CHUNK):
            chunk = os.read(descriptor, _CHUNK)
            digest.update(chunk)
            seen += len(chunk)
    finally:
        os.close(descriptor)
    return digest.hexdigest()


def words_of(error: OSError, path: str) -> str:
    """An error of the machine, with the path that it is about."""
    if isinstance(error, NotADirectoryError):
        return f"{path}: a part of that path is no directory"
    return f"{path}: {error.strerror or error}"


def sync_directory(place: str | Path) -> None:
    """Make what was renamed in a directory last."""
    _sync(place, os.O_DIRECTORY)


def _sync(place: str | Path, kind: int) -> None:
    descriptor = os.open(place, os.O_RDONLY | kind | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


_TYPES = {stat.S_IFREG: "file", stat.S_IFDIR: "directory", stat.S_IFLNK: "link"}


def _inside(root: str, path: str, depth: int = 40) -> str:
    """The directory at a path as the machine sees it, with every link followed inside the root."""
    here = root
    parts = [part for part in path.split("/") if part]
    for place, part in enumerate(parts):
        if part == "..":
            here = os.path.dirname(here) if here != root else root
            continue
        inner = f"{here}/{part}"
        if os.path.islink(inner):
            if depth == 0:
                raise OSError(errno.ELOOP, "too many links", path)
            target = os.readlink(inner)
            base = "" if target.startswith("/") else here.removeprefix(root)
            return _inside(root, "/".join([base, target, *parts[place + 1 :]]), depth - 1)
        here = inner
    return here
