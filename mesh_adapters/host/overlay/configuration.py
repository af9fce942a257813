"""What `wg set` is told so that an interface becomes what is declared; nothing where it is that. Pure.

Only what differs is said. `wg syncconf`, which is told everything, takes the addresses of every peer away and
gives them back: of a flood of packets to a peer that stays as it is, some are lost in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from ipaddress import ip_address
from typing import Final

from attrs import frozen

from mesh_core.model.network import DeclaredNetwork, Peer

STALE: Final = 180
"""Seconds after a handshake after which WireGuard itself takes a peer to be gone."""
LONGEST: Final = 64 * 1024
"""Characters of one command: what a peer is told may be long, and there may be many."""
_NOTHING: Final = "(none)"


@frozen(kw_only=True)
class SeenPeer:
    """A peer as the interface has it; `handshake` is how many seconds ago the last was, None for never."""

    key: str
    endpoint: str | None
    allowed: frozenset[str]
    keepalive: int
    handshake: int | None
    shared: bool = False
    """Whether a secret is shared with it beside the keys, which nothing of the mesh does."""
    received: int = 0
    sent: int = 0


@frozen(kw_only=True)
class SeenInterface:
    """An interface as `wg show INTERFACE dump` tells of it."""

    key: str | None
    port: int
    peers: Mapping[str, SeenPeer]


def read_dump(dump: str, now: int) -> SeenInterface:
    """What a dump says at an instant, in seconds since 1970. Raises `ValueError` for what is none."""
    lines = [line.split("\t") for line in dump.splitlines() if line]
    if not lines or len(lines[0]) != 4:
        raise ValueError("this is no dump of an interface")
    _private, public, port, _mark = lines[0]
    peers = [_seen_peer(fields, now) for fields in lines[1:]]
    key = None if public == _NOTHING else public
    return SeenInterface(key=key, port=int(port), peers={peer.key: peer for peer in peers})


def _seen_peer(fields: list[str], now: int) -> SeenPeer:
    key, shared, endpoint, allowed, handshake, received, sent, keepalive = fields
    return SeenPeer(
        key=key,
        endpoint=None if endpoint == _NOTHING else endpoint,
        allowed=frozenset() if allowed == _NOTHING else frozenset(allowed.split(",")),
        keepalive=0 if keepalive == "off" else int(keepalive),
        handshake=None if handshake == "0" else max(0, now - int(handshake)),
        shared=shared != _NOTHING,
        received=int(received),
        sent=int(sent),
    )


def alone(address: str) -> str:
    """An address as a range that has only it."""
    return f"{address}/{ip_address(address).max_prefixlen}"


def to_be_found(
    network: DeclaredNetwork, told: DeclaredNetwork | None, seen: SeenInterface
) -> tuple[str, ...]:
    """The endpoints that the interface has to be told; `told` is what it was told last.

    A machine that moved about is where it was heard last, and stays known there: unless its endpoint is
    declared anew, or nothing was heard from there for long.
    """
    before = _endpoints(told)
    lost = [
        peer.endpoint
        for peer in network.peers
        if peer.endpoint is not None and _is_lost(peer, before.get(peer.key), seen.peers.get(peer.key))
    ]
    return tuple(dict.fromkeys(lost))


def _endpoints(network: DeclaredNetwork | None) -> Mapping[str, str | None]:
    return {peer.key: peer.endpoint for peer in network.peers} if network is not None else {}


def _is_lost(peer: Peer, told: str | None, seen: SeenPeer | None) -> bool:
    if seen is None or seen.endpoint is None or told != peer.endpoint:
        return True
    return seen.handshake is None or seen.handshake >= STALE


def settings(
    network: DeclaredNetwork,
    seen: SeenInterface,
    key: str,
    place: str,
    found: Mapping[str, str],
    told: DeclaredNetwork | None = None,
) -> list[tuple[str, ...]]:
    """The words after `wg set INTERFACE`, of each command that there has to be; none where all is so.

    `key` is the public one of the private key in the file at `place`. `found` has, by endpoint, the address
    that its host has now, of those that are to be told; two peers may be said to be at one, and only one of
    them be lost. An endpoint that was not found is left out: the peer is known, and may come by itself.
    """
    before = _endpoints(told)
    own = [] if seen.key == key else ["private-key", place]
    own += [] if seen.port == network.port else ["listen-port", str(network.port)]
    declared = {peer.key for peer in network.peers}
    gone = [("peer", other, "remove") for other in sorted(seen.peers.keys() - declared)]
    peers = [_words(peer, seen.peers.get(peer.key), found, before.get(peer.key)) for peer in network.peers]
    return list(_commands([tuple(own), *gone, *peers]))


def _words(peer: Peer, seen: SeenPeer | None, found: Mapping[str, str], told: str | None) -> tuple[str, ...]:
    lost = peer.endpoint is not None and _is_lost(peer, told, seen)
    at = found.get(peer.endpoint) if peer.endpoint is not None and lost else None
    allowed = frozenset(alone(address) for address in peer.addresses)
    words: list[str] = []
    if seen is not None and seen.shared:
        words += ["preshared-key", "/dev/null"]
    if at is not None and (seen is None or seen.endpoint != at):
        words += ["endpoint", at]
    if peer.keepalive != (0 if seen is None else seen.keepalive):
        words += ["persistent-keepalive", str(peer.keepalive or "off")]
    if seen is None or seen.allowed != allowed:
        words += ["allowed-ips", ",".join(alone(address) for address in peer.addresses)]
    return ("peer", peer.key, *words) if words or seen is None else ()


def _commands(parts: Iterable[tuple[str, ...]]) -> Iterator[tuple[str, ...]]:
    """As few commands as there can be, none of them too long."""
    words: list[str] = []
    length = 0
    for part in parts:
        room = sum(len(word) + 1 for word in part)
        if words and length + room > LONGEST:
            yield tuple(words)
            words, length = [], 0
        words += part
        length += room
    if words:
        yield tuple(words)
