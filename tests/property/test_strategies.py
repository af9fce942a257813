"""The strategies make what they say: every kind of mesh, and only such as can be.

A law says nothing of what its meshes never have; so the kinds are counted.
"""

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from mesh_core import (
    Change,
    Mesh,
    PutModule,
    PutNode,
    Report,
    apply,
    apply_all,
    mesh_from_data,
    mesh_to_data,
    resolve,
)
from mesh_core.faults import NameKind
from mesh_core.model.names import name_fault
from mesh_core.model.network_text import as_range
from mesh_core.testing import changed_meshes, changes, documents, meshes, meshes_and_documents
from mesh_core.testing.strategies import (
    Vocabulary,
    capability_names,
    catalogues,
    claim_names,
    module_names,
    modules,
    node_names,
    nodes,
    pins,
    provision_names,
    reports,
    resources,
    versions,
    vocabularies,
)
from mesh_core.testing.strategies.of_names import USUAL
from mesh_core.testing.strategies.of_networks import machines, networked_meshes
from mesh_core.wire.changes import change_from_data, change_to_data
from tests.property.kinds import KINDS, kinds

MANY = settings(max_examples=1500, derandomize=True, database=None, deadline=None, phases=[Phase.generate])
NAMES = {
    NameKind.NODE: node_names(),
    NameKind.MODULE: module_names(),
    NameKind.PROVISION: provision_names(),
    NameKind.CLAIM: claim_names(),
    NameKind.CAPABILITY: capability_names(),
    NameKind.VERSION: versions(),
}


def test_every_kind_of_problem_and_plan_is_met_often() -> None:
    met: Counter[str] = Counter()

    @MANY
    @given(mesh=meshes())
    def count(mesh: Mesh) -> None:
        met.update(kinds(mesh, resolve(mesh)))
        assert len(mesh.catalogue.modules) <= 7
        assert len(mesh.nodes) <= 5

    count()
    seldom = {kind: met[kind] for kind in sorted(KINDS) if met[kind] < 10}
    assert not seldom, f"of {MANY.max_examples} meshes only so many have"


def kinds_of_network(mesh: Mesh) -> Iterator[str]:
    """What of networks a mesh shows."""
    attached = [node.network for node in mesh.nodes]
    keys = [one.key for one in attached if one.key is not None]
    if mesh.network is None:
        yield "text alone" if any(one.address for one in attached) else "none"
        return
    yield f"IPv{6 if ':' in mesh.network.range else 4}"
    yield mesh.network.peers.value
    held = [one.address for one in attached if one.address is not None]
    small = as_range(mesh.network.range).num_addresses <= 8
    yield "full" if small and {*held} >= {*machines(mesh.network.range)} else "room"
    yield from (["retired"] if mesh.network.retired else [])
    yield from (["no address"] if len(held) < len(attached) else [])
    yield from (["no key"] if len(keys) < len(attached) else [])
    yield from (["one key for two"] if len({*keys}) < len(keys) else [])
    for one in attached:
        yield from (["relay"] if one.relay else [])
        yield from (["on a site"] if one.site else [])
        yield from ("LAN endpoint" if end.site else "endpoint" for end in one.endpoints)


KINDS_OF_NETWORK = {
    *("none", "text alone", "IPv4", "IPv6", "takes", "full", "room", "retired", "no address", "no key"),
    *("one key for two", "relay", "on a site", "LAN endpoint", "endpoint"),
}


@pytest.mark.parametrize("drawn", [meshes(), networked_meshes()], ids=["meshes", "networked"])
def test_every_kind_of_network_is_met_often(drawn: st.SearchStrategy[Mesh]) -> None:
    met: Counter[str] = Counter()

    @settings(MANY, max_examples=1000)
    @given(mesh=drawn)
    def count(mesh: Mesh) -> None:
        met.update({*kinds_of_network(mesh)})

    count()
    wanted = KINDS_OF_NETWORK if met["none"] else KINDS_OF_NETWORK - {"none", "text alone"}
    seldom = {kind: met[kind] for kind in sorted(wanted) if met[kind] < 15}
    assert not seldom, met


def test_planned_and_refused_nodes_are_both_common() -> None:
    met: Counter[bool] = Counter()

    @settings(MANY, max_examples=300)
    @given(mesh=meshes())
    def count(mesh: Mesh) -> None:
        resolution = resolve(mesh)
        met[True] += len([plan for plan in resolution.plans if plan.modules])
        met[False] += len(resolution.refusals)

    count()
    assert min(met.values()) > 100, met


