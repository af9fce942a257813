"""Who reaches whom in the overlay, and how (design, part 11).

A packet goes from one machine to another if one of the two can begin: it knows an endpoint of the other. An
endpoint of a site is for who stands there, any other one for everybody. Where neither can begin, a *relay*
that both reach directly forwards for them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property
from itertools import combinations

from attrs import frozen

from mesh_core.model.network import Attachment
from mesh_core.model.node import Node


def endpoint_for(asks: Attachment, of: Attachment) -> str | None:
    """Where the first machine finds the second: on the site where it stands, else as everybody does."""
    near = [e.at for e in of.endpoints if e.site is not None and e.site == asks.site]
    found = [*near, *(e.at for e in of.endpoints if e.site is None)]
    return found[0] if found else None


def is_direct(one: Attachment, other: Attachment) -> bool:
    """Whether one of the two can begin to talk to the other."""
    return endpoint_for(one, other) is not None or endpoint_for(other, one) is not None


@frozen(kw_only=True)
class Path:
    """How two nodes reach each other, the same from both ends: directly, or by way of a relay."""

    relay: str | None = None


DIRECT = Path()


class Paths:
    """The paths between these nodes. Between two, one look at each relay."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self._nodes = {node.name: node for node in nodes}

    @cached_property
    def _relays(self) -> list[Node]:
        """Every relay, by name: which one is taken does not hang on who asks."""
        return [node for _, node in sorted(self._nodes.items()) if node.network.relay]

    def between(self, one: str, other: str) -> Path | None:
        """How two nodes reach each other; None where they do not. Of several relays, the first by name."""
        a, b = self._nodes[one].network, self._nodes[other].network
        if is_direct(a, b):
            return DIRECT
        for relay in self._relays:
            between = relay.name not in (one, other)
            if between and is_direct(a, relay.network) and is_direct(b, relay.network):
                return Path(relay=relay.name)
        return None

    def of_all(self) -> Iterator[tuple[str, str, Path]]:
        """Every two nodes that reach each other."""
        for one, other in combinations(sorted(self._nodes), 2):
            path = self.between(one, other)
            if path is not None:
                yield one, other, path
