"""The bytes of a message -> plain data -> an entry, with every fault at its place."""

from __future__ import annotations

from typing import Any, TypeVar

from mesh_core.wire.faults import Misfit, WireError, under
from mesh_core.wire.shape import structure
from mesh_core.wire.text import Syntax, parse

_Entry = TypeVar("_Entry")


def data_of(content: bytes, limit: int) -> Any:
    """The plain data of a message of at most `limit` bytes. Raises `WireError`."""
    parsed = parse(content, Syntax.JSON, limit)
    if parsed.faults:
        raise WireError(parsed.faults)
    return parsed.data


def entry_of(data: Any, kind: type[_Entry]) -> _Entry:
    """The entry that a message's data describes. Raises `WireError`."""
    try:
        return structure(data, kind)
    except Misfit as error:
        raise WireError(under("$", error.faults)) from None