@given(data=st.data(), vocabulary=vocabularies())
def test_the_parts_of_a_mesh_can_be_drawn_by_themselves(data: st.DataObject, vocabulary: Vocabulary) -> None:
    """Each with the names of a vocabulary, so that all of them can stand in one mesh."""
    catalogue = data.draw(catalogues(vocabulary))
    module = data.draw(modules(vocabulary))
    node = data.draw(nodes(vocabulary, catalogue))
    mesh = apply_all(Mesh(catalogue=catalogue), [PutModule(module=module), PutNode(node=node)])
    pinned = evolve(node, pins=data.draw(pins(vocabulary, mesh)))
    report = data.draw(reports(vocabulary))
    resolve(apply_all(mesh, [PutNode(node=pinned), Report(node=node.name, capabilities=report or ())]))
    changed = apply(mesh, data.draw(changes(mesh)))
    assert {m.name for m in changed.catalogue} <= {*vocabulary.modules, *USUAL.modules}
    own = evolve(module, name="own", provides=(), requires=(), resources=data.draw(resources()))
    assert "own" in apply(mesh, PutModule(module=own)).catalogue


@given(document=documents())
def test_a_document_by_itself_is_one_too(document: dict[str, Any]) -> None:
    mesh_from_data(document)


@pytest.mark.parametrize("kind", NAMES)
def test_names_keep_their_grammar(kind: NameKind) -> None:
    @given(name=NAMES[kind])
    def right(name: str) -> None:
        assert name_fault(kind, name) is None

    right()


@given(drawn=meshes_and_documents())
def test_a_document_describes_its_mesh(drawn: tuple[Mesh, dict[str, Any]]) -> None:
    mesh, document = drawn
    assert mesh_from_data(document) == mesh
    assert mesh_from_data(mesh_to_data(mesh)) == mesh


def test_documents_are_written_in_many_ways() -> None:
    forms: set[str] = set()

    @settings(MANY, max_examples=300)
    @given(drawn=meshes_and_documents())
    def collect(drawn: tuple[Mesh, dict[str, Any]]) -> None:
        _, document = drawn
        written, of_nodes = document.get("modules", []), document.get("nodes", [])
        forms.update(f"module: {key}" for module in written for key in module)
        forms.update(f"node: {key}" for node in of_nodes for key in node)
        for module in written:
            for key in ("requires", "provides", "claims"):
                entries = module.get(key, ())
                forms.update(f"{key}: {type(e).__name__} {sorted(e)}" for e in entries if isinstance(e, dict))
                forms.update(f"{key}: short" for e in entries if isinstance(e, str))
                forms.update(f"{key}: empty" for _ in range(key in module and not entries))
        names = [module["name"] for module in written]
        forms.update(["shuffled"] if names != sorted(names) else [])
        forms.update(["modules left out"] if "modules" not in document else [])
        ways = [node["network"] for node in of_nodes if "network" in node]
        forms.update(f"node network: {key}" for way in ways for key in way)
        forms.update(["node network: empty"] if {} in ways else [])
        ends = [end for way in ways for end in way.get("endpoints", [])]
        forms.update(f"endpoint: {type(end).__name__}" for end in ends)
        network = document.get("network", {})
        forms.update(["network: short"] if isinstance(network, str) else [f"network: {k}" for k in network])
        verdicts = [v for node in of_nodes for v in node.get("capabilities", {}).values()]
        forms.update(f"verdict: {v if isinstance(v, bool) else sorted(v)}" for v in verdicts)

    collect()
    assert forms >= {
        "claims: dict ['name', 'scope']",
        "claims: dict ['name']",
        "claims: short",
        "module: capabilities",
        "module: resources",
        "modules left out",
        "endpoint: dict",
        "endpoint: str",
        "network: peers",
        "network: port",
        "network: range",
        "network: retired",
        "network: short",
        "node network: address",
        "node network: empty",
        "node network: endpoints",
        "node network: key",
        "node network: relay",
        "node network: site",
        "node: network",
        "node: assign",
        "node: capabilities",
        "node: pins",
        "provides: dict ['exports', 'name', 'scope']",
        "provides: dict ['exports', 'name']",
        "provides: dict ['name', 'scope']",
        "provides: dict ['name']",
        "provides: short",
        "requires: dict ['from', 'name']",
        "requires: dict ['name']",
        "requires: empty",
        "requires: short",
        "shuffled",
        "verdict: True",
        "verdict: False",
        "verdict: ['present']",
        "verdict: ['detail', 'present']",
    }


def test_changes_of_every_kind_can_be_made() -> None:
    met: Counter[type[Change]] = Counter()

    @settings(MANY, max_examples=500)
    @given(data=st.data(), mesh=meshes())
    def count(data: st.DataObject, mesh: Mesh) -> None:
        changes, changed = data.draw(changed_meshes(mesh))
        assert apply_all(mesh, changes) == changed
        assert [change_from_data(change_to_data(change)) for change in changes] == [*changes]
        met.update(map(type, changes))

    count()
    assert {*met} == {*Change.__args__}
    assert min(met.values()) > 20, met
