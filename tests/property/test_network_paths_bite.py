"""Each law of paths fails for what breaks it: each has a fault planted here."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest
from attrs import evolve
from hypothesis import Phase, settings

from mesh_core.model.network import Attachment
from mesh_core.model.node import Node
from mesh_core.network.paths import DIRECT, Path, Paths, endpoint_for
from mesh_core.testing.laws.paths import (
    PATH_LAWS,
    Between,
    Finding,
    PathCheck,
    check_direct,
    check_endpoints,
    check_more_is_not_less,
    check_relays,
    check_symmetric,
)

QUICK = settings(max_examples=1000, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
FINDING: list[tuple[PathCheck, str, Finding]] = []


def finding(*checks: PathCheck) -> Callable[[Callable[[], Finding]], Callable[[], Finding]]:
    """Enter what finds paths wrongly under the laws that have to notice it."""

    def entered(made: Callable[[], Finding]) -> Callable[[], Finding]:
        FINDING.extend((check, made.__name__, made()) for check in checks)
        return made

    return entered


def bent(bend: Callable[[dict[str, Node], str, str, Path | None], Path | None]) -> Finding:
    """What finds other paths."""

    def between(nodes: Iterable[Node]) -> Between:
        known = {node.name: node for node in nodes}
        real = Paths(known.values()).between
        return lambda one, other: bend(known, one, other, real(one, other))

    return Finding(endpoint_for=endpoint_for, between=between)


def at(ask: Callable[[Attachment, Attachment], str | None]) -> Finding:
    return Finding(endpoint_for=ask, between=lambda nodes: Paths(nodes).between)


@finding(check_endpoints)
def uses_any_endpoint() -> Finding:
    return at(lambda _, of: of.endpoints[0].at if of.endpoints else None)


@finding(check_endpoints)
def goes_the_long_way() -> Finding:
    """By what everybody uses, although it stands beside it."""
    return at(lambda asks, of: endpoint_for(evolve(asks, site=None), of) or endpoint_for(asks, of))


@finding(check_endpoints)
def does_not_look_where_it_stands() -> Finding:
    return at(lambda asks, of: endpoint_for(evolve(asks, site=None), of))


@finding(check_endpoints)
def uses_the_last_first() -> Finding:
    return at(lambda asks, of: endpoint_for(asks, evolve(of, endpoints=of.endpoints[::-1])))


@finding(check_symmetric, check_relays)
def chooses_by_who_asks() -> Finding:
    """The last relay for those whose name comes last."""

    def bend(nodes: dict[str, Node], one: str, other: str, path: Path | None) -> Path | None:
        if path is None or path == DIRECT or one < other:
            return path
        relays = [n for n in reversed(nodes) if nodes[n].network.relay and n not in (one, other)]
        reached = [
            n for n in relays if all(Paths(nodes.values()).between(e, n) == DIRECT for e in (one, other))
        ]
        return Path(relay=reached[0])

    return bent(bend)


@finding(check_direct, check_more_is_not_less)
def only_who_asks_begins() -> Finding:
    def bend(nodes: dict[str, Node], one: str, other: str, path: Path | None) -> Path | None:
        found = endpoint_for(nodes[one].network, nodes[other].network)
        return path if path != DIRECT or found else None

    return Finding(endpoint_for=endpoint_for, between=lambda nodes: _likes_relays(nodes, bend))


def _likes_relays(
    nodes: Iterable[Node], bend: Callable[[dict[str, Node], str, str, Path | None], Path | None]
) -> Between:
    """By a relay wherever there is one; else as it is bent."""
    known = {node.name: node for node in nodes}
    real = Paths(known.values()).between
    relays = [name for name in sorted(known) if known[name].network.relay]

    def between(one: str, other: str) -> Path | None:
        for name in relays:
            if name not in (one, other) and real(one, name) == real(other, name) == DIRECT:
                return Path(relay=name)
        return bend(known, one, other, real(one, other))

    return between


@finding(check_relays)
def forwards_by_who_does_not() -> Finding:
    def bend(nodes: dict[str, Node], one: str, other: str, path: Path | None) -> Path | None:
        everybody = [evolve(n, network=evolve(n.network, relay=True)) for n in nodes.values()]
        return Paths(everybody).between(one, other)

    return bent(bend)


@finding(check_relays)
def takes_the_last_relay() -> Finding:
    def bend(nodes: dict[str, Node], one: str, other: str, path: Path | None) -> Path | None:
        if path is None or path == DIRECT:
            return path
        without = [n for n in nodes.values() if n.name != path.relay]
        return Paths(without).between(one, other) or path

    return bent(bend)


@finding(check_relays)
def knows_no_relays() -> Finding:
    return bent(lambda _, __, ___, path: path if path == DIRECT else None)


@pytest.mark.parametrize(
    ("check", "name", "bad"), FINDING, ids=[f"{c.__name__}-{name}" for c, name, _ in FINDING]
)
def test_a_fault_breaks_its_law_of_paths(check: PathCheck, name: str, bad: Finding) -> None:
    with pytest.raises(AssertionError, match=r"^the network \("):
        check(bad, QUICK)


def test_each_law_has_a_fault() -> None:
    assert {check for check, _, _ in FINDING} == {*PATH_LAWS}
