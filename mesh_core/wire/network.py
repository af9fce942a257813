"""The overlay as plain data: the mesh's, a node's, and as one node is told of it (design, parts 4 and 8).

In the mesh document, beside its nodes: `"network": "10.77.0.0/24"`, or

    {"range": "10.77.0.0/24", "peers": "full", "port": 51821, "retired": ["10.77.0.9"]}

In a node's entry there:

    "network": {"address": "10.77.0.3", "key": "...", "endpoints": ["vps.example.org:51820",
                {"at": "192.168.1.5:51820", "site": "home"}], "site": "home", "relay": true}

In a declaration:

    {"address": "10.77.0.3", "range": "10.77.0.0/24", "port": 51820, "relay": true,
     "names": {"pi": "10.77.0.3"},
     "peers": [{"node": "nas", "key": "...", "addresses": ["10.77.0.2"], "endpoint": "...", "keepalive": 25}]}
"""

from __future__ import annotations

from typing import Any

from mesh_core.model.network import (
    PORT,
    Attachment,
    DeclaredNetwork,
    Endpoint,
    Network,
    Peer,
    Peers,
)
from mesh_core.wire.entries import AttachmentEntry, NetworkEntry


def network_to_data(network: Network) -> str | dict[str, Any]:
    """What the mesh document says of the overlay: its range where that says all."""
    data: dict[str, Any] = {"range": network.range}
    data |= {} if network.peers is Peers.TAKES else {"peers": network.peers.value}
    data |= {} if network.port == PORT else {"port": network.port}
    data |= {"retired": list(network.retired)} if network.retired else {}
    return data if len(data) > 1 else network.range


def attachment_to_data(attachment: Attachment) -> dict[str, Any]:
    """How a node is attached: what there is to say of it, which may be nothing."""
    said = {
        "address": attachment.address,
        "key": attachment.key,
        "endpoints": [_endpoint_to_data(endpoint) for endpoint in attachment.endpoints],
        "site": attachment.site,
        "relay": attachment.relay,
    }
    return {key: value for key, value in said.items() if value}


def _endpoint_to_data(endpoint: Endpoint) -> str | dict[str, str]:
    return endpoint.at if endpoint.site is None else {"at": endpoint.at, "site": endpoint.site}


def declared_to_data(network: DeclaredNetwork) -> dict[str, Any]:
    """The overlay as one node is told of it."""
    data: dict[str, Any] = {"address": network.address, "range": network.range, "port": network.port}
    data |= {"relay": True} if network.relay else {}
    return data | {"peers": [_peer_to_data(peer) for peer in network.peers], "names": dict(network.names)}


def _peer_to_data(peer: Peer) -> dict[str, Any]:
    data: dict[str, Any] = {"node": peer.node, "key": peer.key, "addresses": list(peer.addresses)}
    data |= {} if peer.endpoint is None else {"endpoint": peer.endpoint}
    return data | ({"keepalive": peer.keepalive} if peer.keepalive else {})


def to_network(entry: NetworkEntry) -> Network:
    """What an entry says of the overlay."""
    return Network(range=entry.range, peers=entry.peers, port=entry.port, retired=entry.retired)


def to_attachment(entry: AttachmentEntry | None) -> Attachment:
    """How a node is attached, by its entry; not at all without one."""
    if entry is None:
        return Attachment()
    return Attachment(
        address=entry.address,
        key=entry.key,
        endpoints=[Endpoint(at=endpoint.at, site=endpoint.site) for endpoint in entry.endpoints],
        site=entry.site,
        relay=entry.relay,
    )
