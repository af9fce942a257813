"""The overlay as one node is told of it, in the declaration document (design, parts 8 and 11)."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from attrs import evolve

from mesh_core import WireError
from mesh_core.canonical import canonical_json
from mesh_core.model.declaration import Declaration, DeclaredAnswer, DeclaredModule, Given
from mesh_core.model.network import DeclaredNetwork, Peer
from mesh_core.wire.declaration import (
    content_fingerprint,
    declaration_from_data,
    declaration_to_data,
    digest_of,
    read_declaration,
)
from mesh_core.wire.fingerprint import fingerprint
from tests.unit.model.test_network import KEYS

NAS = Peer(
    node="nas", key=KEYS[1], addresses=["10.77.0.4", "10.77.0.2"], endpoint="nas.example:1", keepalive=25
)
PI = Peer(node="pi", key=KEYS[2], addresses=["10.77.0.3"])
NETWORK = DeclaredNetwork(
    address="10.77.0.1",
    range="10.77.0.0/24",
    port=51821,
    relay=True,
    peers=[PI, NAS],
    names={"vps": "10.77.0.1", "nas": "10.77.0.2", "pi": "10.77.0.3", "attic": "10.77.0.4"},
)
TAKEN = Given(node="nas", module="postgres", exports={"port": "5432"}, address="10.77.0.2")
WEB = DeclaredModule(name="web", version="1", answers=[DeclaredAnswer(provision="database", given=[TAKEN])])
WHOLE = Declaration(node="vps", generation=43, network=NETWORK, modules=[WEB])


def test_how_it_is_written() -> None:
    data = declaration_to_data(WHOLE)
    assert data["network"] == {
        "address": "10.77.0.1",
        "range": "10.77.0.0/24",
        "port": 51821,
        "relay": True,
        "peers": [
            {
                "node": "nas",
                "key": KEYS[1],
                "addresses": ["10.77.0.2", "10.77.0.4"],
                "endpoint": "nas.example:1",
                "keepalive": 25,
            },
            {"node": "pi", "key": KEYS[2], "addresses": ["10.77.0.3"]},
        ],
        "names": {"attic": "10.77.0.4", "nas": "10.77.0.2", "pi": "10.77.0.3", "vps": "10.77.0.1"},
    }
    assert data["modules"][0]["answers"]["database"] == {
        "node": "nas",
        "module": "postgres",
        "exports": {"port": "5432"},
        "address": "10.77.0.2",
    }
    plain = declaration_to_data(evolve(WHOLE, network=evolve(NETWORK, relay=False)))["network"]
    assert "relay" not in plain


@pytest.mark.parametrize(
    "network",
    [
        NETWORK,
        evolve(NETWORK, relay=False, peers=[]),
        DeclaredNetwork(address="fd77::3", range="fd77::/64", names={"vps": "fd77::3"}),
    ],
)
def test_it_is_read_as_it_was_written(network: DeclaredNetwork) -> None:
    declaration = evolve(WHOLE, network=network)
    assert read_declaration(canonical_json(declaration_to_data(declaration)).encode()) == declaration


def signed(data: dict[str, Any]) -> dict[str, Any]:
    rest = {key: value for key, value in data.items() if key != "digest"}
    return {**rest, "digest": fingerprint(rest)}


@pytest.mark.parametrize(
    ("change", "path", "says"),
    [
        ({"address": "10.77.0.01"}, "$.network.address", "is no address"),
        ({"address": "10.78.0.1"}, "$.network", "10.78.0.1 is no address in 10.77.0.0/24"),
        ({"range": "10.77.0.1/24"}, "$.network.range", "is written 10.77.0.0/24"),
        ({"port": 0}, "$.network.port", "a port is 1 to 65535"),
        ({"relay": 1}, "$.network.relay", "wanted true or false"),
        ({"peers": {}}, "$.network.peers", "wanted a list"),
        ({"peer": []}, "$.network.peer", "the keys here are"),
        ({"names": {"NAS": "10.77.0.2"}}, "$.network.names.NAS", "a node name is"),
        ({"names": {"nas": "10.77.0"}}, "$.network.names.nas", "is no address"),
        ({"names": {"nas": "10.78.0.2"}}, "$.network", "10.78.0.2 is no address in 10.77.0.0/24"),
        ({"names": []}, "$.network.names", "wanted an object"),
    ],
)
def test_what_it_may_not_say_is_refused_at_its_place(change: dict[str, Any], path: str, says: str) -> None:
    data = declaration_to_data(WHOLE)
    data["network"] |= change
    with pytest.raises(WireError) as caught:
        declaration_from_data(signed(data))
    (fault,) = caught.value.faults
    assert fault.path == path
    assert says in fault.wanted


@pytest.mark.parametrize(
    ("change", "path", "says"),
    [
        ({"node": "NAS"}, ".node", "a node name is"),
        ({"key": "x"}, ".key", "is no public key"),
        ({"addresses": ["10.77.0.2", "x"]}, ".addresses[1]", "is no address"),
        ({"addresses": ["10.77.0.2", "10.77.0.2"]}, ".addresses[1]", "it may stand once"),
        ({"endpoint": "nas"}, ".endpoint", "is no endpoint"),
        ({"endpoint": None}, ".endpoint", "wanted text"),
        ({"node": None}, ".node", "wanted text"),
        ({"keepalive": -1}, ".keepalive", "wanted a whole number"),
        ({"keepalive": "25"}, ".keepalive", "wanted a whole number"),
        ({"keepalive": 25.0}, ".keepalive", "wanted a whole number"),
        ({"keepalive": True}, ".keepalive", "wanted a whole number"),
        ({"keepalive": 65536}, None, "65536 is no time to keep alive"),
        ({"addresses": ["10.77.0.1"]}, None, "stands twice in the addresses that peers reach"),
        ({"addresses": ["10.77.0.3"]}, None, "stands twice in the addresses that peers reach"),
        ({"key": KEYS[2]}, None, "stands twice in the keys of peers"),
    ],
)
def test_what_a_peer_may_not_be_is_refused_at_its_place(
    change: dict[str, Any], path: str | None, says: str
) -> None:
    data = copy.deepcopy(declaration_to_data(WHOLE))
    data["network"]["peers"][0] |= change
    with pytest.raises(WireError) as caught:
        declaration_from_data(signed(data))
    (fault,) = caught.value.faults
    assert fault.path == ("$.network" if path is None else f"$.network.peers[0]{path}")
    assert says in fault.wanted


def test_what_it_is_told_counts_in_the_fingerprint_and_is_no_item() -> None:
    other = evolve(WHOLE, network=evolve(NETWORK, peers=[PI]))
    without = evolve(WHOLE, network=None)
    given_elsewhere = evolve(
        WHOLE,
        modules=[evolve(WEB, answers=[evolve(WEB.answers[0], given=[evolve(TAKEN, address="10.77.0.9")])])],
    )
    prints = {content_fingerprint(one) for one in (WHOLE, other, without, given_elsewhere)}
    digests = {digest_of(one) for one in (WHOLE, other, without, given_elsewhere)}
    assert len(prints) == len(digests) == 4
    assert content_fingerprint(evolve(WHOLE, generation=44)) == content_fingerprint(WHOLE)
    assert {one.items for one in (WHOLE, other, without)} == {1}


def test_without_a_network_nothing_is_said_of_addresses() -> None:
    """A declaration is what it was before there were any: nobody is sent one again for that."""
    data = declaration_to_data(evolve(WHOLE, network=None, modules=[]))
    assert data["network"] is None
    bare = evolve(WEB, answers=[evolve(WEB.answers[0], given=[evolve(TAKEN, address=None)])])
    answers = declaration_to_data(evolve(WHOLE, modules=[bare]))["modules"][0]["answers"]
    assert answers == {"database": {"node": "nas", "module": "postgres", "exports": {"port": "5432"}}}
