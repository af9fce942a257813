"""Delivery is a comparison (design, part 10): what is in the catalogue against what its source has.

> `built commit` against `head`, for each module
"""

from __future__ import annotations

from enum import StrEnum

from mesh_core.model.origin import FromBuild, Origin
from mesh_core.model.source import Seen, Source


class Delivery(StrEnum):
    """How a module stands to its source."""

    CURRENT = "current"
    """Built from a commit that is the head, as last checked."""
    BEHIND = "behind"
    """Built from a known commit, and the known head is another."""
    UNCHECKED = "unchecked"
    """Has a source; nobody has looked at its head yet."""
    NO_SOURCE = "no-source"
    """Handed over directly, or shipped with the control plane."""
    BY_HAND = "by-hand"
    """Has a source, but what is in the catalogue now was handed over by a person. A build ends this."""
    NEVER_BUILT = "never-built"
    """A source was set for the name, and no manifest was built or handed over yet."""


def delivery(source: Source | None, seen: Seen, origin: Origin | None) -> Delivery:
    """How a module stands to its source. Never raises. Design, part 10.

    `seen` is what is known of that source; `origin` is that of the current manifest, None where there is
    none. A later look that ran into something changes nothing: the head stays the one that was seen last.
    """
    if source is None:
        return Delivery.NO_SOURCE
    if origin is None:
        return Delivery.NEVER_BUILT
    if not isinstance(origin, FromBuild):
        return Delivery.BY_HAND
    if seen.head is None:
        return Delivery.UNCHECKED
    return Delivery.CURRENT if origin.commit.id == seen.head.id else Delivery.BEHIND
