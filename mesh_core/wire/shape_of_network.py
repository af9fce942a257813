"""Plain data -> entries: the overlay, in the mesh document and in a declaration."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mesh_core.faults import InvalidValue, NameKind
from mesh_core.model.network import DeclaredNetwork, Peer, Peers
from mesh_core.model.network_text import (
    LARGEST_PORT,
    address_fault,
    endpoint_fault,
    key_fault,
    range_fault,
    site_fault,
)
from mesh_core.wire import entries
from mesh_core.wire.faults import misfit, shown
from mesh_core.wire.strict import (
    CONVERTER,
    count,
    entry_or,
    named,
    one_of,
    strict_class,
    structure,
    table,
    text,
)


def register() -> None:
    """Tell the converter."""
    hook = CONVERTER.register_structure_hook
    hook(entries.NetworkAddress, _ruled(address_fault))
    hook(entries.NetworkRange, _ruled(range_fault))
    hook(entries.NetworkKey, _ruled(key_fault))
    hook(entries.HostAndPort, _ruled(endpoint_fault))
    hook(entries.Site, _ruled(site_fault))
    hook(entries.Port, _port)
    hook(Peers, lambda value, _: Peers(one_of(tuple(Peers))(value, None)))
    hook(entries.Names, table(lambda key: _node_name(key, None), _address))
    hook(entries.NetworkEntry, entry_or(entries.NetworkEntry, _range, "a range or an object"))
    hook(entries.EndpointEntry, entry_or(entries.EndpointEntry, _endpoint, "an endpoint or an object"))
    for whole in (entries.AttachmentEntry, entries.PeerEntry, entries.DeclaredNetworkEntry):
        hook(whole, strict_class(whole, CONVERTER))
    hook(entries.NodeNetwork, _declared)


_node_name = named(NameKind.NODE)


def _ruled(fault: Callable[[str], str | None]) -> Callable[[Any, object], str]:
    """A hook for text with a rule of its own, which says itself what would do."""

    def structure_ruled(value: Any, _type: object = None) -> str:
        found = text(value)
        why = fault(found)
        if why is not None:
            raise misfit(f"found {shown(found)}", why)
        return found

    return structure_ruled


def _port(value: Any, _type: object = None) -> int:
    number = count(value)
    if not 0 < number <= LARGEST_PORT:
        raise misfit(f"found {shown(value)}", f"a port is 1 to {LARGEST_PORT}")
    return number


def _address(_node: str, value: Any) -> str:
    return structure(value, entries.NetworkAddress)


def _range(value: Any) -> entries.NetworkEntry:
    return entries.NetworkEntry(range=structure(value, entries.NetworkRange))


def _endpoint(value: Any) -> entries.EndpointEntry:
    return entries.EndpointEntry(at=structure(value, entries.HostAndPort))


def _declared(value: Any, _type: object = None) -> DeclaredNetwork | None:
    """The overlay as one node is told of it; null where it has none."""
    if value is None:
        return None
    entry = structure(value, entries.DeclaredNetworkEntry)
    try:
        return DeclaredNetwork(
            address=entry.address,
            range=entry.range,
            port=entry.port,
            relay=entry.relay,
            peers=[_peer(peer) for peer in entry.peers],
            names=entry.names,
        )
    except InvalidValue as error:
        raise misfit("found no such network", str(error)) from None


def _peer(entry: entries.PeerEntry) -> Peer:
    return Peer(
        node=entry.node,
        key=entry.key,
        addresses=entry.addresses,
        endpoint=entry.endpoint,
        keepalive=entry.keepalive,
    )
