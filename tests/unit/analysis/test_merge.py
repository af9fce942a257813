"""A mesh document laid over a mesh.

> `import` leaves what a node's entry does not mention (no `assign` key) and empties what it gives empty.
> (design, part 11)
"""

from base64 import b64encode
from typing import Any

import pytest

from mesh_core import (
    Capability,
    CatalogueError,
    DropNode,
    InvalidValue,
    Mesh,
    Node,
    Pin,
    PutNode,
    mesh_from_data,
    mesh_to_data,
)
from mesh_core.analysis.difference import difference
from mesh_core.analysis.merge import merged
from mesh_core.analysis.proposal import propose
from mesh_core.model.network import Attachment, Endpoint, Network, Peers
from mesh_core.wire.document import mesh_document_from_data
from tests.unit.analysis.builders import DATABASE, POSTGRES, mesh, module, node
from tests.unit.wire.documents import KEY

STANDING = mesh(
    [module("zsh", "shell"), module("bash", "shell")],
    [
        node("nas", "zsh", pins={"p": "pi"}, capabilities={"g": True}),
        node("pi", "bash"),
    ],
)


def laid(document: dict[str, Any], over: Mesh = STANDING, *, replace: bool = False) -> Mesh:
    return merged(over, mesh_document_from_data({"format": 1, **document}), replace=replace)


def the_node(document: dict[str, Any], name: str = "nas", *, replace: bool = False) -> Node:
    found = laid({"nodes": [{"name": name, **document}]}, replace=replace).node(name)
    assert found is not None
    return found


NAS, PI = STANDING.nodes


def test_a_document_that_says_nothing() -> None:
    assert laid({}) == STANDING
    assert laid({"nodes": [{"name": "nas"}], "modules": []}) == STANDING
    assert laid({}, replace=True) == Mesh()
    assert merged(STANDING, mesh_document_from_data({"format": 1})) == STANDING


def test_modules_take_the_place_of_those_of_their_name() -> None:
    newer = module("zsh", "shell", version="2")
    assert laid({"modules": [newer]}) == mesh(
        [newer, module("bash", "shell")], mesh_to_data(STANDING)["nodes"]
    )
    assert [m.name for m in laid({"modules": [newer]}, replace=True).catalogue] == ["zsh"]


@pytest.mark.parametrize("replace", [False, True])
def test_what_an_entry_does_not_mention_is_left_and_what_it_gives_empty_is_emptied(replace: bool) -> None:
    report = [Capability(name="g")]
    pins = [Pin(provision="p", node="pi")]
    assert the_node({}, replace=replace) == NAS
    assert the_node({"assign": []}, replace=replace) == Node(name="nas", pins=pins, capabilities=report)
    assert the_node({"assign": ["a"]}, replace=replace).assigned == ("a",)
    assert the_node({"pins": {}}, replace=replace) == Node(name="nas", assigned=["zsh"], capabilities=report)
    assert the_node({"pins": {"q": "nas"}}, replace=replace).pins == (Pin(provision="q", node="nas"),)


def test_nodes_that_it_does_not_name_stay_unless_it_replaces() -> None:
    document = {"nodes": [{"name": "nas", "assign": ["bash"]}, {"name": "vps", "assign": ["zsh"]}]}
    assert [n.name for n in laid(document).nodes] == ["nas", "pi", "vps"]
    assert laid(document).node("pi") == PI
    assert [n.name for n in laid(document, replace=True).nodes] == ["nas", "vps"]
    vps = laid(document).node("vps")
    assert vps == Node(name="vps", assigned=["zsh"])


def test_a_pin_at_what_is_replaced_away_is_left_unless_the_entry_mentions_its_pins() -> None:
    """> a pin to a missing node is `pin-unsatisfied` (design, part 3): never dropped without a word"""
    asking = module("web", requires=["database"])
    pinned = node("pi", "web", pins={"database": "nas"})
    standing = mesh([POSTGRES, asking], [node("nas", "postgres"), node("vps", "postgres"), pinned])
    kept = (Pin(provision="database", node="nas"),)
    without_nas = {"modules": [POSTGRES, asking], "nodes": [node("vps", "postgres"), {"name": "pi"}]}
    without_postgres = {"modules": [asking], "nodes": [node("nas"), {"name": "pi"}]}
    for document, code, lost in (
        (without_nas, "pin-unsatisfied", ()),
        (without_postgres, "no-provider", ()),
        ({**without_nas, "nodes": [node("vps", "postgres"), {"name": "pi", "pins": {}}]}, "", kept),
    ):
        after = laid(document, standing, replace=True)
        pi = after.node("pi")
        assert pi is not None
        assert pi.pins == (() if lost else kept)
        proposal = propose(standing, difference(standing, after))
        assert proposal.after == after
        assert [pin.pin for pin in proposal.consequences.lost_pins] == [*lost]
        codes = [p.code for refusal in proposal.consequences.refused for p in refusal.problems]
        assert codes == ([code] if code else [])
        assert proposal.consequences.harmful


def test_what_a_machine_reported_is_never_overwritten() -> None:
    """> what machines reported is never overwritten by an import"""
    for said in ({}, {"g": False}, {"h": True}):
        assert the_node({"capabilities": said}).capabilities == (Capability(name="g"),)
    assert the_node({"capabilities": {"h": True}}, "pi").capabilities == (Capability(name="h"),)
    assert the_node({"capabilities": {}}, "pi").capabilities == ()
    assert the_node({}, "pi").capabilities is None
    assert the_node({"capabilities": {"h": True}}, "new").capabilities == (Capability(name="h"),)


