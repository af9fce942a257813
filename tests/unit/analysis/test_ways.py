"""What would give a network room, or two nodes a path: what is told does it, whatever host is put in."""

from __future__ import annotations

import pytest
from attrs import evolve

from mesh_core import Mesh, Node
from mesh_core.analysis.ways import ways, wider
from mesh_core.model.network import Attachment, Endpoint, Network
from mesh_core.network.overlay import NoPath
from mesh_core.network.paths import Paths

NOTE = NoPath(node="pi", provider="nas", provisions=("database",))


@pytest.mark.parametrize(
    ("range_", "machines", "found"),
    [
        ("10.77.0.0/30", 3, "10.77.0.0/29"),
        ("10.77.0.0/30", 6, "10.77.0.0/29"),
        ("10.77.0.0/30", 7, "10.77.0.0/28"),
        ("10.77.0.12/30", 3, "10.77.0.8/29"),
        ("fd77::/126", 3, "fd77::/126"),
        ("fd77::/126", 4, "fd77::/125"),
        ("10.0.0.0/8", 2**24, None),
        ("10.0.0.0/8", 2**40, None),
    ],
)
def test_the_narrowest_range_around_it_that_has_room(range_: str, machines: int, found: str | None) -> None:
    assert wider(Network(range=range_), machines) == found


def house(**attached: Attachment) -> Mesh:
    """A mesh in which pi, nas and vps are attached so."""
    nodes = []
    for place, name in enumerate(("attic", "nas", "pi", "vps"), 1):
        if name in ("nas", "pi") or name in attached:
            network = evolve(attached.get(name, Attachment()), address=f"10.77.0.{place}")
            nodes.append(Node(name=name, network=network))
    return Mesh(network=Network(range="10.77.0.0/24"), nodes=nodes)


PUBLIC = Attachment(endpoints=[Endpoint(at="vps.example.org:51820")])
AT_HOME = Attachment(site="home")
FIRST = "mesh network attach nas --endpoint HOST"
HOUSES = [
    (house(), [FIRST]),
    (house(pi=AT_HOME, nas=AT_HOME), ["mesh network attach nas --lan HOST", FIRST]),
    (house(pi=AT_HOME, nas=Attachment(site="garden")), [FIRST]),
    (house(vps=PUBLIC), [FIRST, "mesh network attach vps --relay"]),
    (house(attic=Attachment(), vps=PUBLIC), [FIRST, "mesh network attach vps --relay"]),
    (house(vps=evolve(AT_HOME, relay=True)), [FIRST, "mesh network attach vps --endpoint HOST"]),
    (house(vps=AT_HOME), [FIRST, "mesh network attach NODE --endpoint HOST --relay"]),
]


@pytest.mark.parametrize(("mesh", "told"), HOUSES, ids=range(len(HOUSES)))
def test_each_way_that_is_told_makes_a_path(mesh: Mesh, told: list[str]) -> None:
    assert Paths(mesh.nodes).between("pi", "nas") is None
    assert [*ways(NOTE, mesh)] == told
    for command in told:
        assert Paths(after(mesh, command).nodes).between("pi", "nas") is not None, command


def after(mesh: Mesh, command: str) -> Mesh:
    """The mesh once that is said, as `mesh network attach` makes it so."""
    _, _, _, name, *words = command.split()
    name = "vps" if name == "NODE" else name
    node = mesh.node(name)
    assert node is not None
    was = node.network
    if "--lan" in words:
        was = evolve(was, endpoints=[*was.endpoints, Endpoint(at="192.168.1.2:51820", site=was.site)])
    if "--endpoint" in words:
        was = evolve(was, endpoints=[*was.endpoints, Endpoint(at="h.example.org:51820")])
    was = evolve(was, relay=was.relay or "--relay" in words)
    return evolve(mesh, nodes=[one if one.name != name else evolve(one, network=was) for one in mesh.nodes])
