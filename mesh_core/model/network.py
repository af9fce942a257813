"""The overlay network: what a mesh says of it, and what one node is told of it (design, parts 8 and 11).

Addresses, ranges and endpoints are text in the one spelling that each has (`fd00::5`, never `FD00:0::5`): two
that mean the same are equal.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Callable, Iterable
from enum import StrEnum
from functools import lru_cache
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Any, Final, TypeAlias

from attrs import evolve, field, frozen

from mesh_core.faults import BadNetwork, InvalidValue, NameKind
from mesh_core.model.names import name_validator, refuse_duplicates
from mesh_core.model.order import sorted_names, sorted_pairs

PORT: Final = 51820
"""The UDP port that a machine listens on, where nothing else is said: the one that WireGuard is known by."""

DOMAIN: Final = "mesh"
"""`pi.mesh` is the node `pi`, on every node that has a path to it."""

Range: TypeAlias = IPv4Network | IPv6Network
_KEY_BYTES = 32
LARGEST_PORT = 65535
_LEAST = 4
"""Addresses that a range has at least: two machines, and what a range of IPv4 begins and ends with."""
_LONGEST_HOST = 253
_FEWEST_BITS = 8
_WORD = "[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?"
_HOST = re.compile(rf"(?=.*[A-Za-z]){_WORD}(?:\.{_WORD})*")
_SITE_RULE = "1 to 63 of a-z, 0-9 and '-', beginning and ending with a letter or a digit"


class Peers(StrEnum):
    """Who is told of whom."""

    FULL = "full"
    """Every node of every other one."""
    TAKES = "takes"
    """Each node of those that it takes from and gives to, and of the relays that it needs for that."""


@lru_cache(maxsize=64)
def as_range(text: str) -> Range:
    """The addresses that a range has. Raises `ValueError` for what is none in its one spelling."""
    return ip_network(text)


def address_fault(text: str) -> str | None:
    """What is wrong with an address of one machine; None when it is right."""
    try:
        spelled = str(ip_address(text))
    except ValueError:
        return f"{text!r} is no address: one of IPv4 like 10.77.0.3, or of IPv6 like fd77::3"
    return None if spelled == text and "%" not in text else f"{text!r} is written {spelled}"


def range_fault(text: str) -> str | None:
    """What is wrong with a range of addresses; None when it is right."""
    try:
        spelled = ip_network(text, strict=False)
    except ValueError:
        spelled = None
    if spelled is None or "/" not in text:
        return f"{text!r} is no range: addresses and how many bits they share, like 10.77.0.0/24 or fd77::/64"
    if str(spelled) != text:
        return f"{text!r} is written {spelled}"
    if spelled.num_addresses < _LEAST:
        return f"{text} has no room for two machines"
    if spelled.prefixlen < _FEWEST_BITS:
        return f"{text} is more than a network of one's own: at least {_FEWEST_BITS} bits are shared"
    outside = spelled.is_multicast or spelled.is_loopback or spelled.is_link_local or spelled.is_unspecified
    return f"{text} is not for machines to be reached at" if outside else None


def key_fault(text: str) -> str | None:
    """What is wrong with a public key of WireGuard; None when it is right."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if len(content) == _KEY_BYTES and base64.b64encode(content).decode() == text:
        return None
    return f"{text!r} is no public key of WireGuard: 32 bytes in base64, as `wg pubkey` writes them"


def split_endpoint(text: str) -> tuple[str, int] | None:
    """Host and port of `HOST:PORT`, `10.0.0.1:PORT` or `[fd00::1]:PORT`; None for anything else."""
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    name = host[1:-1] if bracketed else host
    if not colon or not port.isascii() or not port.isdigit() or str(int(port)) != port:
        return None
    if not 0 < int(port) <= LARGEST_PORT or not _is_host(name, bracketed=bracketed):
        return None
    return name, int(port)


def _is_host(name: str, *, bracketed: bool) -> bool:
    if address_fault(name) is None:
        return bracketed == (":" in name)
    return not bracketed and len(name) <= _LONGEST_HOST and _HOST.fullmatch(name) is not None


def endpoint_fault(text: str) -> str | None:
    """What is wrong with where a machine is reached from outside; None when it is right."""
    if split_endpoint(text) is not None:
        return None
    return f"{text!r} is no endpoint: HOST:PORT, like vps.example.org:{PORT} or [fd00::5]:{PORT}"


