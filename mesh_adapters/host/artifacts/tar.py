"""Reads a layer: a plain tar of regular files and directories, and nothing else that a tar can be.

Of ustar and pax only as much is known as a tree needs: files, directories, and a path that ustar has no room
for. Everything else is refused by its name, so that there is nothing here that could lead outside: no link,
no device, no sparse file, nothing that comes twice. What the file claims is held against the limits before
it is believed, and no content is held in memory.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from mesh_adapters.host.artifacts.limits import CHUNK, ArtifactError, Limits
from mesh_adapters.host.artifacts.listing import Item, above_of

_BLOCK = 512
_ZEROS = b"\0" * _BLOCK
_MOST_PAX = 64 * 1024
_PAX = b"x"
_FILES = (b"0", b"\0")
_DIRECTORY = b"5"
_WORDS = {
    b"1": "a hard link",
    b"2": "a symbolic link",
    b"3": "a device",
    b"4": "a device",
    b"6": "a pipe",
    b"g": "a header for all entries",
    b"L": "a long name as GNU has it",
    b"K": "a long link as GNU has it",
    b"S": "a sparse file",
}


class Member(NamedTuple):
    """A file or a directory, as its header has it."""

    path: str
    mode: int
    size: int
    mtime: int
    is_directory: bool


Entry = tuple[Member, Iterator[bytes]]


def entries(file: BinaryIO, limits: Limits) -> Iterator[Entry]:
    """Every entry with its content, in order, the content to be read before the next is asked for.

    Raises `ArtifactError` for what is no such tar, or beyond the limits; and `OSError`.
    """
    seen = _Seen(limits)
    long_path: bytes | None = None
    while (header := _read(file, _BLOCK)) != _ZEROS:
        _check(header)
        type_, size = header[156:157], _number(header[124:136])
        name = header[345:500].rstrip(b"\0") + b"/" if header[345:346] != b"\0" else b""
        path = long_path if long_path is not None else name + header[:100].partition(b"\0")[0]
        if type_ == _PAX:
            if long_path is not None:
                raise ArtifactError("it has two pax headers in front of one entry")
            long_path = _pax_path(file, size)
            continue
        long_path = None
        member = seen.member(path, type_, size, header)
        content = _content(file, size)
        yield member, content
        for _ in content:  # what was not asked for
            pass
    if long_path is not None:
        raise ArtifactError("it ends behind a pax header")
    _expect_end(file)


def listing_of(file: BinaryIO, limits: Limits) -> tuple[Item, ...]:
    """What the tar has in it, sorted, with the directories that it only implies. Raises as `entries`."""
    items: dict[str, Item] = {}
    for member, content in entries(file, limits):
        if member.is_directory:
            items[member.path] = Item(member.path, member.mode)
            continue
        digest = hashlib.sha256()
        for chunk in content:
            digest.update(chunk)
        items[member.path] = Item(member.path, member.mode, member.size, digest.hexdigest())
    if not items:
        raise ArtifactError("it has nothing in it")
    for path in list(items):
        for above in above_of(path):
            items.setdefault(above, Item(above, 0o755))
    return tuple(items[path] for path in sorted(items))


class _Seen:
    """What came so far: nothing comes twice, and nothing is inside of a file."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._files: set[str] = set()
        self._directories: set[str] = set()
        self._implied: set[str] = set()

    def member(self, raw: bytes, type_: bytes, size: int, header: bytes) -> Member:
        is_directory = type_ == _DIRECTORY
        shown = raw.decode("utf-8", "backslashreplace")
        if type_ not in (*_FILES, _DIRECTORY):
            what = _WORDS.get(type_, f"of the type {type_!r}")
            raise ArtifactError(f"{shown!r} is {what}, and a tree has files and directories only")
        path = self._path(raw[:-1] if is_directory and raw.endswith(b"/") else raw, shown)
        mode = _number(header[100:108])
        if mode not in ((0o755,) if is_directory else (0o644, 0o755)):
            raise ArtifactError(f"{shown!r} has the mode {mode:04o}, and a tree has 0644 and 0755 only")
        if is_directory and size:
            raise ArtifactError(f"{shown!r} is a directory with content")
        self._note(path, shown, is_directory)
        return Member(path, mode, size, _number(header[136:148]), is_directory)

    def _path(self, raw: bytes, shown: str) -> str:
        parts = raw.split(b"/")
        if any(part in (b"", b".", b"..") for part in parts) or b"\0" in raw:
            raise ArtifactError(f"{shown!r} is no path inside of a tree")
        limits = self._limits
        too_deep = len(parts) > limits.depth or max(map(len, parts)) > 255
        if too_deep or len(raw) > limits.path:
            raise ArtifactError(f"{shown[:60]!r}… is too long or too deep for a path in a tree")
        try:
            return raw.decode("utf-8")
        except UnicodeDecodeError:
            raise ArtifactError(f"{shown!r} is no UTF-8") from None

    def _note(self, path: str, shown: str, is_directory: bool) -> None:
        above = set(above_of(path))
        twice = path in self._files or path in self._directories
        if twice or above & self._files or (path in self._implied and not is_directory):
            raise ArtifactError(f"{shown!r} comes where something else came before")
        (self._directories if is_directory else self._files).add(path)
        self._implied |= above
        if len(self._files) + len(self._directories | self._implied) > self._limits.entries:
            raise ArtifactError(f"it has more than {self._limits.entries} entries")


def _check(header: bytes) -> None:
    said = _number(header[148:156])
    if said != sum(header[:148]) + sum(header[156:]) + 8 * 32:
        raise ArtifactError("it is no tar, or one that is damaged")
    if header[257:265] != b"ustar\x0000":
        raise ArtifactError("it is a tar of another form than ustar with pax headers")


def _number(raw: bytes) -> int:
    digits = raw.strip(b"\0 ")
    if not digits:
        return 0
    if not digits.isdigit() or b"8" in digits or b"9" in digits:
        raise ArtifactError("a number in a header of the tar is none")
    return int(digits, 8)


def _pax_path(file: BinaryIO, size: int) -> bytes:
    """The path that a pax header gives. It may give nothing else: a size of its own, say, or a sparse map."""
    if not 0 < size <= _MOST_PAX:
        raise ArtifactError("a pax header in it is too large, or empty")
    text = _read(file, size + -size % _BLOCK)[:size]
    length, _, rest = text.partition(b" ")
    key, _, value = rest.partition(b"=")
    if not length.isdigit() or len(length) > 6 or int(length) != size or not value.endswith(b"\n"):
        raise ArtifactError("a pax header in it has more than one record, or is damaged")
    if key != b"path":
        shown = key.decode("utf-8", "backslashreplace")
        raise ArtifactError(f"a pax header in it says {shown!r}, and may only say a path")
    return value[:-1]


def _content(file: BinaryIO, size: int) -> Iterator[bytes]:
    left = size
    while left:
        chunk = _read(file, min(left, CHUNK))
        left -= len(chunk)
        yield chunk
    _read(file, -size % _BLOCK)


def _expect_end(file: BinaryIO) -> None:
    """Behind the first empty block comes another, and nothing else to the end."""
    if _read(file, _BLOCK) != _ZEROS:
        raise ArtifactError("it goes on behind its end")
    while chunk := file.read(CHUNK):
        if chunk.strip(b"\0"):
            raise ArtifactError("it goes on behind its end")


def _read(file: BinaryIO, size: int) -> bytes:
    content = file.read(size)
    if len(content) != size:
        raise ArtifactError("it is cut off")
    return content
