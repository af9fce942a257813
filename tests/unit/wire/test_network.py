"""The overlay in documents: how it is written, and what is refused, each at its place (design, part 4)."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from mesh_core import Fault, Mesh, Node, WireError, mesh_from_data, mesh_to_data
from mesh_core.model.network import Attachment, Endpoint, Network, Peers
from tests.unit.wire.documents import KEY, MISSING, WHOLE, but

RANGE = "10.77.0.0/24"
LAN = Endpoint(at="192.168.1.5:51820", site="home")


def faults_of(document: Any) -> tuple[Fault, ...]:
    with pytest.raises(WireError) as raised:
        mesh_from_data(document)
    return raised.value.faults


@pytest.mark.parametrize(
    ("network", "data"),
    [
        (Network(range=RANGE), RANGE),
        (Network(range=RANGE, peers=Peers.FULL), {"range": RANGE, "peers": "full"}),
        (Network(range=RANGE, port=1), {"range": RANGE, "port": 1}),
        (
            Network(range=RANGE, retired=["10.77.0.9", "10.77.0.3"]),
            {"range": RANGE, "retired": ["10.77.0.9", "10.77.0.3"]},
        ),
    ],
)
def test_the_network_is_written_as_short_as_it_can_be(network: Network, data: Any) -> None:
    mesh = Mesh(network=network)
    assert mesh_to_data(mesh) == {"format": 1, "modules": [], "nodes": [], "network": data}
    assert mesh_from_data(mesh_to_data(mesh)) == mesh
    long = {"range": RANGE, "peers": "takes", "port": 51820, "retired": []}
    assert mesh_from_data({"format": 1, "network": long}) == Mesh(network=Network(range=RANGE))


@pytest.mark.parametrize(
    ("attachment", "data"),
    [
        (Attachment(), None),
        (Attachment(address="10.77.0.3"), {"address": "10.77.0.3"}),
        (Attachment(key=KEY), {"key": KEY}),
        (Attachment(site="home"), {"site": "home"}),
        (Attachment(relay=True), {"relay": True}),
        (
            Attachment(endpoints=[Endpoint(at="z:1"), LAN, Endpoint(at="a:1")]),
            {"endpoints": ["z:1", {"at": LAN.at, "site": "home"}, "a:1"]},
        ),
    ],
)
def test_of_how_a_node_is_attached_that_is_written_which_there_is(attachment: Attachment, data: Any) -> None:
    mesh = Mesh(nodes=[Node(name="nas", network=attachment)])
    (written,) = mesh_to_data(mesh)["nodes"]
    assert written.get("network") == data
    assert mesh_from_data(mesh_to_data(mesh)) == mesh


def test_an_entry_that_says_nothing_of_it_is_a_node_that_is_not_attached() -> None:
    empty = {"format": 1, "nodes": [{"name": "nas", "network": {"relay": False, "endpoints": []}}]}
    assert mesh_from_data(empty) == Mesh(nodes=[Node(name="nas")])


NETWORK, AT_NAS = "$.network", "$.nodes[0].network"


@pytest.mark.parametrize(
    ("path", "value", "says"),
    [
        (NETWORK, None, "wanted a range or an object"),
        (NETWORK, {}, "this key is needed"),
        (NETWORK, "10.77.0.0", "is no range"),
        (f"{NETWORK}.range", MISSING, "this key is needed"),
        (f"{NETWORK}.range", "10.77.0.1/24", "is written 10.77.0.0/24"),
        (f"{NETWORK}.peers", "all", 'wanted "full" or "takes"'),
        (f"{NETWORK}.port", 0, "a port is 1 to 65535"),
        (f"{NETWORK}.port", 65536, "a port is 1 to 65535"),
        (f"{NETWORK}.port", -1, "wanted a whole number, not below 0"),
        (f"{NETWORK}.port", "51820", "wanted a whole number, not below 0"),
        (f"{NETWORK}.port", True, "wanted a whole number, not below 0"),
        (f"{NETWORK}.port", 51820.0, "wanted a whole number, not below 0"),
        (f"{NETWORK}.retired[0]", "10.77.0.09", "is no address"),
        (f"{NETWORK}.retired[1]", "10.77.0.9", "it may stand once"),
        (AT_NAS, None, "wanted an object"),
        (f"{AT_NAS}.address", "10.77.0.2/24", "is no address"),
        (f"{AT_NAS}.address", "10.77.0.0", "10.77.0.0 is no address of a machine in 10.77.0.0/24"),
        (f"{AT_NAS}.address", "10.77.0.255", "10.77.0.255 is no address of a machine in 10.77.0.0/24"),
        (f"{AT_NAS}.address", "10.78.0.2", "10.78.0.2 is no address of a machine in 10.77.0.0/24"),
        (f"{AT_NAS}.address", "fd77::2", "fd77::2 is no address of a machine in 10.77.0.0/24"),
        (f"{AT_NAS}.key", KEY[:-1], "is no public key of WireGuard"),
        (f"{AT_NAS}.site", "Home", "is no name of a site"),
        (f"{AT_NAS}.relay", "yes", "wanted true or false"),
        (f"{AT_NAS}.endpoints[0]", "nas.example.org", "is no endpoint"),
        (f"{AT_NAS}.endpoints[0]", f"nas:{'9' * 5000}", "is no endpoint"),
        (f"{AT_NAS}.endpoints[1].at", MISSING, "this key is needed"),
        (f"{AT_NAS}.endpoints[1].at", "192.168.1.5", "is no endpoint"),
        (f"{AT_NAS}.endpoints[1].site", "", "is no name of a site"),
        (f"{AT_NAS}.endpoints[2]", {"at": "nas.example.org:51820"}, "it may stand once"),
        (f"{AT_NAS}.endpoints[2]", {"at": "192.168.1.5:51820", "site": "home"}, "it may stand once"),
    ],
)
def test_what_is_refused_is_told_at_its_place(path: str, value: Any, says: str) -> None:
    (fault,) = faults_of(but((path, value)))
    needed = value == {} and path == NETWORK
    assert fault.path == (f"{NETWORK}.range" if needed else path)
    assert says in fault.wanted


def test_two_endpoints_at_one_place_for_two_sites_are_two() -> None:
    other = {"at": "192.168.1.5:51820", "site": "office"}
    mesh_from_data(but((f"{AT_NAS}.endpoints[2]", other), (f"{AT_NAS}.endpoints[3]", "192.168.1.5:51820")))


@pytest.mark.parametrize(
    ("path", "meant"),
    [("$.netwrok", "network"), (f"{NETWORK}.ranges", "range"), (f"{AT_NAS}.endpoint", "endpoints")],
)
def test_a_key_that_is_unknown_is_told_with_the_one_that_was_meant(path: str, meant: str) -> None:
    (fault,) = faults_of(but((path, "x")))
    assert (fault.path, fault.suggestion) == (path, meant)


def test_the_second_of_two_nodes_of_one_address_is_at_fault() -> None:
    document = but(("$.nodes[1].network", {"address": "10.77.0.2"}))
    path = "$.nodes[1].network.address"
    wanted = "10.77.0.2 is the address of nas"
    assert faults_of(document) == (Fault(path=path, found='found "10.77.0.2"', wanted=wanted),)


def test_places_are_those_of_the_document_where_an_entry_before_is_refused() -> None:
    pi = {"name": "pi", "network": {"address": "10.78.0.1"}}
    document = {"format": 1, "network": RANGE, "nodes": [{"name": "NAS"}, pi]}
    assert [fault.path for fault in faults_of(document)] == ["$.nodes[0].name", "$.nodes[1].network.address"]


def test_addresses_are_not_held_against_a_range_that_is_none() -> None:
    assert [fault.path for fault in faults_of(but((f"{NETWORK}.range", "10.77")))] == [f"{NETWORK}.range"]


def test_without_a_network_addresses_are_only_text() -> None:
    """A node's entry may be looked at by itself."""
    document = but(
        ("$.network", MISSING),
        (f"{AT_NAS}.address", "10.78.0.2"),
        ("$.nodes[1].network", {"address": "10.78.0.2"}),
    )
    mesh = mesh_from_data(document)
    assert [node.network.address for node in mesh.nodes] == ["10.78.0.2", "10.78.0.2"]


def test_retired_addresses_that_are_somebodys_or_no_machines_are_left_out() -> None:
    retired = ["10.77.0.9", "10.77.0.2", "10.99.0.1"]
    network = mesh_from_data(but((f"{NETWORK}.retired", retired))).network
    whole = mesh_from_data(WHOLE).network
    assert whole is not None
    assert network == evolve(whole, retired=["10.77.0.9"])
