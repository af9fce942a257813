"""What an artifact may be at most, and how long it may take to come: a hostile one ends at these."""

from __future__ import annotations

from typing import Final

from attrs import frozen

CHUNK: Final = 256 * 1024
"""Bytes that are read and hashed at a time."""


class ArtifactError(Exception):
    """An artifact that cannot be had or used; the text is one sentence for people."""


@frozen(kw_only=True)
class Limits:
    """Bytes, counts and seconds. What a builder packs is well below each (1 GiB, 100,000 entries)."""

    manifest: int = 4 * 1024 * 1024
    layer: int = 4 * 1024 * 1024 * 1024
    entries: int = 200_000
    path: int = 1024
    """Bytes of a path inside of the tree."""
    depth: int = 64
    """Directories above something in the tree."""
    idle: float = 30.0
    """Seconds in which a registry has to say something."""
    seconds: float = 1800.0
    """Seconds that one answer of a registry may take in all."""
    redirects: int = 5
