"""A folder as one tar that is the same bytes wherever and whenever it is packed.

Its digest is the identity of what was built, so nothing of the machine goes in: entries are sorted by the
bytes of their paths, belong to 0:0 with no names, have mode 0755 or 0644, and the time of the commit.

The headers are written here and not by `tarfile`, whose bytes have changed between versions of Python: two
builders would then give one source two digests. The format is ustar, with a pax header in front of an entry
only where ustar has no room for it: a path that is no ASCII or is longer than 100 bytes. (ustar's own prefix
for longer paths is never used: one way for each path, and not two.) A pax header carries the path alone, and
has no time, process id or running number.
"""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import BinaryIO

from attrs import frozen

MOST_BYTES = 1024 * 1024 * 1024
"""Of all files of a folder together."""
MOST_ENTRIES = 100_000
MOST_PATH = 1024
"""Bytes of a path inside the folder."""

_BLOCK = 512
_CHUNK = 256 * 1024
_LATEST = 8**11 - 1
"""What the eleven octal digits of a header hold; as a time it is in the year 2242."""
_INSTANT = re.compile("[0-9]{4}(?:-[0-9]{2}){2}T[0-9]{2}(?::[0-9]{2}){2}Z")
_FORMAT = "%Y-%m-%dT%H:%M:%SZ"
_FILE, _FOLDER, _PAX = b"0", b"5", b"x"
_TO_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@frozen(kw_only=True)
class Packed:
    """What a tar came to: `sha256:` and its digest, its bytes, and how many entries it has."""

    digest: str
    size: int
    entries: int


@frozen(kw_only=True)
class Unpackable:
    """Why a folder is no tar: what is in the way, by its path inside of it (`.` is the folder)."""

    path: str
    why: str


@frozen(kw_only=True)
class _Entry:
    path: bytes
    mode: int
    size: int | None
    """Of a file; a folder has none."""


class _Refused(Exception):
    def __init__(self, path: bytes, why: str) -> None:
        super().__init__(why)
        self.refusal = Unpackable(path=os.fsencode(path).decode("utf-8", "backslashreplace"), why=why)


def pack(folder: Path, into: Path, at: str) -> Packed | Unpackable:
    """Write the regular files and folders under `folder` as a tar to the file `into`, outside of it.

    `at` is the time of the commit, an instant in UTC like `2026-12-01T22:20:02Z`. A file with two names goes
    in twice. Anything else (a link, a device, a socket, a pipe) is refused by its name, and so is more than
    `MOST_BYTES` or `MOST_ENTRIES`, and an `into` that exists; then nothing is written, or left. Nothing is
    held in memory but the names.
    """
    try:
        time = _seconds(at)
        entries = sorted(_entries(os.fsencode(folder)), key=lambda entry: entry.path)
        return _written(os.fsencode(folder), entries, into, time)
    except _Refused as refused:
        return refused.refusal
    except OSError as error:
        return Unpackable(path=".", why=f"the tar cannot be written: {error.strerror or error}")


def _written(folder: bytes, entries: list[_Entry], into: Path, time: int) -> Packed:
    with _created(into) as file:
        try:
            tar = _Tar(file, time)
            for entry in entries:
                tar.add(folder, entry)
            return tar.finished(len(entries))
        except BaseException:
            with suppress(OSError):
                into.unlink()
            raise


def _created(into: Path) -> BinaryIO:
    # Only a new file: what is there may be somebody's, and is neither written over nor taken away.
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
    return os.fdopen(os.open(into, flags, 0o644), "wb")


def _seconds(at: str) -> int:
    try:
        # By itself strptime takes 1:2:3 and the digits of other scripts.
        instant = datetime.strptime(at if _INSTANT.fullmatch(at) else "", _FORMAT).replace(tzinfo=UTC)
    except ValueError:
        raise _Refused(b".", f"{at!r} is no time of a commit, like 2026-12-01T22:20:02Z") from None
    seconds = int(instant.timestamp())
    if not 0 <= seconds <= _LATEST:
        raise _Refused(b".", f"the commit's time {at} is outside of 1970 to 2242, which a tar can say")
    return seconds


def _entries(folder: bytes) -> Iterator[_Entry]:
    """Everything under the folder, its sizes and names within the limits, in no order. Raises `_Refused`."""
    count = size = 0
    waiting = [b""]
    while waiting:
        inside = waiting.pop()
        for entry in _listed(folder, inside):
            count += 1
            size += entry.size or 0
            if count > MOST_ENTRIES:
                raise _Refused(entry.path, f"it is one too many: a tree has at most {MOST_ENTRIES} entries")
            if size > MOST_BYTES:
                raise _Refused(entry.path, f"with it the tree is larger than {MOST_BYTES} bytes")
            if entry.size is None:
                waiting.append(entry.path)
            yield entry


