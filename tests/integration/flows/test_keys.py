"""What machines say of their keys: it is a node's from then on, and others are told with the next push."""

from __future__ import annotations

from typing import Any

from mesh_core.change import Attach, SetNetwork
from mesh_core.event import Event
from mesh_core.model.network import Attachment, DeclaredNetwork, Endpoint, Network
from mesh_core.model.said import Hello
from mesh_core.wire.said import hello_to_bytes
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


def test_a_key_is_recorded_once_and_another_takes_its_place(site: Site) -> None:
    a_mesh(site)
    site.host("pi").hello(hello_to_bytes(Hello(node="pi", machine="id-pi", key=PI)))
    site.collect()
    assert (key_of(site, "pi"), site.store.history(1)[0].event.who) == (PI, "pi")
    site.report("pi", None, key=PI)
    site.collect()
    before = events(site)
    site.report("pi", None, key=PI)
    site.collect()
    site.report("pi", None)
    site.collect()
    assert (key_of(site, "pi"), events(site)) == (PI, before), "said again, or not at all, it is no news"
    site.report("pi", None, key=OTHER)
    site.collect()
    assert key_of(site, "pi") == OTHER
    found = site.store.mesh().node("pi")
    assert found is not None
    assert found.network.address == "10.77.0.3", "everything else of it stays"


def test_the_key_of_another_machine_under_that_name_is_nobodys(site: Site) -> None:
    """Design, part 11: the second machine is given nothing."""
    a_mesh(site)
    site.report("pi", None, key=PI)
    site.collect()
    site.host("pi").hello(hello_to_bytes(Hello(node="pi", machine="a-copy", key=OTHER)))
    assert site.collect().strangers == {"pi": "a-copy"}
    assert key_of(site, "pi") == PI


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
