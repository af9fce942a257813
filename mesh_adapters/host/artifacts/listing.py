"""What a tree consists of, as a list; and the record of which tree was put at a path.

A record is what tells the artifact's own files from those of a person, so it is no cache: it is written,
synced, before the tree is in its place, and it says by its first line whether it is whole.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from typing import NamedTuple

from attrs import frozen


class Item(NamedTuple):
    """A file or a directory of a tree. A directory has no size and no digest."""

    path: str
    mode: int
    size: int = 0
    sha256: str = ""

    @property
    def is_directory(self) -> bool:
        """Whether it is one."""
        return not self.sha256


@frozen(kw_only=True)
class Record:
    """That an artifact's tree is at a path, and what it has, sorted: a directory before what is in it.

    `owner` is the number of the user and group that all of it was given; None where none could be given.
    `held` are directories of an earlier artifact that stay, since a person has put something into them.
    `going` is whether the tree is being taken off.
    """

    path: str
    artifact: str
    owner: int | None
    items: tuple[Item, ...]
    held: tuple[str, ...] = ()
    going: bool = False


def above_of(path: str) -> Iterator[str]:
    """The directories above a path inside of the tree, the nearest first."""
    while "/" in path:
        path = path.rpartition("/")[0]
        yield path


def record_to_bytes(record: Record) -> bytes:
    """A record as it is written: a line with the digest of the rest, and JSON."""
    data = {
        "path": record.path,
        "artifact": record.artifact,
        "owner": record.owner,
        "held": record.held,
        "going": record.going,
        "items": record.items,
    }
    return sealed(data)


def record_from_bytes(content: bytes) -> Record | None:
    """A record as it was written; None where it is not that any more."""
    data = unsealed(content)
    if not isinstance(data, dict):
        return None
    return Record(
        path=data["path"],
        artifact=data["artifact"],
        owner=data["owner"],
        items=tuple(Item(*item) for item in data["items"]),
        held=tuple(data["held"]),
        going=data["going"],
    )


def sealed(data: object) -> bytes:
    """Plain data, behind a line with the digest of its JSON."""
    text = json.dumps(data, separators=(",", ":")).encode()
    return hashlib.sha256(text).hexdigest().encode() + b"\n" + text


def unsealed(content: bytes) -> object:
    """The data that was sealed; None where a bit of it is another."""
    digest, _, text = content.partition(b"\n")
    if hashlib.sha256(text).hexdigest().encode() != digest:
        return None
    return json.loads(text)