def test_what_cannot_stand_beside_the_rest() -> None:
    database = module("own", DATABASE)
    standing = mesh([module("other", "database")], [])
    with pytest.raises(CatalogueError):
        laid({"modules": [database]}, standing)
    assert laid({"modules": [database]}, standing, replace=True) == mesh([database], [])


def test_an_exported_mesh_laid_over_nothing_is_the_mesh() -> None:
    """> `export` then `import` into an empty store loses only history."""
    assert laid(mesh_to_data(STANDING), Mesh()) == STANDING
    assert laid(mesh_to_data(STANDING)) == STANDING
    assert mesh_from_data(mesh_to_data(STANDING)) == STANDING


# The network, and how nodes are attached to it.

RANGE = "10.77.0.0/24"
LAN = {"at": "192.168.1.5:51820", "site": "home"}
AT_HOME = {"address": "10.77.0.1", "key": KEY, "endpoints": [LAN], "site": "home", "relay": True}
NETWORKED = mesh_from_data(
    {
        "format": 1,
        "network": {"range": RANGE, "peers": "full", "retired": ["10.77.0.9"]},
        "nodes": [node("nas", network=AT_HOME), node("pi", network={"address": "10.77.0.2"})],
    }
)


def attached(document: dict[str, Any], name: str = "nas") -> Attachment:
    found = laid({"nodes": [{"name": name, **document}]}, NETWORKED).node(name)
    assert found is not None
    return found.network


def test_an_entry_that_does_not_mention_the_network_leaves_it() -> None:
    assert attached({}) == NETWORKED.nodes[0].network
    assert attached({"assign": ["web"]}) == NETWORKED.nodes[0].network


def test_a_key_and_an_address_that_are_known_stay_and_the_rest_is_as_the_entry_has_it() -> None:
    """> what machines reported is never overwritten by an import; addresses are given once, and kept"""
    assert attached({"network": {}}) == Attachment(address="10.77.0.1", key=KEY)
    other = b64encode(bytes(32)).decode()
    told = {"key": other, "site": "office", "endpoints": ["nas.example:1"]}
    ends = [Endpoint(at="nas.example:1")]
    assert attached({"network": told}) == Attachment(
        address="10.77.0.1", key=KEY, site="office", endpoints=ends
    )
    assert attached({"network": {"key": other}}, "pi") == Attachment(address="10.77.0.2", key=other)
    assert attached({"network": {"key": other}}, "new") == Attachment(key=other)


def test_an_address_that_the_document_gives_is_the_nodes_and_the_one_before_is_retired() -> None:
    after = laid({"nodes": [{"name": "pi", "network": {"address": "10.77.0.7"}}]}, NETWORKED)
    assert after.network is not None
    assert after.network.retired == ("10.77.0.9", "10.77.0.2")
    taken = laid({"nodes": [{"name": "pi", "network": {"address": "10.77.0.9"}}]}, NETWORKED)
    assert taken.network is not None
    assert taken.network.retired == ("10.77.0.2",)
    with pytest.raises(InvalidValue, match=r"10\.77\.0\.1 is the address of nas"):
        laid({"nodes": [{"name": "pi", "network": {"address": "10.77.0.1"}}]}, NETWORKED)


def test_what_holds_for_all_is_as_the_document_has_it_and_what_was_let_go_stays_so() -> None:
    assert laid({}, NETWORKED).network == NETWORKED.network
    gone = ["10.77.0.9", "10.77.0.1", "10.77.0.2"]
    assert laid({}, NETWORKED, replace=True).network == Network(range=RANGE, peers=Peers.FULL, retired=gone)
    said = {"range": RANGE, "port": 1, "retired": ["10.77.0.8", "10.77.0.9"]}
    network = Network(range=RANGE, port=1, retired=["10.77.0.9", "10.77.0.8"])
    assert laid({"network": said}, NETWORKED).network == network
    assert laid({"network": RANGE}, NETWORKED).network == Network(range=RANGE, retired=["10.77.0.9"])


def test_a_range_in_which_nodes_have_no_address_does_not_do() -> None:
    """> another range is a command of its own"""
    with pytest.raises(InvalidValue, match=r"10\.77\.0\.1 is no address of a machine in 10\.88\.0\.0/24"):
        laid({"network": "10.88.0.0/24"}, NETWORKED)
    with pytest.raises(InvalidValue):
        laid({"network": "10.88.0.0/24", "nodes": [{"name": "nas"}]}, NETWORKED, replace=True)
    assert laid({"network": "10.88.0.0/24"}, NETWORKED, replace=True).network == Network(range="10.88.0.0/24")


def test_nodes_that_go_let_their_addresses_go_first_as_changes_have_it() -> None:
    moved = {"name": "nas", "network": {"address": "10.77.0.5"}}
    after = laid({"network": RANGE, "nodes": [moved]}, NETWORKED, replace=True)
    assert after.network == Network(range=RANGE, retired=["10.77.0.9", "10.77.0.2", "10.77.0.1"])
    same = laid({"nodes": [moved]}, NETWORKED, replace=True)
    assert [type(change) for change in difference(NETWORKED, same)] == [DropNode, PutNode]
