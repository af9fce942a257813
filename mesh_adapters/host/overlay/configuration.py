"""What `wg syncconf` is told, and whether the interface is that already. Pure.

`syncconf` leaves peers alone that stay as they are, where `setconf` would end their sessions.
"""

from __future__ import annotations

from collections.abc import Mapping
from ipaddress import ip_address
from typing import Final

from attrs import frozen

from mesh_core.model.network import DeclaredNetwork, Peer

STALE: Final = 180
"""Seconds after a handshake after which WireGuard itself takes a peer to be gone."""
_NOTHING: Final = "(none)"


@frozen(kw_only=True)
class SeenPeer:
    """A peer as the interface has it; `handshake` is seconds since the last one, None for never."""

    key: str
    endpoint: str | None
    allowed: frozenset[str]
    keepalive: int
    handshake: int | None
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
    key, _shared, endpoint, allowed, handshake, received, sent, keepalive = fields
    return SeenPeer(
        key=key,
        endpoint=None if endpoint == _NOTHING else endpoint,
        allowed=frozenset() if allowed == _NOTHING else frozenset(allowed.split(",")),
        keepalive=0 if keepalive == "off" else int(keepalive),
        handshake=None if handshake == "0" else max(0, now - int(handshake)),
        received=int(received),
        sent=int(sent),
    )


def alone(address: str) -> str:
    """An address as a range that has only it."""
    return f"{address}/{ip_address(address).max_prefixlen}"


def configuration(network: DeclaredNetwork, private_key: str, found: Mapping[str, str]) -> str:
    """The text for `wg syncconf`; `found` has, by endpoint, the address that its host has now.

    An endpoint that was not found is left out: the peer is known, and may come by itself.
    """
    parts = [f"[Interface]\nPrivateKey = {private_key}\nListenPort = {network.port}"]
    parts += [_peer(peer, found) for peer in network.peers]
    return "\n\n".join(parts) + "\n"


def _peer(peer: Peer, found: Mapping[str, str]) -> str:
    lines = [
        "[Peer]",
        f"PublicKey = {peer.key}",
        f"AllowedIPs = {', '.join(alone(address) for address in peer.addresses)}",
        f"PersistentKeepalive = {peer.keepalive or 'off'}",
    ]
    at = found.get(peer.endpoint) if peer.endpoint is not None else None
    return "\n".join(lines if at is None else [*lines, f"Endpoint = {at}"])


def is_so(
    network: DeclaredNetwork,
    before: DeclaredNetwork | None,
    seen: SeenInterface,
    public_key: str,
    found: Mapping[str, str],
) -> bool:
    """Whether the interface is as it is to be; `before` is what it was told last.

    A machine that moved about is where it was heard last, so another endpoint than the one that is declared
    is no difference: unless that was declared anew, or nothing was heard from there for long.
    """
    if seen.key != public_key or seen.port != network.port:
        return False
    if seen.peers.keys() != {peer.key for peer in network.peers}:
        return False
    told = {peer.key: peer.endpoint for peer in before.peers} if before is not None else {}
    return all(_is_so(peer, told.get(peer.key), seen.peers[peer.key], found) for peer in network.peers)


def _is_so(peer: Peer, told: str | None, seen: SeenPeer, found: Mapping[str, str]) -> bool:
    if seen.allowed != {alone(address) for address in peer.addresses} or seen.keepalive != peer.keepalive:
        return False
    at = found.get(peer.endpoint) if peer.endpoint is not None else None
    if at is None or at == seen.endpoint:
        return True
    heard = seen.handshake is not None and seen.handshake < STALE
    return seen.endpoint is not None and told == peer.endpoint and heard
