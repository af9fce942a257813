"""Gets an artifact into the cache: its manifest by its digest, and the layer that the manifest names.

The digest that was declared is what everything hangs on: a registry is not believed in anything. What it
sends is looked at as it comes, and is not in the cache before all of it was right.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Protocol

from mesh_adapters.host.artifacts.cache import Cache
from mesh_adapters.host.artifacts.limits import CHUNK, ArtifactError, Limits
from mesh_adapters.host.artifacts.manifest import Layer, layer_of
from mesh_adapters.host.artifacts.source import Layout, Source

_TO_READ = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC


class _Place(Protocol):
    """Where blobs come from."""

    def manifest(self, digest: str) -> Iterator[bytes]:
        """The bytes of a manifest. Raises `ArtifactError`."""
        ...

    def blob(self, digest: str, size: int) -> Iterator[bytes]:
        """The bytes of a blob of that size. Raises `ArtifactError`."""
        ...


class Fetching:
    """What fetches into a cache: with the certificates and accounts in the directory `settings`."""

    def __init__(self, cache: Cache, settings: Path, limits: Limits, alive: Callable[[], None]) -> None:
        self._cache = cache
        self._settings = settings
        self._limits = limits
        self._alive = alive

    def fetch(self, artifact: str, source: Source) -> Layer:
        """Have the manifest and the layer in the cache. Raises `ArtifactError` and `OSError`."""
        place = self._place(source)
        if not self._cache.is_whole(artifact):
            coming = self._told(place.manifest(artifact))
            self._cache.put(artifact, coming, self._limits.manifest, f"the manifest {artifact}")
        layer = self._layer(artifact)
        # Whether that is still whole is seen when it is unpacked: it may be large.
        if not self._cache.has(layer.digest):
            coming = self._told(place.blob(layer.digest, layer.size))
            self._cache.put(layer.digest, _exactly(coming, layer), layer.size, f"the layer {layer.digest}")
        return layer

    def _layer(self, artifact: str) -> Layer:
        with self._cache.open(artifact, self._alive) as file:
            return layer_of(file.read(), self._limits)

    def _place(self, source: Source) -> _Place:
        if isinstance(source, Layout):
            return _LayoutPlace(source)
        # http and ssl take longer to import than the host's whole work where nothing has to be got.
        from mesh_adapters.host.artifacts.registry import RegistryPlace, Trust

        return RegistryPlace(source, Trust.read(self._settings), self._limits)

    def _told(self, chunks: Iterator[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self._alive()
            yield chunk


class _LayoutPlace:
    """An OCI image layout on this machine."""

    def __init__(self, layout: Layout) -> None:
        self._blobs = Path(layout.path) / "blobs" / "sha256"

    def manifest(self, digest: str) -> Iterator[bytes]:
        return self._chunks(digest)

    def blob(self, digest: str, size: int) -> Iterator[bytes]:
        return self._chunks(digest)

    def _chunks(self, digest: str) -> Iterator[bytes]:
        place = self._blobs / digest.removeprefix("sha256:")
        try:
            with os.fdopen(os.open(place, _TO_READ), "rb") as file:
                if not stat.S_ISREG(os.fstat(file.fileno()).st_mode):
                    raise ArtifactError(f"{place} is no plain file")
                while chunk := file.read(CHUNK):
                    yield chunk
        except OSError as error:
            raise ArtifactError(f"{place}: {error.strerror}") from None


def _exactly(chunks: Iterator[bytes], layer: Layer) -> Iterator[bytes]:
    size = 0
    for chunk in chunks:
        size += len(chunk)
        yield chunk
    if size != layer.size:
        raise ArtifactError(f"the layer {layer.digest} has {size} bytes, and is to have {layer.size}")
