"""Who reaches whom in the overlay, and how (design, part 11).

A packet goes from one machine to another if one of the two can begin: it knows an endpoint of the other. An
endpoint of a site is for who stands there, any other one for everybody. Where neither can begin, a *relay*
that both reach directly forwards for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TypeAlias

from attrs import frozen

from mesh_core.model.network import Attachment
from mesh_core.model.node import Node


def endpoint_for(asks: Attachment, of: Attachment) -> str | None:
    """Where the first machine finds the second: on the site where it stands, else as everybody does."""
    near = (e.at for e in of.endpoints if e.site is not None and e.site == asks.site)
    far = (e.at for e in of.endpoints if e.site is None)
    return next(near, None) or next(far, None)


def is_direct(one: Attachment, other: Attachment) -> bool:
    """Whether one of the two can begin to talk to the other."""
    return endpoint_for(one, other) is not None or endpoint_for(other, one) is not None


@frozen(kw_only=True)
class Path:
    """How two nodes reach each other, the same from both ends: directly, or by way of a relay."""

    relay: str | None = None


DIRECT = Path()

_Manner: TypeAlias = tuple[str | None, frozenset[str | None]]
"""All that paths hang on: where a machine stands, and from which sites it is found; None for everywhere."""


def _manner(attachment: Attachment) -> _Manner:
    return attachment.site, frozenset(endpoint.site for endpoint in attachment.endpoints)


class Paths:
    """The paths between these nodes. Nodes that are attached in the same manner have the same ones."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes = {node.name: node.network for node in nodes}
        self._manners = {name: _manner(attachment) for name, attachment in self._nodes.items()}
        self._relays = [name for name, attachment in sorted(self._nodes.items()) if attachment.relay]
        self._known: dict[tuple[_Manner, _Manner], Path | None] = {}

    def between(self, one: str, other: str) -> Path | None:
        """How two nodes reach each other; None where they do not. Of several relays, the first by name."""
        manners = self._manners[one], self._manners[other]
        if manners not in self._known:
            self._known[manners] = self._find(self._nodes[one], self._nodes[other])
        return self._known[manners]

    def _find(self, one: Attachment, other: Attachment) -> Path | None:
        """Neither is a relay for the two: it would have to reach the other one directly."""
        if is_direct(one, other):
            return DIRECT
        for name in self._relays:
            relay = self._nodes[name]
            if is_direct(one, relay) and is_direct(other, relay):
                return Path(relay=name)
        return None

    def of_all(self) -> Iterator[tuple[str, str, Path]]:
        """Every two nodes that reach each other."""
        for one, other in combinations(sorted(self._nodes), 2):
            path = self.between(one, other)
            if path is not None:
                yield one, other, path
