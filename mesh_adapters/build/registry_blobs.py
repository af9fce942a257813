"""Blobs as files: read with a limit, and copied only as what they were said to be."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from attrs import frozen

from mesh_adapters.build.oci import Descriptor
from mesh_adapters.host.files import sha256_of

_CHUNK = 256 * 1024
_TO_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@frozen(kw_only=True)
class Piece:
    """A blob that is to be there: its bytes, or the file that has them."""

    descriptor: Descriptor
    content: bytes | Path


@frozen(kw_only=True)
class Unread:
    """Why something was not read."""

    why: str


def read_plain(path: Path, limit: int) -> bytes | Unread:
    """The bytes of a plain file of at most `limit`; no link is followed, and nobody waits for a pipe."""
    try:
        with _opened(path) as file:
            content = file.read(limit + 1)
    except OSError as error:
        return Unread(why=f"{path} cannot be read: {error.strerror or error}")
    return Unread(why=f"{path} is larger than {limit} bytes") if len(content) > limit else content


def is_whole(path: Path, expected: Descriptor) -> bool:
    """Whether a plain file is what a descriptor says."""
    try:
        status = path.lstat()
        right = stat.S_ISREG(status.st_mode) and status.st_size == expected.size
        return right and f"sha256:{sha256_of(str(path), status.st_size)}" == expected.digest
    except OSError:
        return False


def fill(piece: Piece, file: BinaryIO) -> str | None:
    """Write what a piece has; why it is not what its descriptor says, or None. Raises `OSError`."""
    digest, size = hashlib.sha256(), 0
    for chunk in _chunks(piece.content):
        digest.update(chunk)
        size += len(chunk)
        file.write(chunk)
    expected = piece.descriptor
    if f"sha256:{digest.hexdigest()}" == expected.digest and size == expected.size:
        return None
    what = piece.content if isinstance(piece.content, Path) else "what was to be written"
    return f"{what} is not what it was said to be: {expected.digest}, {expected.size} bytes"


def _opened(path: Path) -> BinaryIO:
    descriptor = os.open(path, _TO_READ)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError("it is no plain file")
    return os.fdopen(descriptor, "rb")


def _chunks(content: bytes | Path) -> Iterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    with _opened(content) as file:
        while chunk := file.read(_CHUNK):
            yield chunk
