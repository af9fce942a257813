"""The overlay network: what a mesh says of it, and what one node is told of it (design, parts 8 and 11).

How its addresses, ranges, keys and endpoints are written stands in `model.network_text`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from enum import StrEnum
from typing import Any, Final

from attrs import evolve, field, frozen
from attrs.validators import optional

from mesh_core.faults import BadNetwork, InvalidValue, NameKind
from mesh_core.model.names import name_validator, refuse_duplicates
from mesh_core.model.network_text import (
    LARGEST_PORT,
    as_address,
    endpoint_fault,
    is_machines,
    range_fault,
    site_fault,
)
from mesh_core.model.network_text import PORT as PORT
from mesh_core.model.network_text import address_fault as address_fault
from mesh_core.model.network_text import as_range as as_range
from mesh_core.model.network_text import key_fault as key_fault
from mesh_core.model.network_text import split_endpoint as split_endpoint
from mesh_core.model.order import sorted_names, sorted_pairs

DOMAIN: Final = "mesh"
"""`pi.mesh` is the node `pi`, on every node that has a path to it."""

_MOST_SECONDS = 65535


class Peers(StrEnum):
    """Who is told of whom."""

    FULL = "full"
    """Every node of every other one."""
    TAKES = "takes"
    """Each node of those that it takes from and gives to, and of the relays that it needs for that."""


def _refuse(fault: Callable[[str], str | None], text: str) -> None:
    why = fault(text)
    if why is not None:
        raise InvalidValue(BadNetwork(why=why))


def _validator(fault: Callable[[str], str | None]) -> Callable[[Any, Any, Any], None]:
    def validate(_instance: Any, _attribute: Any, value: str) -> None:
        _refuse(fault, value)

    return validate


address_validator = optional(_validator(address_fault))
"""An attrs validator for an address, or None; raises `InvalidValue`."""
key_validator = optional(_validator(key_fault))
"""An attrs validator for a public key, or None; raises `InvalidValue`."""
_endpoint_validator = _validator(endpoint_fault)
_site_validator = optional(_validator(site_fault))


def _port_validator(_instance: object, _attribute: Any, value: int) -> None:
    if not 0 < value <= LARGEST_PORT:
        raise InvalidValue(BadNetwork(why=f"{value} is no port: 1 to {LARGEST_PORT}"))


def _as_numbers(address: str) -> tuple[bool, int]:
    return ":" in address, int(as_address(address))


def by_address(addresses: Iterable[str]) -> tuple[str, ...]:
    """Addresses as numbers are ordered, each once. Raises `InvalidValue`."""
    given = {*addresses}
    for address in given:
        _refuse(address_fault, address)
    return tuple(sorted(given, key=_as_numbers))


@frozen(kw_only=True)
class Endpoint:
    """Where a machine is reached from outside of the overlay: `at` is `HOST:PORT`.

    One with a `site` is for the nodes of that site only: an address in a LAN. One without is for everybody.
    Raises `InvalidValue`.
    """

    at: str = field(validator=_endpoint_validator)
    site: str | None = field(default=None, validator=_site_validator)


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
    site: str | None = field(default=None, validator=_site_validator)
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
            _refuse(address_fault, address)


def retire(network: Network, address: str) -> Network:
    """The network once an address is nobody's any more: it is the last to be given again."""
    others = (one for one in network.retired if one != address)
    return evolve(network, retired=(*others, address))


def tidied(network: Network, held: Iterable[str | None]) -> Network:
    """The network without what is retired and yet somebody's, or no address of a machine in its range."""
    taken = {*held}
    retired = [a for a in network.retired if a not in taken and is_machines(network.range, a)]
    return evolve(network, retired=retired) if len(retired) < len(network.retired) else network


def _seconds_validator(_instance: object, _attribute: Any, value: int) -> None:
    if not 0 <= value <= _MOST_SECONDS:
        raise InvalidValue(BadNetwork(why=f"{value} is no time to keep alive: 0 to {_MOST_SECONDS} seconds"))


@frozen(kw_only=True)
class Peer:
    """Another machine that a node talks to directly, and the addresses that it reaches through that.

    `addresses` are the peer's own and, where it is a relay, those that it forwards to. `endpoint` is where
    the node finds it; None for one that has to come by itself. `keepalive` is after how many silent seconds
    the node sends something, so that whoever translates its address does not forget it; 0 for never. Raises
    `InvalidValue`.
    """

    node: str = field(validator=name_validator(NameKind.NODE))
    key: str = field(validator=_validator(key_fault))
    addresses: tuple[str, ...] = field(converter=by_address)
    endpoint: str | None = field(default=None, validator=optional(_endpoint_validator))
    keepalive: int = field(default=0, validator=_seconds_validator)


def _by_node(peers: Iterable[Peer]) -> tuple[Peer, ...]:
    return tuple(sorted(peers, key=lambda peer: peer.node))


@frozen(kw_only=True)
class DeclaredNetwork:
    """The overlay as one node is told of it: its own interface, its peers, and the names that it can resolve.

    `names` are pairs of a node and its address, the node's own among them. Raises `InvalidValue`.
    """

    address: str = field(validator=_validator(address_fault))
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
        for address in dict.fromkeys((self.address, *reached, *(address for _, address in self.names))):
            if address_fault(address) or as_address(address) not in addresses:
                raise InvalidValue(BadNetwork(why=f"{address} is no address in {self.range}"))
