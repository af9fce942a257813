"""The overlay network in the store: what holds for it, and how each node is attached, as events say."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.store import SqliteStore
from mesh_core import Change, DropNode, InvalidValue, Mesh, Node, PutNode, apply_all
from mesh_core.change import Attach, SetNetwork
from mesh_core.model.network import Attachment, Endpoint, Network, Peers
from mesh_core.testing.strategies.of_networks import KEYS
from tests.integration.store.helpers import counts, event, record

VPS, LAN = Endpoint(at="vps.example.org:51820"), Endpoint(at="192.168.1.5:51820", site="home")
WHOLE = Attachment(address="10.77.0.2", key=KEYS[0], endpoints=[VPS, LAN], site="home", relay=True)
NETWORK = Network(range="10.77.0.0/29", peers=Peers.FULL, port=51821, retired=["10.77.0.6", "10.77.0.4"])
NAS, PI = Node(name="nas", network=WHOLE), Node(name="pi", network=Attachment(address="10.77.0.1"))
SAID: tuple[Change, ...] = (PutNode(node=NAS), PutNode(node=PI), SetNetwork(network=NETWORK))
MESH = Mesh(nodes=[NAS, PI], network=NETWORK)


def attach(name: str, address: str | None, **more: object) -> Attach:
    return Attach(node=name, network=Attachment(address=address, **more))  # type: ignore[arg-type]


@pytest.fixture
def networked(store: SqliteStore) -> SqliteStore:
    record(store, *SAID)
    return store


def test_everything_of_it_is_read_by_another_program(path: Path) -> None:
    with closing(SqliteStore.create(path)) as store:
        record(store, *SAID)
    with closing(SqliteStore.open(path)) as store:
        assert store.mesh() == MESH
        assert store.history()[0].event.changes == SAID


def test_the_order_of_endpoints_and_of_what_was_let_go_is_kept(networked: SqliteStore) -> None:
    ends = [Endpoint(at=f"{name}:1") for name in ("z", "a", "m")]
    record(networked, attach("nas", "10.77.0.2", endpoints=ends), attach("nas", "10.77.0.3", endpoints=ends))
    mesh = networked.mesh()
    assert mesh.network is not None
    assert mesh.network.retired == ("10.77.0.6", "10.77.0.4", "10.77.0.2")
    assert mesh.nodes[0].network.endpoints == tuple(ends)
    record(networked, attach("nas", "10.77.0.3", endpoints=ends[::-1]))
    assert networked.mesh().nodes[0].network.endpoints == tuple(ends[::-1])


def test_a_node_that_is_attached_to_nothing_any_more_leaves_no_row(
    networked: SqliteStore, path: Path
) -> None:
    assert counts(path) | {"network": 1, "retired_addresses": 2, "endpoints": 2} == counts(path)
    record(networked, Attach(node="nas", network=Attachment()))
    assert counts(path) | {"network": 1, "retired_addresses": 3, "endpoints": 0} == counts(path)
    record(networked, SetNetwork(network=None))
    assert counts(path) | {"network": 0, "retired_addresses": 0, "endpoints": 0} == counts(path)
    assert networked.mesh() == Mesh(nodes=[Node(name="nas"), Node(name="pi")])


def test_without_a_network_nobody_has_an_address_and_the_rest_stays_known(networked: SqliteStore) -> None:
    record(networked, SetNetwork(network=None))
    without = Mesh(nodes=[Node(name="nas", network=evolve(WHOLE, address=None)), Node(name="pi")])
    assert networked.mesh() == without


def test_a_node_that_is_removed_retires_its_address_and_who_is_given_it_takes_it_back(
    networked: SqliteStore,
) -> None:
    record(networked, DropNode(node="pi"))
    network = networked.mesh().network
    assert network == evolve(NETWORK, retired=[*NETWORK.retired, "10.77.0.1"])
    record(networked, PutNode(node=Node(name="pie", network=Attachment(address="10.77.0.4"))))
    network = networked.mesh().network
    assert network == evolve(NETWORK, retired=["10.77.0.6", "10.77.0.1"])


def test_addresses_need_only_agree_once_the_event_is_made(networked: SqliteStore) -> None:
    """Two nodes may change theirs, and another range takes all of them along."""
    swapped = (attach("nas", "10.77.0.1"), attach("pi", "10.77.0.2"))
    record(networked, *swapped)
    assert networked.mesh() == apply_all(MESH, swapped)
    moved = (
        attach("nas", "fd77::1"),
        SetNetwork(network=Network(range="fd77::/64")),
        attach("pi", "fd77::2"),
    )
    record(networked, *moved)
    assert networked.mesh() == apply_all(MESH, (*swapped, *moved))


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (attach("pi", "10.77.0.2"), "10.77.0.2 is the address of nas"),
        (attach("pi", "10.77.0.7"), "10.77.0.7 is no address of a machine in 10.77.0.0/29"),
        (attach("pi", "10.99.0.1"), "10.99.0.1 is no address of a machine in 10.77.0.0/29"),
        (PutNode(node=evolve(PI, name="vps")), "10.77.0.1 is the address of pi"),
        (SetNetwork(network=Network(range="10.99.0.0/24")), "10.77.0.2 is no address of a machine"),
    ],
)
def test_an_address_that_cannot_be_a_nodes_is_refused_and_is_no_damage(
    networked: SqliteStore, path: Path, change: Change, why: str
) -> None:
    before = counts(path)
    with networked.writing() as session:
        with pytest.raises(InvalidValue, match=why):
            session.record(event(change))
        assert session.mesh() == MESH
        session.record(event(Attach(node="pi", network=evolve(PI.network, relay=True))))
    assert counts(path) == before | {"events": 2}


def test_as_text_two_may_have_one_address_until_there_is_a_network(store: SqliteStore) -> None:
    twins = [PutNode(node=evolve(PI, name=name)) for name in ("nas", "pi")]
    record(store, *twins)
    assert store.mesh() == Mesh(nodes=[put.node for put in twins])
    with pytest.raises(InvalidValue, match=r"10\.77\.0\.1 is the address of nas"):
        record(store, SetNetwork(network=NETWORK))


def test_what_can_never_be_given_again_is_not_kept_as_retired(store: SqliteStore, path: Path) -> None:
    said = Network(range="10.77.0.0/29", retired=["10.99.0.1", "10.77.0.7", "10.77.0.5"])
    record(store, SetNetwork(network=said))
    assert store.mesh().network == evolve(said, retired=["10.77.0.5"])
    assert counts(path)["retired_addresses"] == 1
    assert store.history()[0].event.changes == (SetNetwork(network=said),), "what was said is as it was said"