def _listed(folder: bytes, inside: bytes) -> Iterator[_Entry]:
    try:
        with os.scandir(os.path.join(folder, inside)) as found:
            for each in found:
                path = os.path.join(inside, each.name)
                yield _entry(path, each.stat(follow_symlinks=False))
    except OSError as error:
        raise _Refused(inside or b".", f"it cannot be read: {error.strerror or error}") from None


def _entry(path: bytes, status: os.stat_result) -> _Entry:
    if len(path) > MOST_PATH:
        raise _Refused(path, f"its path is longer than {MOST_PATH} bytes")
    try:
        path.decode("utf-8")
    except UnicodeDecodeError:
        raise _Refused(path, "its name is no UTF-8") from None
    kind = stat.S_IFMT(status.st_mode)
    if kind == stat.S_IFDIR:
        return _Entry(path=path, mode=0o755, size=None)
    if kind != stat.S_IFREG:
        raise _Refused(path, f"it is {_KINDS.get(kind, 'something')}, and a tree has files and folders only")
    # The owner's bit alone: the others' depend on the umask of whoever made the file.
    return _Entry(path=path, mode=0o755 if status.st_mode & stat.S_IXUSR else 0o644, size=status.st_size)


_KINDS = {
    stat.S_IFLNK: "a symbolic link",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
    stat.S_IFSOCK: "a socket",
    stat.S_IFIFO: "a pipe",
}


class _Tar:
    """Writes entries, and knows the digest of all that it wrote."""

    def __init__(self, file: BinaryIO, time: int) -> None:
        self._file = file
        self._time = time
        self._digest = hashlib.sha256()
        self._size = 0

    def add(self, folder: bytes, entry: _Entry) -> None:
        name = entry.path if entry.size is not None else entry.path + b"/"
        if len(name) > 100 or not name.isascii():
            record = _pax_record(b"path", name)
            # The name here is for those who do not know pax, and says nothing of the entry.
            self._write(_header(b"././@PaxHeader", 0o644, len(record), 0, _PAX))
            self._padded(record)
            name = name.decode("utf-8").encode("ascii", "replace")[:100]
        kind = _FOLDER if entry.size is None else _FILE
        self._write(_header(name, entry.mode, entry.size or 0, self._time, kind))
        if entry.size is not None:
            self._content(folder, entry.path, entry.size)

    def _content(self, folder: bytes, path: bytes, size: int) -> None:
        left = size
        try:
            descriptor = os.open(os.path.join(folder, path), _TO_READ)
        except OSError as error:
            raise _Refused(path, f"it cannot be read: {error.strerror or error}") from None
        with os.fdopen(descriptor, "rb", buffering=0) as file:
            while chunk := _read(file, path):
                left -= len(chunk)
                if left < 0:
                    break
                self._write(chunk)
        if left:
            raise _Refused(path, "it changed while it was packed")
        self._write(b"\0" * (-size % _BLOCK))

    def _padded(self, content: bytes) -> None:
        self._write(content + b"\0" * (-len(content) % _BLOCK))

    def _write(self, content: bytes) -> None:
        self._file.write(content)
        self._digest.update(content)
        self._size += len(content)

    def finished(self, entries: int) -> Packed:
        self._write(b"\0" * (2 * _BLOCK))
        # Whatever cannot be written is told here, while there is somebody to tell.
        self._file.flush()
        return Packed(digest=f"sha256:{self._digest.hexdigest()}", size=self._size, entries=entries)


def _read(file: BinaryIO, path: bytes) -> bytes:
    try:
        return file.read(_CHUNK)
    except OSError as error:
        raise _Refused(path, f"it cannot be read: {error.strerror or error}") from None


def _header(name: bytes, mode: int, size: int, time: int, kind: bytes) -> bytes:
    """One header of ustar (POSIX.1-1988), for something that belongs to 0:0 and links to nothing."""
    fields = (
        name.ljust(100, b"\0"),
        b"%07o\0" % mode,
        b"%07o\0" % 0,
        b"%07o\0" % 0,
        b"%011o\0" % size,
        b"%011o\0" % time,
        b" " * 8,  # the checksum counts its own place as blanks
        kind,
        b"\0" * 100,
        b"ustar\x0000",
        b"\0" * 64,  # names of user and group
        b"%07o\0" % 0,
        b"%07o\0" % 0,
        b"\0" * (155 + 12),
    )
    blank = b"".join(fields)
    return blank[:148] + b"%06o\0 " % sum(blank) + blank[156:]


def _pax_record(key: bytes, value: bytes) -> bytes:
    """`LENGTH KEY=VALUE` and a line's end, where the length counts itself."""
    rest = len(key) + len(value) + 3
    length = rest
    while length != rest + len(str(length)):
        length = rest + len(str(length))
    return b"%d %s=%s\n" % (length, key, value)