def site_fault(text: str) -> str | None:
    """What is wrong with the name of a site; None when it is right."""
    if re.fullmatch(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?", text):
        return None
    return f"{text!r} is no name of a site: {_SITE_RULE}"


def is_machines(range_: str, address: str) -> bool:
    """Whether an address of a range may be that of a machine: not the first and, with IPv4, not the last."""
    addresses = as_range(range_)
    one = ip_address(address)
    if one not in addresses or one == addresses.network_address:
        return False
    return one.version != 4 or one != addresses.broadcast_address


def _validator(fault: Callable[[str], str | None]) -> Callable[[Any, Any, Any], None]:
    def validate(_instance: Any, _attribute: Any, value: str | None) -> None:
        why = None if value is None else fault(value)
        if why is not None:
            raise InvalidValue(BadNetwork(why=why))

    return validate


address_validator = _validator(address_fault)
"""An attrs validator for an address, or None; raises `InvalidValue`."""
key_validator = _validator(key_fault)
"""An attrs validator for a public key, or None; raises `InvalidValue`."""


def _port_validator(_instance: object, _attribute: Any, value: int) -> None:
    if not 0 < value <= LARGEST_PORT:
        raise InvalidValue(BadNetwork(why=f"{value} is no port: 1 to {LARGEST_PORT}"))


def by_address(addresses: Iterable[str]) -> tuple[str, ...]:
    """Addresses as numbers are ordered, each once."""
    return tuple(sorted({*addresses}, key=lambda text: (":" in text, int(ip_address(text)))))


@frozen(kw_only=True)
class Endpoint:
    """Where a machine is reached from outside of the overlay: `at` is `HOST:PORT`.

    One with a `site` is for the nodes of that site only: an address in a LAN. One without is for everybody.
    Raises `InvalidValue`.
    """

    at: str = field(validator=_validator(endpoint_fault))
    site: str | None = field(default=None, validator=_validator(site_fault))


def _in_order(endpoints: Iterable[Endpoint]) -> tuple[Endpoint, ...]:
    return tuple(dict.fromkeys(endpoints))


@frozen(kw_only=True)
class Attachment:
    """How a node is attached to the overlay.

    `address` is its own, given once and kept; `key` the public key that its machine reported. `endpoints` are
    in the order in which they are preferred; `site` is where it stands, and who else stands there reaches it
    by the endpoints of that site. A `relay` forwards between nodes that cannot reach each other. Raises
    `InvalidValue`.
    """

    address: str | None = field(default=None, validator=address_validator)
    key: str | None = field(default=None, validator=key_validator)
    endpoints: tuple[Endpoint, ...] = field(default=(), converter=_in_order)
    site: str | None = field(default=None, validator=_validator(site_fault))
    relay: bool = False


UNATTACHED: Final = Attachment()


def _each_once(addresses: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(addresses))


@frozen(kw_only=True)
class Network:
    """What holds for the whole overlay.

    `retired` are addresses that were a node's and are nobody's now, in the order in which they were let go:
    none of them is given again while there is one that never was. Raises `InvalidValue`.
    """

    range: str = field(validator=_validator(range_fault))
    peers: Peers = Peers.TAKES
    port: int = field(default=PORT, validator=_port_validator)
    retired: tuple[str, ...] = field(default=(), converter=_each_once)

    def __attrs_post_init__(self) -> None:
        for address in self.retired:
            why = address_fault(address)
            if why is not None:
                raise InvalidValue(BadNetwork(why=why))


def retire(network: Network, address: str) -> Network:
    """The network once an address is nobody's any more: it is the last to be given again."""
    others = (one for one in network.retired if one != address)
    return evolve(network, retired=(*others, address))


def tidied(network: Network, held: Iterable[str | None]) -> Network:
    """The network without what is retired and yet somebody's, or no address of a machine in its range."""
    taken = {*held}
    retired = [a for a in network.retired if a not in taken and is_machines(network.range, a)]
    return evolve(network, retired=retired) if len(retired) < len(network.retired) else network


@frozen(kw_only=True)
class Peer:
    """Another machine that a node talks to directly, and the addresses that it reaches through that.

    `addresses` are the peer's own and, where it is a relay, those that it forwards to. `endpoint` is where
    the node finds it; None for one that has to come by itself. `keepalive` is after how many silent seconds
    the node sends something, so that whoever translates its address does not forget it; 0 for never. Raises
    `InvalidValue`.
    """

    node: str = field(validator=name_validator(NameKind.NODE))
    key: str = field(validator=key_validator)
    addresses: tuple[str, ...] = field(converter=by_address)
    endpoint: str | None = field(default=None, validator=_validator(endpoint_fault))
    keepalive: int = 0


def _by_node(peers: Iterable[Peer]) -> tuple[Peer, ...]:
    return tuple(sorted(peers, key=lambda peer: peer.node))


@frozen(kw_only=True)
class DeclaredNetwork:
    """The overlay as one node is told of it: its own interface, its peers, and the names that it can resolve.

    `names` are pairs of a node and its address, the node's own among them. Raises `InvalidValue`.
    """

    address: str = field(validator=address_validator)
    range: str = field(validator=_validator(range_fault))
    port: int = field(default=PORT, validator=_port_validator)
    relay: bool = False
    peers: tuple[Peer, ...] = field(default=(), converter=_by_node)
    names: tuple[tuple[str, str], ...] = field(default=(), converter=sorted_pairs)

    def __attrs_post_init__(self) -> None:
        refuse_duplicates(tuple(peer.node for peer in self.peers), "peers")
        refuse_duplicates(sorted_names(peer.key for peer in self.peers), "the keys of peers")
        refuse_duplicates(tuple(node for node, _ in self.names), "names")
        reached = [address for peer in self.peers for address in peer.addresses]
        refuse_duplicates(sorted_names([self.address, *reached]), "the addresses that peers reach")
        addresses = as_range(self.range)
        for address in (self.address, *reached, *(address for _, address in self.names)):
            if address_fault(address) or ip_address(address) not in addresses:
                raise InvalidValue(BadNetwork(why=f"{address} is no address in {self.range}"))
