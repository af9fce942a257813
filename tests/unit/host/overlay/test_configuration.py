"""What an interface is told, one difference at a time; the law is in tests/property/test_overlay_settings.py.

The dumps are what wg 1.0.20210914 said of an interface of wireguard-go; their private keys are nobody's.
"""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.host.overlay.configuration import (
    STALE,
    SeenInterface,
    SeenPeer,
    alone,
    read_dump,
    settings,
    to_be_found,
)
from mesh_core.model.network import DeclaredNetwork, Peer

PRIVATE = "iBgffKBCsZtaIK/Gbpj39SOtSbHeDYRi0iGrpq85c2U="
OWN = "Nd9XYAbMmxJAkib0PZUCrtiy4HorY718x/hoXllzN0A="
PI = "w7b2q7lEde9TIuvoaQmNSRkOaNymBI961QhhanXQCGA="
NAS = "Y20WYS7K6Ymtz3o3cM/gX/HZHZtyHCUPaBA+OM1BBg8="
VPS = "hUhS3wIa7gup3xWA1CVAjMhUQifF91+hibcEo+OVczE="
NOW = 1_800_000_000

UNTOLD = "(none)\t(none)\t53670\toff\n"
DUMP = (
    f"{PRIVATE}\t{OWN}\t51820\t0xca6c\n"
    f"{PI}\t(none)\t[2001:db8::7]:51820\tfd77::2/128,10.77.0.2/32\t{NOW - 12}\t1480\t92\t25\n"
    f"{NAS}\ti+/SL3hvTnH2nwOpY7L4VnJOlZLtFg2YEdEsi2EDxeg=\t(none)\t(none)\t0\t0\t0\toff\n"
    f"{VPS}\t(none)\t192.0.2.9:7\t10.77.0.3/32\t{NOW + 5}\t0\t148\toff\n"
)


def test_what_wg_says_of_an_interface_that_was_told_nothing() -> None:
    assert read_dump(UNTOLD, NOW) == SeenInterface(key=None, port=53670, peers={})


def test_what_wg_says_of_one_with_peers() -> None:
    seen = read_dump(DUMP, NOW)
    assert (seen.key, seen.port, list(seen.peers)) == (OWN, 51820, [PI, NAS, VPS])
    assert seen.peers[PI] == SeenPeer(
        key=PI,
        endpoint="[2001:db8::7]:51820",
        allowed=frozenset({"fd77::2/128", "10.77.0.2/32"}),
        keepalive=25,
        handshake=12,
        received=1480,
        sent=92,
    )
    assert seen.peers[NAS] == SeenPeer(
        key=NAS, endpoint=None, allowed=frozenset(), keepalive=0, handshake=None, shared=True
    )
    assert seen.peers[VPS].handshake == 0, "a clock that was put back makes nothing that is to come"


def test_the_private_key_is_not_in_what_was_read() -> None:
    assert PRIVATE not in repr(read_dump(DUMP, NOW))


@pytest.mark.parametrize(
    "dump",
    [
        "",
        "\n",
        "nonsense",
        DUMP.split("\n", 1)[1],
        DUMP.replace("\toff\n", "\n"),
        DUMP.replace("51820\t0xca6c", "port\toff"),
        DUMP[:-20],
    ],
)
def test_what_is_no_dump_of_an_interface_is_not_read_as_one(dump: str) -> None:
    with pytest.raises(ValueError, match=r"no dump|unpack|invalid literal"):
        read_dump(dump, NOW)


def test_an_address_alone() -> None:
    assert (alone("10.77.0.3"), alone("fd77::3")) == ("10.77.0.3/32", "fd77::3/128")


AT = "192.0.2.7:51820"
PEER = Peer(node="pi", key=PI, addresses=["10.77.0.2"], endpoint=AT, keepalive=25)
NETWORK = DeclaredNetwork(address="10.77.0.1", range="10.77.0.0/24", peers=[PEER])
THERE = SeenPeer(key=PI, endpoint=AT, allowed=frozenset({"10.77.0.2/32"}), keepalive=25, handshake=5)
AS_DECLARED = SeenInterface(key=OWN, port=51820, peers={PI: THERE})


def seen(**more: Any) -> SeenInterface:
    """As declared, but for what is given of the interface."""
    return evolve(AS_DECLARED, **more)


def seen_peer(**more: Any) -> SeenInterface:
    """As declared, but for what is given of its peer."""
    return seen(peers={PI: evolve(THERE, **more)})


def told(network: DeclaredNetwork, seen: SeenInterface, found: dict[str, str]) -> list[tuple[str, ...]]:
    return settings(network, seen, OWN, "/etc/key", found)


