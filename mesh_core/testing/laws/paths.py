"""The laws of paths in the overlay, as functions of what finds them (design, part 11).

A machine is found by who stands on the site of one of its endpoints, and by everybody where an endpoint is of
none. Two machines of which either finds the other talk directly; others do by way of a relay.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import permutations
from typing import Protocol, TypeAlias

import hypothesis
from attrs import evolve, frozen

from mesh_core.model.mesh import Mesh
from mesh_core.model.network import Attachment
from mesh_core.model.node import Node
from mesh_core.network.paths import Path
from mesh_core.testing.laws.network import broken, look
from mesh_core.testing.strategies.dice import Dice
from mesh_core.testing.strategies.of_networks import NETWORKED_THROWS, any_endpoint, any_networked_mesh

Between: TypeAlias = Callable[[str, str], Path | None]


@frozen(kw_only=True)
class Finding:
    """What is checked: where one machine finds another, and the paths between some nodes."""

    endpoint_for: Callable[[Attachment, Attachment], str | None]
    between: Callable[[Iterable[Node]], Between]


class PathCheck(Protocol):
    """One law as a function of what finds paths. Raises `AssertionError` where it is broken."""

    __name__: str

    def __call__(self, finding: Finding, settings: hypothesis.settings | None = None) -> None:
        """Look for nodes that break the law."""


def found_at(asks: Attachment, of: Attachment) -> list[str]:
    """Literally: where the first finds the second, the best first. Near comes before far."""
    near = [e.at for e in of.endpoints if e.site is not None and e.site == asks.site]
    return near + [e.at for e in of.endpoints if e.site is None]


def finds(one: Attachment, other: Attachment) -> bool:
    """Literally: whether one of the two can begin."""
    return bool(found_at(one, other) or found_at(other, one))


def literal_path(nodes: Iterable[Node], one: Node, other: Node) -> Path | None:
    """Literally: directly, else by the first relay by name that both reach, and that is neither of them."""
    if finds(one.network, other.network):
        return Path()
    for node in sorted(nodes, key=lambda node: node.name):
        relays = node.network.relay and node.name not in (one.name, other.name)
        if relays and finds(one.network, node.network) and finds(other.network, node.network):
            return Path(relay=node.name)
    return None


def _pairs(mesh: Mesh) -> Iterator[tuple[Node, Node]]:
    return permutations(mesh.nodes, 2)


def check_endpoints(finding: Finding, settings: hypothesis.settings | None = None) -> None:
    """> An endpoint of a site is for who stands there, any other one for everybody.

    Those of the own site come first, and each in its order.
    """

    def holds(mesh: Mesh) -> None:
        for one, other in _pairs(mesh):
            at = finding.endpoint_for(one.network, other.network)
            if at != next(iter(found_at(one.network, other.network)), None):
                broken("endpoints", f"{one.name} finds {other.name} at {at}", mesh)

    look(NETWORKED_THROWS, any_networked_mesh, holds, settings)


def check_symmetric(finding: Finding, settings: hypothesis.settings | None = None) -> None:
    """> How two nodes reach each other, the same from both ends: both have to choose the same relay."""

    def holds(mesh: Mesh) -> None:
        between = finding.between(mesh.nodes)
        for one, other in _pairs(mesh):
            if between(one.name, other.name) != between(other.name, one.name):
                broken("symmetric", f"{one.name} and {other.name} go different ways", mesh)

    look(NETWORKED_THROWS, any_networked_mesh, holds, settings)


def check_direct(finding: Finding, settings: hypothesis.settings | None = None) -> None:
    """> A packet goes from one machine to another if one of the two can begin: and then nobody is between."""

    def holds(mesh: Mesh) -> None:
        between = finding.between(mesh.nodes)
        for one, other in _pairs(mesh):
            path = between(one.name, other.name)
            if (path == Path()) != finds(one.network, other.network):
                broken("direct", f"{one.name} to {other.name} is {path}", mesh)

    look(NETWORKED_THROWS, any_networked_mesh, holds, settings)


def check_relays(finding: Finding, settings: hypothesis.settings | None = None) -> None:
    """> Where neither can begin, a *relay* that both reach directly forwards for them.

    It is neither of the two, and of several the first by name, whatever else there is.
    """

    def holds(mesh: Mesh) -> None:
        for nodes in (mesh.nodes, mesh.nodes[::-1]):
            between = finding.between(nodes)
            for one, other in _pairs(mesh):
                path = between(one.name, other.name)
                if path != literal_path(mesh.nodes, one, other):
                    broken("relays", f"{one.name} to {other.name} is {path}", mesh)

    look(NETWORKED_THROWS, any_networked_mesh, holds, settings)


def check_more_is_not_less(finding: Finding, settings: hypothesis.settings | None = None) -> None:
    """Another endpoint, or another relay, takes no path away, and what was direct stays so."""

    def holds(dice: Dice) -> None:
        mesh = any_networked_mesh(dice)
        lucky = dice.one_of(mesh.nodes)
        more = evolve(lucky.network, endpoints=[*lucky.network.endpoints, any_endpoint(dice)])
        if dice.one_in(2):
            more = evolve(lucky.network, relay=True)
        after = evolve(
            mesh, nodes=[evolve(n, network=more) if n.name == lucky.name else n for n in mesh.nodes]
        )
        was, now = finding.between(mesh.nodes), finding.between(after.nodes)
        for one, other in _pairs(mesh):
            before, then = was(one.name, other.name), now(one.name, other.name)
            if (before is not None and then is None) or (before == Path() != then):
                broken("more", f"{one.name} to {other.name} was {before}, and is {then}", mesh, after)

    look(NETWORKED_THROWS + 4, lambda dice: dice, holds, settings)


PATH_LAWS: tuple[PathCheck, ...] = (
    check_endpoints,
    check_symmetric,
    check_direct,
    check_relays,
    check_more_is_not_less,
)
"""Every law of paths."""
