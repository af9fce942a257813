"""What machines say of their keys: it is a node's from then on, and others are told with the next push."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from mesh_core.change import Attach, SetNetwork
from mesh_core.change import Report as Reported
from mesh_core.event import Event
from mesh_core.model.network import Attachment, DeclaredNetwork, Endpoint, Network
from mesh_core.model.node import Capability
from mesh_core.model.said import Hello, Report
from mesh_core.wire.said import hello_to_bytes, report_to_bytes
from tests.integration.flows.conftest import AT, Site

PI, NAS, OTHER = ("P" * 42 + "A=", "N" * 42 + "A=", "O" * 42 + "A=")
WEB = {"name": "web", "version": "1", "requires": ["database"]}
POSTGRES = {"name": "postgres", "version": "16", "provides": [{"name": "database", "scope": "mesh"}]}


def a_mesh(site: Site) -> None:
    """A node takes from another, and a third one has to do with neither."""
    nodes: list[dict[str, Any]] = [
        {"name": "pi", "assign": ["web"]},
        {"name": "nas", "assign": ["postgres"]},
        {"name": "attic"},
    ]
    site.has([WEB, POSTGRES], nodes)
    changes = [SetNetwork(network=Network(range="10.77.0.0/24"))]
    there = [Endpoint(at="nas.example.org:51820")]
    attached = [
        Attach(node="attic", network=Attachment(address="10.77.0.1")),
        Attach(node="nas", network=Attachment(address="10.77.0.2", endpoints=there)),
        Attach(node="pi", network=Attachment(address="10.77.0.3")),
    ]
    with site.store.writing() as session:
        session.record(Event(at=AT, who="test", command="test", changes=[*changes, *attached]))


def key_of(site: Site, node: str) -> str | None:
    found = site.store.mesh().node(node)
    assert found is not None
    return found.network.key


def events(site: Site) -> int:
    return len(site.store.history(None))


def network_of(site: Site, node: str) -> DeclaredNetwork | None:
    declaration = site.waiting(node)
    assert declaration is not None
    return declaration.network


def last(site: Site) -> Event:
    return site.store.history(1)[0].event


def test_a_key_is_recorded_once_and_another_takes_its_place(site: Site) -> None:
    a_mesh(site)
    site.hello("pi", key=PI)
    site.collect()
    assert (key_of(site, "pi"), last(site).who, last(site).command) == (PI, "pi", "(hello of pi)")
    site.report("pi", None, key=PI)
    site.collect()
    before = events(site)
    for key in (PI, None):
        site.hello("pi", key=key)
        site.report("pi", None, key=key)
        site.collect()
    assert (key_of(site, "pi"), events(site)) == (PI, before), "said again, or not at all, it is no news"
    site.report("pi", None, key=OTHER)
    site.collect()
    assert (key_of(site, "pi"), last(site).who, last(site).command) == (OTHER, "pi", "(report of pi)")
    found = site.store.mesh().node("pi")
    assert found is not None
    assert found.network.address == "10.77.0.3", "everything else of it stays"


def test_a_key_and_what_a_machine_has_that_come_together_are_one_event(site: Site) -> None:
    a_mesh(site)
    before = events(site)
    site.report("pi", None, key=PI, capabilities=[Capability(name="systemd")])
    site.collect()
    assert events(site) == before + 1
    assert {type(change) for change in last(site).changes} == {Attach, Reported}


def test_without_a_network_a_key_is_known_all_the_same(site: Site) -> None:
    """The network may come later; the machine does not say it again for that."""
    site.has([WEB, POSTGRES], [{"name": "pi"}])
    site.report("pi", None, key=PI)
    site.collect()
    assert key_of(site, "pi") == PI


def test_the_key_of_another_machine_under_that_name_is_nobodys(site: Site) -> None:
    """Design, part 11: the second machine is given nothing."""
    a_mesh(site)
    site.report("pi", None, key=PI)
    site.collect()
    before = events(site)
    site.hello("pi", machine="a-copy", key=OTHER)
    assert site.collect().strangers == {"pi": "a-copy"}
    site.report("pi", 9, machine="a-copy", key=OTHER)
    assert site.collect().strangers == {"pi": "a-copy"}
    assert (key_of(site, "pi"), events(site)) == (PI, before)


def test_the_key_in_an_older_report_is_not_taken(site: Site) -> None:
    """> takes in reports (a stale or foreign one changes nothing)"""
    a_mesh(site)
    site.report("pi", 5, key=PI)
    site.collect()
    before = events(site)
    site.report("pi", 4, key=OTHER)
    assert site.collect().stale == {"pi": 1}
    assert (key_of(site, "pi"), events(site)) == (PI, before)


def test_nobody_says_the_key_of_another_node(site: Site) -> None:
    a_mesh(site)
    before = events(site)
    for node in ("nas", "nobody"):
        site.host("pi").report(report_to_bytes(Report(node=node, machine=f"id-{node}", key=PI)))
        site.host("pi").hello(hello_to_bytes(Hello(node=node, machine=f"id-{node}", key=PI)))
        assert site.collect().strange == {"pi": 2}
    assert (key_of(site, "nas"), key_of(site, "pi"), events(site)) == (None, None, before)


@pytest.mark.parametrize("key", ["", "x", PI[:-1], f"{PI}=", "P" * 44, PI.replace("A=", "B=")])
def test_what_is_no_key_is_no_report(site: Site, key: str) -> None:
    a_mesh(site)
    said = report_to_bytes(Report(node="pi", machine="id-pi", key=PI)).replace(PI.encode(), key.encode())
    site.host("pi").report(said)
    assert site.collect().strange == {"pi": 1}
    assert key_of(site, "pi") is None


def test_a_key_that_two_machines_have_is_told_to_nobody(site: Site) -> None:
    """A disk that was copied; each is known by it, and both are left out."""
    a_mesh(site)
    for node in ("pi", "nas"):
        site.report(node, None, key=PI)
    site.collect()
    assert key_of(site, "pi") == key_of(site, "nas") == PI
    site.push()
    assert network_of(site, "pi") is None
    assert network_of(site, "nas") is None


def test_a_key_that_comes_is_told_to_those_that_it_concerns_and_to_nobody_else(site: Site) -> None:
    a_mesh(site)
    site.report("nas", None, key=NAS)
    site.report("attic", None, key=OTHER)
    site.collect()
    site.push()
    alone = network_of(site, "nas")
    assert alone is not None
    assert alone.peers == ()
    assert network_of(site, "pi") is None, "it has no key yet"
    site.waiting("attic")
    site.report("pi", 1, key=PI)
    site.collect()
    assert set(site.push().publishing.confirmed) == {"nas", "pi"}
    of_nas, of_pi = network_of(site, "nas"), network_of(site, "pi")
    assert of_nas is not None
    assert of_pi is not None
    assert [(peer.node, peer.key, peer.endpoint) for peer in of_nas.peers] == [("pi", PI, None)]
    (nas,) = of_pi.peers
    assert (nas.key, nas.endpoint, nas.keepalive) == (NAS, "nas.example.org:51820", 25)
    assert site.push().publishing.confirmed == {}, "and again there is nothing to send"


def test_another_key_is_told_to_the_others_and_the_machine_itself_is_sent_nothing(site: Site) -> None:
    a_mesh(site)
    site.report("nas", None, key=NAS)
    site.report("pi", None, key=PI)
    site.collect()
    assert {"nas", "pi"} <= set(site.push().publishing.confirmed)
    site.report("pi", 1, key=OTHER)
    site.collect()
    assert set(site.push().publishing.confirmed) == {"nas"}
    of_nas = network_of(site, "nas")
    assert of_nas is not None
    assert [peer.key for peer in of_nas.peers] == [OTHER]


def test_a_key_that_is_forgotten_takes_its_machine_out_of_the_networks_of_the_others(site: Site) -> None:
    a_mesh(site)
    site.report("nas", None, key=NAS)
    site.report("pi", None, key=PI)
    site.collect()
    site.push()
    found = site.store.mesh().node("pi")
    assert found is not None
    change = Attach(node="pi", network=evolve(found.network, key=None))
    with site.store.writing() as session:
        session.record(Event(at=AT, who="test", command="test", changes=[change]))
    assert set(site.push().publishing.confirmed) == {"nas", "pi"}
    of_nas = network_of(site, "nas")
    assert of_nas is not None
    assert (of_nas.peers, of_nas.names) == ((), (("nas", "10.77.0.2"),))
    assert network_of(site, "pi") is None
