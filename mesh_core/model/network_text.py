"""How addresses, ranges, keys, endpoints and sites of the overlay are written, and what is wrong with a text.

Each has one spelling (`fd00::5`, never `FD00:0::5`): two that mean the same are equal, and nothing here
normalises.
"""

from __future__ import annotations

import base64
import binascii
import re
from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import Final, TypeAlias

PORT: Final = 51820
"""The UDP port that a machine listens on, where nothing else is said: the one that WireGuard is known by."""

Range: TypeAlias = IPv4Network | IPv6Network
_KNOWN = 16_384
"""So many texts are looked at once: each node is told of the addresses, keys and endpoints of many others."""
_KEY_BYTES = 32
LARGEST_PORT = 65535
_LONGEST_PORT = 5
_LEAST = 4
"""Addresses that a range has at least: two machines, and what a range of IPv4 begins and ends with."""
_LONGEST_HOST = 253
_FEWEST_BITS = 8
_WORD = "[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?"
_HOST = re.compile(rf"(?=.*[A-Za-z]){_WORD}(?:\.{_WORD})*")
_SITE_RULE = "1 to 63 of a-z, 0-9 and '-', beginning and ending with a letter or a digit"


@lru_cache(maxsize=64)
def as_range(text: str) -> Range:
    """The addresses that a range has. Raises `ValueError` for what is none in its one spelling."""
    return ip_network(text)


@lru_cache(maxsize=_KNOWN)
def as_address(text: str) -> IPv4Address | IPv6Address:
    """The address that a text is. Raises `ValueError` for what is none."""
    return ip_address(text)


@lru_cache(maxsize=_KNOWN)
def address_fault(text: str) -> str | None:
    """What is wrong with an address of one machine; None when it is right."""
    try:
        found = ip_address(text)
    except ValueError:
        found = None
    if found is None or "%" in text:
        return f"{text!r} is no address: one of IPv4 like 10.77.0.3, or of IPv6 like fd77::3"
    if isinstance(found, IPv6Address) and found.ipv4_mapped is not None:
        found = found.ipv4_mapped  # one that is written in two ways, by what wrote it
    return None if str(found) == text else f"{text!r} is written {found}"


@lru_cache(maxsize=64)
def range_fault(text: str) -> str | None:
    """What is wrong with a range of addresses; None when it is right."""
    try:
        spelled = ip_network(text, strict=False)
    except ValueError:
        spelled = None
    if spelled is None or "/" not in text or "%" in text:
        return f"{text!r} is no range: addresses and how many bits they share, like 10.77.0.0/24 or fd77::/64"
    if str(spelled) != text:
        return f"{text!r} is written {spelled}"
    if spelled.num_addresses < _LEAST:
        return f"{text} has no room for two machines"
    if spelled.prefixlen < _FEWEST_BITS:
        return f"{text} is more than a network of one's own: at least {_FEWEST_BITS} bits are shared"
    return f"{text} is not for machines to be reached at" if _is_for_else(spelled) else None


def _is_for_else(range_: Range) -> bool:
    special = range_.is_multicast or range_.is_loopback or range_.is_link_local or range_.is_reserved
    return special or range_.network_address.is_unspecified


@lru_cache(maxsize=_KNOWN)
def key_fault(text: str) -> str | None:
    """What is wrong with a public key of WireGuard; None when it is right."""
    try:
        content = base64.b64decode(text, validate=True)
    except (binascii.Error, ValueError):
        content = b""
    if len(content) == _KEY_BYTES and base64.b64encode(content).decode() == text:
        return None
    return f"{text!r} is no public key of WireGuard: 32 bytes in base64, as `wg pubkey` writes them"


@lru_cache(maxsize=_KNOWN)
def split_endpoint(text: str) -> tuple[str, int] | None:
    """Host and port of `HOST:PORT`, `10.0.0.1:PORT` or `[fd00::1]:PORT`; None for anything else."""
    host, colon, port = text.rpartition(":")
    bracketed = host.startswith("[") and host.endswith("]")
    name = host[1:-1] if bracketed else host
    if not colon or not _is_port(port) or not _is_host(name, bracketed=bracketed):
        return None
    return name, int(port)


def _is_port(text: str) -> bool:
    if not text.isascii() or not text.isdigit() or len(text) > _LONGEST_PORT:
        return False
    return text[0] != "0" and int(text) <= LARGEST_PORT


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
    one = as_address(address)
    if one not in addresses or one == addresses.network_address:
        return False
    return one.version != 4 or one != addresses.broadcast_address
