"""The overlay network in sentences: what holds, how nodes are attached, what has to be told."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from mesh_core import Change, Mesh, Node, PutNode
from mesh_core.canonical import canonical_json
from mesh_core.change import Attach, SetNetwork
from mesh_core.explain.changes import differences, done
from mesh_core.explain.network import attachment, below, concerning, headline, network, note_to_data, told
from mesh_core.model.network import Attachment, Endpoint, Network, Peers
from mesh_core.network.overlay import NoAddress, NoKey, NoPath, Note, SameKey
from tests.unit.wire.documents import KEY

NETWORK = Network(range="10.77.0.0/24")
VPS, LAN = Endpoint(at="vps.example.org:51820"), Endpoint(at="192.168.1.5:51820", site="home")
AT_HOME = Attachment(address="10.77.0.3", key=KEY, endpoints=[LAN, VPS], site="home", relay=True)


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (None, "the mesh has no network"),
        (NETWORK, "the network is 10.77.0.0/24; nodes are peers of those that they take from and give to"),
        (
            evolve(NETWORK, peers=Peers.FULL, port=1),
            "the network is 10.77.0.0/24, on port 1; every node is a peer of every other one",
        ),
        (
            evolve(NETWORK, retired=["10.77.0.9"]),
            "the network is 10.77.0.0/24; nodes are peers of those that they take from and give to",
        ),
    ],
)
def test_what_holds_for_the_whole_overlay(said: Network | None, says: str) -> None:
    assert network(said) == says
    assert done(SetNetwork(network=said)) == says


@pytest.mark.parametrize(
    ("said", "says"),
    [
        (Attachment(), "no address yet"),
        (Attachment(key=KEY), "no address yet"),
        (Attachment(address="10.77.0.3"), "10.77.0.3"),
        (Attachment(address="10.77.0.3", endpoints=[VPS]), "10.77.0.3, reached at vps.example.org:51820"),
        (
            AT_HOME,
            f"10.77.0.3, reached at {LAN.at} (home) and vps.example.org:51820, on the site home, a relay",
        ),
        (Attachment(site="home", relay=True), "no address yet, on the site home, a relay"),
    ],
)
def test_how_a_node_is_attached(said: Attachment, says: str) -> None:
    assert attachment(said) == says
    assert done(Attach(node="pi", network=said)) == f"pi is attached to the network: {says}"


BEFORE = Mesh(nodes=[Node(name="nas"), Node(name="pi", network=Attachment(address="10.77.0.2"))])
NETWORKED = evolve(BEFORE, network=NETWORK)
HOLDS = network(NETWORK)


@pytest.mark.parametrize(
    ("change", "before", "line"),
    [
        (SetNetwork(network=NETWORK), BEFORE, f"+ {HOLDS}"),
        (SetNetwork(network=NETWORK), NETWORKED, f"~ {HOLDS}"),
        (SetNetwork(network=None), NETWORKED, "- the network 10.77.0.0/24, and everybody's address in it"),
        (Attach(node="nas", network=Attachment(address="10.77.0.1")), NETWORKED, "~ node nas: 10.77.0.1"),
        (
            Attach(node="pi", network=Attachment(address="10.77.0.1")),
            NETWORKED,
            "~ node pi: 10.77.0.1 (it had 10.77.0.2)",
        ),
        (
            Attach(node="pi", network=Attachment()),
            NETWORKED,
            "~ node pi: no address yet (it had 10.77.0.2)",
        ),
        (
            Attach(node="pi", network=Attachment(address="10.77.0.2", relay=True)),
            NETWORKED,
            "~ node pi: 10.77.0.2, a relay",
        ),
        (
            PutNode(node=Node(name="pi", assigned=["web"], network=Attachment(address="10.77.0.1"))),
            NETWORKED,
            "~ node pi: + assign web, 10.77.0.1 (it had 10.77.0.2)",
        ),
        (
            PutNode(node=Node(name="vps", network=Attachment(address="10.77.0.1"))),
            NETWORKED,
            "+ node vps: 10.77.0.1",
        ),
        (PutNode(node=Node(name="vps")), NETWORKED, "+ node vps"),
    ],
)
def test_how_a_mesh_differs(change: Change, before: Mesh, line: str) -> None:
    assert [*differences(change, before)] == [line]


HOUSE = Mesh(
    network=Network(range="10.77.0.0/30"),
    nodes=[
        Node(name="nas", network=Attachment(address="10.77.0.1")),
        Node(name="pi"),
        Node(name="vps", network=Attachment(address="10.77.0.2")),
    ],
)
"""A full range, and nobody is reached by anybody."""

NOTES: list[tuple[Note, str, list[str], dict[str, Any]]] = [
    (
        NoAddress(node="pi"),
        "pi has no address: the range has none left",
        ["fix: mesh network move 10.77.0.0/29     (who has an address keeps it)"],
        {"note": "no-address", "node": "pi"},
    ),
    (
        NoKey(node="pi"),
        "pi is left out of the network: its machine has not reported a key yet",
        ["it needs mesh-host, and wg (Debian: wireguard-tools); see mesh status pi"],
        {"note": "no-key", "node": "pi"},
    ),
    (
        SameKey(nodes=("nas", "pi", "vps")),
        "nas, pi and vps are left out of the network: their machines have one key, as copies do",
        ["fix: mesh-host leave on all but one of them, and join again: mesh node invite vps"],
        {"note": "same-key", "nodes": ["nas", "pi", "vps"]},
    ),
    (
        NoPath(node="vps", provider="nas", provisions=("database", "mail")),
        "vps takes 'database' and 'mail' from nas, and there is no path between them in the network",
        [
            "neither has an endpoint that the other can use, and no relay reaches both",
            "fix: mesh network attach nas --endpoint HOST",
        ],
        {"note": "no-path", "node": "vps", "provider": "nas", "provisions": ["database", "mail"]},
    ),
]


@pytest.mark.parametrize(("note", "says", "lines", "data"), NOTES, ids=lambda value: type(value).__name__)
def test_what_has_to_be_told(note: Note, says: str, lines: list[str], data: dict[str, Any]) -> None:
    assert headline(note) == says
    assert [*below(note, HOUSE)] == lines
    assert note_to_data(note) == data
    canonical_json(note_to_data(note))
    assert [*told([note], HOUSE)] == [(says, tuple(lines))]


def test_machines_without_a_key_are_told_together_and_first() -> None:
    others: list[Note] = [NoAddress(node="a"), SameKey(nodes=("b", "c"))]
    notes: list[Note] = [others[0], NoKey(node="pi"), NoKey(node="vps"), others[1]]
    (first, lines), *rest = told(notes, HOUSE)
    assert first == "pi and vps are left out of the network: their machines have not reported a key yet"
    assert lines == ("each needs mesh-host, and wg (Debian: wireguard-tools); see mesh status NODE",)
    assert [says for says, _ in rest] == [headline(note) for note in others]
    assert [*told([], HOUSE)] == []


def test_nodes_without_an_address_are_told_together() -> None:
    ((says, lines),) = told([NoAddress(node="a"), NoAddress(node="b")], HOUSE)
    assert says == "a and b have no address: the range has none left"
    assert lines == ("fix: mesh network move 10.77.0.0/29     (who has an address keeps it)",)


def test_what_is_about_a_node_is_picked_out() -> None:
    notes = [note for note, *_ in NOTES]
    no_address, no_key, same_key, no_path = notes
    assert concerning(notes, ["pi"]) == (no_address, no_key, same_key)
    assert concerning(notes, ["vps"]) == (same_key, no_path)
    assert concerning(notes, ["nas"]) == (same_key, no_path), "whoever is taken from as well"
    assert concerning(notes, ["attic"]) == ()
