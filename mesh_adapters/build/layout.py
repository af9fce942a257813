"""An OCI image layout: a folder that is a registry, written by hand and readable by every OCI tool.

    oci-layout  index.json  blobs/sha256/HEX

Whoever writes holds a lock, which the kernel lets go with the process. A file is written beside its place,
synced and renamed; blobs come first and index.json last, so whoever is killed, wherever, leaves a layout that
opens, and in its index nothing whose blobs are not there. What was killed leaves temporary files, which the
next one takes away: under the lock none of them belongs to anybody.

What refers to an artifact stands in an index of its own, by the tag `sha256-HEX` of the artifact: the
fallback of the distribution specification for registries that know no referrers, since layouts have nothing
better.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from attrs import field, frozen

from mesh_adapters.build.oci import (
    INDEX,
    Descriptor,
    described,
    index,
    joined,
    manifests_of,
    referrers_tag,
)
from mesh_adapters.build.registry_blobs import Piece, Unread, fill, is_whole, read_plain
from mesh_adapters.build.registry_index import LayoutIndex, layout_index
from mesh_adapters.host.files import sync_directory
from mesh_adapters.host.steps import Step, no_step
from mesh_core.model.build import digest_fault

MOST_INDEX = 16 * 1024 * 1024
"""Bytes of an index that are read."""
WAIT_SECONDS = 120.0
"""How long whoever writes waits for the others."""

_MARK, _MARK_BYTES = "oci-layout", b'{"imageLayoutVersion":"1.0.0"}'
_INDEX = "index.json"
_LOCK = ".meshwright.lock"
_TEMPORARY = ".meshwright.new"
_BLOBS = "blobs/sha256"


def _items(
    given: Mapping[str, Descriptor] | tuple[tuple[str, Descriptor], ...],
) -> tuple[tuple[str, Descriptor], ...]:
    return tuple(given.items()) if isinstance(given, Mapping) else given


def _tuple(given: Iterable[Piece]) -> tuple[Piece, ...]:
    return tuple(given)


@frozen(kw_only=True)
class Addition:
    """What is to be added at once: blobs, manifests by their names, and by a digest what refers to it.

    Each manifest that is named or refers is one of the pieces.
    """

    pieces: tuple[Piece, ...] = field(converter=_tuple)
    named: tuple[tuple[str, Descriptor], ...] = field(converter=_items)
    referring: tuple[tuple[str, Descriptor], ...] = field(default=(), converter=_items)


@frozen(kw_only=True)
class NotWritten:
    """Why nothing was added to a layout."""

    why: str


class _Refused(Exception):
    pass


def add(
    layout: Path,
    addition: Addition,
    *,
    seconds: float = WAIT_SECONDS,
    lasting: bool = True,
    step: Step = no_step,
) -> NotWritten | None:
    """Add to the layout, which is made where there is none; None when all of it is there.

    A blob that is there is read first, and written anew where it is not what its name says. A name that stood
    for something else leaves that in the index, without a name. Waits up to `seconds` for others that write.
    One that is not `lasting` is only needed meanwhile, so nobody waits for the disk.
    """
    try:
        # Not its parents: where a disk is not mounted, nothing is written below the place where it would be.
        layout.mkdir(exist_ok=True)
        with _locked(layout, seconds):
            _Writing(layout, lasting, step).add(addition)
    except _Refused as refused:
        return NotWritten(why=str(refused))
    except OSError as error:
        return NotWritten(why=f"{layout} cannot be written: {error.strerror or error}")
    return None


def find(layout: Path, name: str) -> Descriptor | Unread:
    """The manifest that has a name in a layout."""
    if not (layout / _MARK).is_file():
        return Unread(why=f"{layout} is no OCI layout")
    content = read_plain(layout / _INDEX, MOST_INDEX)
    if isinstance(content, Unread):
        return content
    found = layout_index(content)
    if found is None:
        return Unread(why=f"{layout / _INDEX} is damaged")
    return next(found.by_name(name), Unread(why=f"{layout} has nothing by the name {name!r}"))


def read_blob(layout: Path, digest: str, size_limit: int) -> bytes | Unread:
    """The bytes of a blob of at most `size_limit`, when they are what its digest says."""
    why = digest_fault(digest)
    if why is not None:
        return Unread(why=why)
    path = blob_path(layout, digest)
    content = read_plain(path, size_limit)
    if isinstance(content, Unread):
        return content
    if hashlib.sha256(content).hexdigest() != path.name:
        return Unread(why=f"{path} is damaged: its bytes have another digest than its name says")
    return content


def blob_path(layout: Path, digest: str) -> Path:
    """Where a blob is in a layout, there or not."""
    return layout / _BLOBS / digest.removeprefix("sha256:")


@contextmanager
def _locked(layout: Path, seconds: float) -> Iterator[None]:
    descriptor = os.open(layout / _LOCK, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o644)
    try:
        _take(descriptor, layout, time.monotonic() + seconds)
        yield
    finally:
        os.close(descriptor)


def _take(descriptor: int, layout: Path, by: float) -> None:
    while True:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return
        except BlockingIOError:
            if time.monotonic() >= by:
                raise _Refused(f"{layout} is being written by somebody else, and was for too long") from None
            time.sleep(0.02)


def _fill(piece: Piece, file: BinaryIO) -> None:
    why = fill(piece, file)
    if why is not None:
        raise _Refused(why)


class _Writing:
    """One addition, by whoever holds the lock. Raises `_Refused` and `OSError`."""

    def __init__(self, layout: Path, lasting: bool, step: Step) -> None:
        self._layout = layout
        self._lasting = lasting
        self._step = step

    def add(self, addition: Addition) -> None:
        self._step("locked")
        self._make()
        found = self._index()
        for piece in addition.pieces:
            self._put(piece)
        named = dict(addition.named)
        for subject, new in addition.referring:
            tag = referrers_tag(subject)
            content = index(joined(self._referring(found, tag), new))
            named[tag] = described(INDEX, content)
            self._put(Piece(descriptor=named[tag], content=content))
        self._sync_directory(self._layout / _BLOBS)
        self._step("blobs synced")
        now = found.naming(named)
        if read_plain(self._layout / _INDEX, MOST_INDEX) != now:
            self._write(_INDEX, lambda file: file.write(now))
        self._sync_directory(self._layout)
        self._step("synced")

    def _make(self) -> None:
        """Make of the folder a layout; the mark comes last, so what has it has all of it."""
        if not (self._layout / _MARK).is_file():
            ours = {_MARK, _INDEX, _LOCK, _TEMPORARY, "blobs"}
            others = sorted(set(os.listdir(self._layout)) - ours)
            if others:
                raise _Refused(f"{self._layout} is no OCI layout, and has other things in it: {others[0]}")
        (self._layout / _BLOBS).mkdir(parents=True, exist_ok=True)
        self._step("made folders")
        with suppress(FileNotFoundError):
            (self._layout / _TEMPORARY).unlink()
        if not (self._layout / _INDEX).exists():
            self._write(_INDEX, lambda file: file.write(index(())))
        if not (self._layout / _MARK).exists():
            self._write(_MARK, lambda file: file.write(_MARK_BYTES))

    def _put(self, piece: Piece) -> None:
        place = blob_path(self._layout, piece.descriptor.digest)
        if is_whole(place, piece.descriptor):
            self._step(f"there {place.name}")
            return
        self._write(f"{_BLOBS}/{place.name}", lambda file: _fill(piece, file))

    def _write(self, name: str, write: Callable[[BinaryIO], object]) -> None:
        """Put a file into its place in the layout, whole."""
        temporary = self._layout / _TEMPORARY
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(temporary, flags, 0o644)
        try:
            self._step(f"temporary {name}")
            with os.fdopen(descriptor, "wb") as file:
                write(file)
                file.flush()
                self._step(f"filled {name}")
                if self._lasting:
                    os.fsync(file.fileno())
            self._step(f"written {name}")
            os.rename(temporary, self._layout / name)
        except BaseException:
            with suppress(OSError):
                temporary.unlink()
            raise
        self._step(f"renamed {name}")

    def _sync_directory(self, place: Path) -> None:
        if self._lasting:
            sync_directory(place)

    def _index(self) -> LayoutIndex:
        where = self._layout / _INDEX
        content = read_plain(where, MOST_INDEX)
        if isinstance(content, Unread):
            raise _Refused(content.why)
        found = layout_index(content)
        if found is None:
            raise _Refused(f"{where} is damaged, so nothing was added to it")
        return found

    def _referring(self, found: LayoutIndex, tag: str) -> Iterator[Descriptor]:
        """What already refers to a subject, as far as it can be read."""
        for old in found.by_name(tag):
            content = read_blob(self._layout, old.digest, MOST_INDEX)
            yield from () if isinstance(content, Unread) else manifests_of(content) or ()