DIFFERENT: list[tuple[SeenInterface, tuple[str, ...]]] = [
    (seen(key=None), ("private-key", "/etc/key")),
    (seen(key=VPS), ("private-key", "/etc/key")),
    (seen(port=1), ("listen-port", "51820")),
    (
        seen(peers={}),
        ("peer", PI, "endpoint", AT, "persistent-keepalive", "25", "allowed-ips", "10.77.0.2/32"),
    ),
    (seen(peers={PI: THERE, VPS: evolve(THERE, key=VPS)}), ("peer", VPS, "remove")),
    (seen_peer(shared=True), ("peer", PI, "preshared-key", "/dev/null")),
    (seen_peer(endpoint="192.0.2.8:1"), ("peer", PI, "endpoint", AT)),
    (seen_peer(endpoint=None), ("peer", PI, "endpoint", AT)),
    (seen_peer(keepalive=0), ("peer", PI, "persistent-keepalive", "25")),
    (seen_peer(allowed=frozenset()), ("peer", PI, "allowed-ips", "10.77.0.2/32")),
    (
        seen_peer(allowed=frozenset({"10.77.0.2/32", "10.0.0.0/8"})),
        ("peer", PI, "allowed-ips", "10.77.0.2/32"),
    ),
    (seen_peer(allowed=frozenset({"10.77.0.0/24"})), ("peer", PI, "allowed-ips", "10.77.0.2/32")),
]


@pytest.mark.parametrize(("there", "words"), DIFFERENT)
def test_what_differs_is_told_and_nothing_else(there: SeenInterface, words: tuple[str, ...]) -> None:
    assert told(NETWORK, there, {AT: AT}) == [words]


def test_what_is_as_declared_is_told_nothing() -> None:
    assert told(NETWORK, AS_DECLARED, {AT: AT}) == []
    assert told(NETWORK, seen_peer(endpoint="198.51.100.1:9"), {}) == [], "it is where it was heard"


def test_a_peer_that_is_to_say_nothing_by_itself_is_told_so() -> None:
    silent = evolve(NETWORK, peers=[evolve(PEER, keepalive=0)])
    assert told(silent, AS_DECLARED, {}) == [("peer", PI, "persistent-keepalive", "off")]
    assert told(silent, seen_peer(keepalive=0), {}) == []


def test_a_peer_without_a_place_is_told_of_all_the_same() -> None:
    """Its name was not found, or it has none: it may come by itself."""
    for endpoint in (AT, None):
        network = evolve(NETWORK, peers=[evolve(PEER, endpoint=endpoint, keepalive=0)])
        assert told(network, seen(peers={}), {}) == [("peer", PI, "allowed-ips", "10.77.0.2/32")]


def test_everything_that_differs_is_one_command() -> None:
    """And whoever has to go does so first: an address is one peer's at a time."""
    network = evolve(
        NETWORK, port=1, peers=[PEER, evolve(PEER, node="vps", key=VPS, addresses=["10.77.0.3"])]
    )
    there = seen(key=None, peers={PI: evolve(THERE, keepalive=0), NAS: evolve(THERE, key=NAS)})
    (words,) = told(network, there, {})
    assert words == (
        *("private-key", "/etc/key", "listen-port", "1"),
        *("peer", NAS, "remove"),
        *("peer", PI, "persistent-keepalive", "25"),
        *("peer", VPS, "persistent-keepalive", "25", "allowed-ips", "10.77.0.3/32"),
    )


MOVED = "198.51.100.1:9"
ANEW = evolve(NETWORK, peers=[evolve(PEER, endpoint="192.0.2.77:51820")])


@pytest.mark.parametrize(
    ("before", "there", "looked_for"),
    [
        (None, seen(peers={}), True),
        (NETWORK, seen(peers={}), True),
        (NETWORK, seen_peer(endpoint=None), True),
        (NETWORK, AS_DECLARED, False),
        (NETWORK, seen_peer(endpoint=MOVED), False),
        (NETWORK, seen_peer(endpoint=MOVED, handshake=STALE - 1), False),
        (NETWORK, seen_peer(endpoint=MOVED, handshake=STALE), True),
        (NETWORK, seen_peer(endpoint=MOVED, handshake=None), True),
        (ANEW, seen_peer(endpoint=MOVED), True),
        (ANEW, AS_DECLARED, True),
        (None, AS_DECLARED, True),
        (evolve(NETWORK, peers=[evolve(PEER, endpoint=None)]), seen_peer(endpoint=MOVED), True),
        (evolve(NETWORK, peers=[]), seen_peer(endpoint=MOVED), True),
        (evolve(NETWORK, port=1), seen_peer(endpoint=MOVED), False),
    ],
)
def test_a_peer_is_looked_for_when_it_is_new_declared_elsewhere_or_not_heard(
    before: DeclaredNetwork | None, there: SeenInterface, looked_for: bool
) -> None:
    assert to_be_found(NETWORK, before, there) == ((AT,) if looked_for else ())


def test_who_has_no_place_is_not_looked_for() -> None:
    assert to_be_found(evolve(NETWORK, peers=[evolve(PEER, endpoint=None)]), None, seen(peers={})) == ()


def test_wireguard_itself_takes_a_peer_to_be_gone_after_three_minutes() -> None:
    assert STALE == 180
