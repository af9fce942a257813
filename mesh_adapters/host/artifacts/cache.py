"""The blobs that were fetched and are not unpacked yet: files by their digest, in the host's state directory.

A blob has its name only once all of its bytes were seen to be what its digest says. Nothing is kept here
that is not about to be needed: the tree at its path is what lasts.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import BinaryIO

from mesh_adapters.host.artifacts.limits import CHUNK, ArtifactError

_COMING = ".coming"
_TO_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC
_TO_WRITE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC


class Cache:
    """The blobs in a directory, which nobody but its owner may look into. Raises `OSError`."""

    def __init__(self, state: Path) -> None:
        self._folder = state / "artifacts"

    def has(self, digest: str) -> bool:
        """Whether a blob is there. Whether it is still whole is seen when it is opened."""
        return self._at(digest).is_file()

    def is_whole(self, digest: str) -> bool:
        """Whether a blob is there, all of it looked at."""
        try:
            self.open(digest, lambda: None).close()
        except ArtifactError:
            return False
        return True

    def put(self, digest: str, chunks: Iterable[bytes], most: int, what: str) -> None:
        """Keep what comes, if it is what the digest says and no more than `most` bytes.

        Raises `ArtifactError`; then nothing is kept.
        """
        self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        coming = self._folder / _COMING
        with suppress(FileNotFoundError):
            coming.unlink()
        try:
            with os.fdopen(os.open(coming, _TO_WRITE, 0o600), "wb") as file:
                found = _written(file, chunks, most, what)
            if f"sha256:{found}" != digest:
                raise ArtifactError(f"{what} is not what its digest says: its bytes have sha256:{found}")
            # Not synced: whoever opens it looks at all of it again.
            os.rename(coming, self._at(digest))
        finally:
            with suppress(FileNotFoundError):
                coming.unlink()

    def open(self, digest: str, alive: Callable[[], None]) -> BinaryIO:
        """A blob, all of it looked at, to be read from its beginning.

        Raises `ArtifactError` where it is not there, or not whole: then it is not kept either.
        """
        try:
            file = os.fdopen(os.open(self._at(digest), _TO_READ), "rb")
        except FileNotFoundError:
            raise ArtifactError(f"{digest} is not here any more; apply again") from None
        found = hashlib.sha256()
        while chunk := file.read(CHUNK):
            alive()
            found.update(chunk)
        if f"sha256:{found.hexdigest()}" != digest:
            file.close()
            self._at(digest).unlink()
            raise ArtifactError(f"{digest} was damaged since it came; apply again")
        file.seek(0)
        return file

    def keep_only(self, digests: Iterable[str]) -> None:
        """Drop everything else, as far as that can be done."""
        kept = {self._at(digest).name for digest in digests}
        with suppress(OSError):
            for place in self._others(kept):
                place.unlink()

    def _others(self, kept: set[str]) -> Iterator[Path]:
        if self._folder.is_dir():
            yield from [place for place in self._folder.iterdir() if place.name not in kept]

    def _at(self, digest: str) -> Path:
        return self._folder / digest.removeprefix("sha256:")


def _written(file: BinaryIO, chunks: Iterable[bytes], most: int, what: str) -> str:
    found, size = hashlib.sha256(), 0
    for chunk in chunks:
        size += len(chunk)
        if size > most:
            raise ArtifactError(f"{what} is longer than it may be: {most} bytes")
        found.update(chunk)
        file.write(chunk)
    return found.hexdigest()
