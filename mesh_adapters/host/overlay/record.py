"""What the host keeps of the network: what it made so, what was before, whether that is being tried.

A file of the host's own, with a digest. One that is damaged never reads as "there is no network".
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import asdict, field, frozen

from mesh_adapters.host.files import sync_directory
from mesh_adapters.host.whole import write_whole
from mesh_core.model.network import DeclaredNetwork
from mesh_core.wire.entries import NodeNetwork
from mesh_core.wire.faults import WireError
from mesh_core.wire.fingerprint import fingerprint
from mesh_core.wire.message import entry_of
from mesh_core.wire.network import declared_to_data

NAME: Final = "network.json"
_FORMAT = 1
_LONGEST = 80
"""Characters of a reason that are told: it may be a whole document."""


class RecordError(Exception):
    """The record is there and cannot be used, in words."""


class _OtherFormat(Exception):
    """It was written as this host does not write it."""


@frozen(kw_only=True)
class Raised:
    """The interface that we made: in which boot of the machine, and by which number the kernel knows it.

    `index` is None as long as that is not known: then it may be there or not.
    """

    boot: str
    index: int | None = None


def _pairs(given: Mapping[str, str] | Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(given.items() if isinstance(given, Mapping) else given))


@frozen(kw_only=True)
class Record:
    """What holds here. `raised` is our interface, `named` whether the block of names is in its file.

    `trying` is the generation whose network is being tried, with `before` to go back to; `undone` one that
    went back, and is not tried again. `file_made` is whether there was no file of names before ours.
    `settings` are those of the kernel that a relay needs otherwise, by name, with what they were.
    """

    network: DeclaredNetwork | None = None
    before: DeclaredNetwork | None = None
    trying: int | None = None
    undone: int | None = None
    raised: Raised | None = None
    named: bool = False
    file_made: bool = False
    settings: tuple[tuple[str, str], ...] = field(default=(), converter=_pairs)


def read_record(state: Path) -> Record:
    """What is kept in the state directory; nothing where there is no file. Raises `RecordError`."""
    place = state / NAME
    try:
        content = place.read_bytes()
    except FileNotFoundError:
        return Record()
    except OSError as error:
        raise RecordError(f"{place}: {error.strerror}") from error
    try:
        return _from_data(json.loads(content))
    except _OtherFormat as error:
        raise RecordError(f"{place} is of another version of mesh-host ({error})") from error
    except (ValueError, LookupError, TypeError, AttributeError, WireError) as error:
        raise RecordError(f"{place} is damaged ({str(error)[:_LONGEST]})") from error


def write_record(state: Path, record: Record) -> None:
    """Keep it, so that it lasts. Raises `OSError`."""
    write_whole(state / NAME, json.dumps(_to_data(record), sort_keys=True).encode(), 0o600)


def drop_record(state: Path) -> None:
    """Nothing is kept any more. Raises `OSError`."""
    if (state / NAME).exists():
        (state / NAME).unlink()
        sync_directory(state)


def _to_data(record: Record) -> dict[str, Any]:
    data = {
        "format": _FORMAT,
        "network": None if record.network is None else declared_to_data(record.network),
        "before": None if record.before is None else declared_to_data(record.before),
        "trying": record.trying,
        "undone": record.undone,
        "raised": None if record.raised is None else asdict(record.raised),
        "named": record.named,
        "file_made": record.file_made,
        "settings": dict(record.settings),
    }
    return {**data, "digest": fingerprint(data)}


def _from_data(data: dict[str, Any]) -> Record:
    if data["format"] != _FORMAT:
        raise _OtherFormat(f"format {data['format']}")
    if data.pop("digest") != fingerprint(data):
        raise ValueError("it is not as it was written")
    return Record(
        network=_network(data["network"]),
        before=_network(data["before"]),
        trying=data["trying"],
        undone=data["undone"],
        raised=None if data["raised"] is None else Raised(**data["raised"]),
        named=data["named"],
        file_made=data["file_made"],
        settings=data["settings"],
    )


def _network(data: Any) -> DeclaredNetwork | None:
    found: Any = entry_of(data, NodeNetwork)
    assert found is None or isinstance(found, DeclaredNetwork)
    return found
