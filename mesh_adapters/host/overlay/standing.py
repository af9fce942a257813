"""How it stands with the machine's part of the overlay: what `mesh-host status` shows. Nothing is changed."""

from __future__ import annotations

from typing import Any

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay import interface
from mesh_adapters.host.overlay.configuration import SeenInterface, SeenPeer
from mesh_adapters.host.overlay.interface import KERNEL, NAME, Link
from mesh_adapters.host.overlay.record import Record, RecordError, read_record
from mesh_adapters.host.overlay.running import Trouble
from mesh_adapters.host.overlay.trial import MINUTE
from mesh_adapters.host.probes.looking import program
from mesh_core.explain import overlay as say
from mesh_core.model.network import Peer


def standing(machine: Machine) -> dict[str, Any] | None:
    """The interface, its peers, and what is wrong, as plain data; None where there is no network here."""
    try:
        record = read_record(machine.state)
    except RecordError as error:
        return _data(Record(), None, None, [say.record_unusable(str(error))])
    if record == Record():
        return None
    troubles = [] if record.undone is None else [say.undone(record.undone, MINUTE)]
    if record.network is None or not machine.running:
        return _data(record, None, None, troubles)
    if program("wg", machine) is None:
        return _data(record, None, None, [*troubles, say.no_tools()])
    try:
        link = interface.look(machine)
        inside = None if link is None else interface.look_inside(machine)
    except Trouble as trouble:
        return _data(record, None, None, [*troubles, str(trouble)])
    return _data(record, link, inside, troubles)


def _data(
    record: Record, link: Link | None, inside: SeenInterface | None, troubles: list[str]
) -> dict[str, Any]:
    network = record.network
    peers = {} if inside is None else inside.peers
    by = None if link is None else "kernel" if link.kind == KERNEL else "wireguard-go"
    return {
        "name": NAME,
        "address": None if network is None else network.address,
        "range": None if network is None else network.range,
        "port": None if network is None else network.port,
        "relay": network is not None and network.relay,
        "key": None if inside is None else inside.key,
        "by": by if inside is not None else None,
        "up": inside is not None and link is not None and link.up,
        "trying": record.trying,
        "undone": record.undone,
        "peers": [_peer(peer, peers.get(peer.key)) for peer in (() if network is None else network.peers)],
        "troubles": troubles,
    }


def _peer(peer: Peer, seen: SeenPeer | None) -> dict[str, Any]:
    """`heard` is how many seconds ago there was a handshake; None for never."""
    return {
        "node": peer.node,
        "addresses": list(peer.addresses),
        "endpoint": None if seen is None else seen.endpoint,
        "heard": None if seen is None else seen.handshake,
        "received": None if seen is None else seen.received,
        "sent": None if seen is None else seen.sent,
    }
