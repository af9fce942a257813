"""What the host keeps of the network: what it made so, what was before, whether that is being tried.

A file of the host's own. One that is damaged never reads as "there is no network".
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from mesh_adapters.host.whole import write_whole
from mesh_core.model.network import DeclaredNetwork
from mesh_core.wire.entries import NodeNetwork
from mesh_core.wire.faults import WireError
from mesh_core.wire.message import entry_of
from mesh_core.wire.network import declared_to_data

NAME: Final = "network.json"
_FORMAT = 1


class RecordError(Exception):
    """The record is there and cannot be used, in words."""


@frozen(kw_only=True)
class Record:
    """What holds here. `raised` is whether the interface is ours, `named` whether the block of names is.

    `trying` is the generation whose network is being tried, with `before` to go back to; `undone` one that
    went back, and is not tried again. `forwarding` is what IPv6 forwarding was before a relay needed it.
    """

    network: DeclaredNetwork | None = None
    before: DeclaredNetwork | None = None
    trying: int | None = None
    undone: int | None = None
    raised: bool = False
    named: bool = False
    forwarding: str | None = None

    def settled(self) -> Record:
        """The same once nothing is being tried."""
        return evolve(self, before=None, trying=None)


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
    except (ValueError, LookupError, TypeError, AttributeError, WireError) as error:
        raise RecordError(f"{place} is damaged ({error})") from error


def write_record(state: Path, record: Record) -> None:
    """Keep it, so that it lasts. Raises `OSError`."""
    write_whole(state / NAME, json.dumps(_to_data(record), sort_keys=True).encode(), 0o600)


def drop_record(state: Path) -> None:
    """Nothing is kept any more."""
    (state / NAME).unlink(missing_ok=True)


def _to_data(record: Record) -> dict[str, Any]:
    return {
        "format": _FORMAT,
        "network": None if record.network is None else declared_to_data(record.network),
        "before": None if record.before is None else declared_to_data(record.before),
        "trying": record.trying,
        "undone": record.undone,
        "raised": record.raised,
        "named": record.named,
        "forwarding": record.forwarding,
    }


def _from_data(data: dict[str, Any]) -> Record:
    if data["format"] != _FORMAT:
        raise ValueError(f"format {data['format']}")
    return Record(
        network=_network(data["network"]),
        before=_network(data["before"]),
        trying=data["trying"],
        undone=data["undone"],
        raised=bool(data["raised"]),
        named=bool(data["named"]),
        forwarding=data["forwarding"],
    )


def _network(data: Any) -> DeclaredNetwork | None:
    found: Any = entry_of(data, NodeNetwork)
    assert found is None or isinstance(found, DeclaredNetwork)
    return found
