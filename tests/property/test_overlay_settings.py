"""What an interface is told makes it what is declared, from whatever it was; names leave the rest alone."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mesh_adapters.host.overlay.configuration import LONGEST, read_dump, settings, to_be_found
from mesh_adapters.host.overlay.names import BEGIN, END, DamagedBlock, block, with_names, without_block
from mesh_core.model.network import DeclaredNetwork, Peer
from tests.unit.host.fake_wireguard import NOW, FakeLink, FakePeer, FakeWireGuard

KEYS = [base64.b64encode(bytes([number]) * 32).decode() for number in range(1, 9)]
ADDRESSES = [f"10.77.0.{number}" for number in range(2, 30)]
ENDPOINTS = [f"192.0.2.{number}:51820" for number in range(1, 4)]
OWN = "the public key"


@st.composite
def networks(draw: st.DrawFn) -> DeclaredNetwork:
    """A few peers, each with addresses of its own."""
    keys = draw(st.lists(st.sampled_from(KEYS), unique=True))
    free = draw(st.permutations(ADDRESSES))
    peers = []
    for key in keys:
        count = draw(st.integers(1, 3))
        mine, free = free[:count], free[count:]
        endpoint, keepalive = draw(st.none() | st.sampled_from(ENDPOINTS)), draw(st.sampled_from([0, 25]))
        node = f"n{KEYS.index(key)}"
        peers.append(Peer(node=node, key=key, addresses=mine, endpoint=endpoint, keepalive=keepalive))
    port = draw(st.integers(1, 3))
    return DeclaredNetwork(address="10.77.0.1", range="10.77.0.0/24", port=port, peers=peers)


@st.composite
def links(draw: st.DrawFn) -> FakeLink:
    """Whatever an interface may have been told by somebody."""
    keys: list[str] = draw(st.lists(st.sampled_from(KEYS), unique=True))
    peers = {
        key: FakePeer(
            endpoint=draw(st.none() | st.sampled_from(ENDPOINTS)),
            keepalive=draw(st.sampled_from([0, 25])),
            shared=draw(st.booleans()),
            heard=draw(st.sampled_from([0, NOW - 1000, NOW])),
        )
        for key in keys
    }
    for address in ADDRESSES:
        whose: str | None = draw(st.sampled_from([None, *keys]))
        if whose is not None:
            peers[whose].allowed.append(f"{address}/32")
    return FakeLink(1, "wireguard", private=KEYS[0], port=1, peers=peers)


def tell(fake: FakeWireGuard, network: DeclaredNetwork, told: DeclaredNetwork | None) -> int:
    """Have the interface told what differs: in how many commands."""
    assert fake.link is not None
    seen = read_dump(fake._dump(fake.link), NOW)
    found = {endpoint: endpoint for endpoint in to_be_found(network, told, seen)}
    commands = settings(network, seen, fake.link.public, "unused", found, told)
    for words in commands:
        fake._set(fake.link, list(words))
    return len(commands)


@given(network=networks(), link=links(), told=st.none() | networks())
def test_it_is_what_is_declared_then_and_told_nothing_more(
    network: DeclaredNetwork, link: FakeLink, told: DeclaredNetwork | None
) -> None:
    fake = FakeWireGuard.__new__(FakeWireGuard)
    fake.link = link
    heard = {key: (peer.endpoint, peer.heard) for key, peer in link.peers.items()}
    tell(fake, network, told)
    assert link.port == network.port
    assert set(link.peers) == {peer.key for peer in network.peers}
    before = {peer.key: peer.endpoint for peer in told.peers} if told is not None else {}
    for peer in network.peers:
        there = link.peers[peer.key]
        assert sorted(there.allowed) == sorted(f"{address}/32" for address in peer.addresses)
        assert (there.keepalive, there.shared) == (peer.keepalive, False)
        where, when = heard.get(peer.key, (None, 0))
        if peer.endpoint is None or (where and when == NOW and before.get(peer.key) == peer.endpoint):
            assert there.endpoint == where, "it is where it was heard"
        else:
            assert there.endpoint == peer.endpoint
    assert tell(fake, network, network) == 0


def test_no_command_is_too_long_for_a_system() -> None:
    many = [
        Peer(
            node=f"m{number}",
            key=base64.b64encode(number.to_bytes(32)).decode(),
            addresses=[f"fd77::{number:x}"],
        )
        for number in range(256, 2000)
    ]
    large = DeclaredNetwork(address="fd77::1", range="fd77::/64", peers=many)
    fake = FakeWireGuard.__new__(FakeWireGuard)
    fake.link = FakeLink(1, "wireguard")
    seen = read_dump(fake._dump(fake.link), NOW)
    commands = settings(large, seen, OWN, "/etc/key", {})
    assert max(len(" ".join(words)) for words in commands) <= LONGEST
    for words in commands:
        assert words[0] in ("private-key", "peer"), "a peer is not torn in two"
    assert sum(words.count("peer") for words in commands) == len(many)


LINES = st.sampled_from(
    [b"127.0.0.1 localhost", b"", b"# \xff\xfe", b"10.0.0.1 a\r", b"\x0c", b"10.77.0.2 nas.mesh", BEGIN[:-1]]
)
NAMES = st.dictionaries(st.sampled_from(["a", "nas", "pi"]), st.sampled_from(ADDRESSES), min_size=1).map(
    lambda names: tuple(sorted(names.items()))
)


@given(st.lists(LINES), st.booleans(), NAMES, NAMES)
def test_everything_around_the_names_stays_byte_for_byte(
    lines: list[bytes], ended: bool, first: tuple[tuple[str, str], ...], second: tuple[tuple[str, str], ...]
) -> None:
    content = b"\n".join(lines) + (b"\n" if ended else b"")
    once = with_names(content, first)
    assert block(first) in once
    assert without_block(once) == content
    assert with_names(once, first) == once
    assert with_names(once, second) == with_names(content, second)
    assert with_names(once, ()) == content


@given(st.lists(LINES), st.lists(LINES), NAMES, st.lists(LINES))
def test_a_block_stays_where_somebody_moved_it(
    before: list[bytes], after: list[bytes], names: tuple[tuple[str, str], ...], inside: list[bytes]
) -> None:
    first, last = b"".join(line + b"\n" for line in before), b"".join(line + b"\n" for line in after)
    old = b"\n".join([BEGIN, *inside, END]) + b"\n"
    assert with_names(first + old + last, names) == first + block(names) + last


@given(st.lists(LINES | st.sampled_from([BEGIN, END])), NAMES)
def test_half_a_block_is_never_made_whole(lines: list[bytes], names: tuple[tuple[str, str], ...]) -> None:
    content = b"".join(line + b"\n" for line in lines)
    marks = [line for line in lines if line in (BEGIN, END)]
    try:
        changed = with_names(content, names)
    except DamagedBlock:
        assert marks not in ([], [BEGIN, END])
    else:
        assert marks in ([], [BEGIN, END])
        assert block(names) in changed


def test_what_is_no_dump_is_told() -> None:
    for dump in ("", "nonsense", "a\tb\tc"):
        with pytest.raises(ValueError, match="no dump"):
            read_dump(dump, NOW)
