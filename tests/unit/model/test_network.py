"""What may be said of the overlay: how a node is attached, what holds for all, what one node is told."""

from __future__ import annotations

import copy
import pickle
from base64 import b64encode
from typing import Any

import pytest
from attrs import evolve

from mesh_core import InvalidValue, Mesh, Node
from mesh_core.model.declaration import Given
from mesh_core.model.network import Attachment, DeclaredNetwork, Endpoint, Network, Peer, Peers, retire
from mesh_core.model.said import Hello, Report

KEYS = [b64encode(bytes([number]) * 32).decode() for number in range(4)]
VPS, LAN = Endpoint(at="vps.example.org:51820"), Endpoint(at="192.168.1.5:51820", site="home")


def node(name: str, address: str | None = None) -> Node:
    return Node(name=name, network=Attachment(address=address))


def test_endpoints_stay_in_the_order_in_which_they_are_preferred_and_each_stands_once() -> None:
    attached = Attachment(endpoints=[VPS, LAN, VPS])
    assert attached.endpoints == (VPS, LAN)
    assert attached != Attachment(endpoints=[LAN, VPS])


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Attachment(address="10.77.0.03"), "is no address"),
        (lambda: Attachment(key="key"), "is no public key"),
        (lambda: Attachment(site="At Home"), "is no name of a site"),
        (lambda: Endpoint(at="vps"), "is no endpoint"),
        (lambda: Endpoint(at="vps:1", site=""), "is no name of a site"),
        (lambda: Network(range="10.77.0.0"), "is no range"),
        (lambda: Network(range="10.77.0.0/24", port=0), "0 is no port: 1 to 65535"),
        (lambda: Network(range="10.77.0.0/24", port=65536), "65536 is no port"),
        (lambda: Network(range="10.77.0.0/24", retired=["10.77.0.3", "x"]), "'x' is no address"),
        (lambda: Given(node="nas", module="web", address="fd77::0"), "is written fd77::"),
        (lambda: Hello(node="nas", machine="m", key=KEYS[0][1:]), "is no public key"),
        (lambda: Report(node="nas", machine="m", key=""), "is no public key"),
    ],
)
def test_what_cannot_be_said(make: Any, says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        make()


def test_retired_addresses_stay_in_the_order_in_which_they_were_let_go() -> None:
    network = Network(range="10.77.0.0/24", retired=["10.77.0.9", "10.77.0.3", "10.77.0.9"])
    assert network.retired == ("10.77.0.9", "10.77.0.3")
    assert retire(network, "10.77.0.5").retired == ("10.77.0.9", "10.77.0.3", "10.77.0.5")
    assert retire(network, "10.77.0.9").retired == ("10.77.0.3", "10.77.0.9"), "it was let go again"


def test_what_is_retired_in_a_mesh_is_a_machines_address_and_nobodys() -> None:
    retired = ["10.77.0.5", "10.77.0.2", "10.77.0.0", "10.77.0.7", "10.77.0.8", "fd77::1", "10.77.0.6"]
    network = Network(range="10.77.0.0/29", retired=retired)
    mesh = Mesh(nodes=[node("nas", "10.77.0.2"), node("pi")], network=network)
    assert mesh.network == evolve(network, retired=["10.77.0.5", "10.77.0.6"])
    assert mesh == evolve(mesh, network=network)
    for twin in (copy.deepcopy(mesh), pickle.loads(pickle.dumps(mesh))):
        assert twin == mesh


def test_two_nodes_of_a_mesh_have_no_address_together_and_none_outside_of_its_range() -> None:
    nodes = [node("nas", "10.77.0.2"), node("pi", "10.77.0.2"), node("vps", "10.88.0.1"), node("x")]
    with pytest.raises(InvalidValue) as caught:
        Mesh(nodes=nodes, network=Network(range="10.77.0.0/24"))
    assert [str(fault) for fault in caught.value.faults] == [
        "10.77.0.2 is the address of nas",
        "10.88.0.1 is no address of a machine in 10.77.0.0/24",
    ]
    assert Mesh(nodes=nodes).nodes == tuple(nodes), "without a network they are only text"


NAS = Peer(node="nas", key=KEYS[1], addresses=["10.77.0.2"])
PI = Peer(node="pi", key=KEYS[2], addresses=["10.77.0.10", "10.77.0.9", "10.77.0.10"], keepalive=25)
TOLD = DeclaredNetwork(
    address="10.77.0.1", range="10.77.0.0/24", peers=[PI, NAS], names={"vps": "10.77.0.1", "nas": "10.77.0.2"}
)


def test_what_one_node_is_told_has_an_order_of_its_own() -> None:
    assert [peer.node for peer in TOLD.peers] == ["nas", "pi"]
    assert PI.addresses == ("10.77.0.9", "10.77.0.10"), "as numbers, each once"
    mixed = Peer(node="pi", key=KEYS[2], addresses=["fd77::9", "10.77.0.9", "fd77::10"])
    assert mixed.addresses == ("10.77.0.9", "fd77::9", "fd77::10")
    assert TOLD.names == (("nas", "10.77.0.2"), ("vps", "10.77.0.1"))


@pytest.mark.parametrize(
    ("differs", "says"),
    [
        ({"address": "10.78.0.1"}, "10.78.0.1 is no address in 10.77.0.0/24"),
        ({"address": "fd77::1"}, "fd77::1 is no address in 10.77.0.0/24"),
        ({"range": "10.77.0.1/24"}, "is written 10.77.0.0/24"),
        ({"range": "10.77.0.0/30"}, "10.77.0.9 is no address in 10.77.0.0/30"),
        ({"port": 0}, "0 is no port"),
        ({"peers": [NAS, evolve(PI, node="nas")]}, "'nas' stands twice in peers"),
        ({"peers": [NAS, evolve(PI, key=KEYS[1])]}, "stands twice in the keys of peers"),
        ({"peers": [NAS, evolve(PI, addresses=["10.77.0.3", "10.77.0.2"])]}, "'10.77.0.2' stands twice in"),
        ({"peers": [evolve(NAS, addresses=["10.77.0.1"])]}, "'10.77.0.1' stands twice in"),
        ({"names": [("nas", "10.77.0.2"), ("nas", "10.77.0.3")]}, "'nas' stands twice in names"),
        ({"names": {"nas": "10.78.0.2"}}, "10.78.0.2 is no address in"),
        ({"names": {"nas": "nas"}}, "nas is no address in"),
    ],
)
def test_what_one_node_cannot_be_told(differs: dict[str, Any], says: str) -> None:
    """> WireGuard takes a packet from an address only through the peer that has it"""
    with pytest.raises(InvalidValue, match=says):
        evolve(TOLD, **differs)


@pytest.mark.parametrize(
    ("differs", "says"),
    [
        ({"node": "NAS"}, "is no node name"),
        ({"key": "x"}, "is no public key"),
        ({"addresses": ["10.77.0.2", "x"]}, "'x' is no address"),
        ({"endpoint": "nas"}, "is no endpoint"),
        ({"keepalive": -1}, "-1 is no time to keep alive: 0 to 65535 seconds"),
        ({"keepalive": 65536}, "65536 is no time to keep alive"),
    ],
)
def test_what_is_no_peer(differs: dict[str, Any], says: str) -> None:
    with pytest.raises(InvalidValue, match=says):
        evolve(NAS, **differs)


def test_who_is_told_of_whom_is_takes_where_nothing_is_said() -> None:
    network = Network(range="10.77.0.0/24")
    assert (network.peers, network.port, network.retired) == (Peers.TAKES, 51820, ())
