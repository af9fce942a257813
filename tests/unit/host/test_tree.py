"""The kind `tree`: what it says of a resource without looking at a machine; and its small parts."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.host.artifacts.limits import ArtifactError, Limits
from mesh_adapters.host.artifacts.listing import Item, Record, record_from_bytes, record_to_bytes
from mesh_adapters.host.artifacts.manifest import Layer, layer_of
from mesh_adapters.host.artifacts.source import Layout, Registry, source_of
from mesh_adapters.host.attributes import faults_of
from mesh_adapters.host.kind import Context, Immaterial
from mesh_adapters.host.kinds.tree import Tree
from mesh_adapters.host.material import Rendering
from mesh_adapters.host.registry import known_kinds
from mesh_core import Module, Resource
from mesh_core.model.declaration import Declaration, DeclaredModule
from tests.integration.host.tree.artifacts import SITE, digest_of, made, manifest_of, tar_of

DIGEST = f"sha256:{'0a' * 32}"
CONTEXT = Context(data={"node": {"name": "pi"}, "module": {"name": "web", "version": "1"}, "answers": {}})


def tree(path: str = "/opt/web", **attributes: Any) -> Resource:
    return Resource(kind="tree", path=path, attributes_json=attributes)


def given(artifact: Any = DIGEST, source: Any = "oci:/srv/registry") -> dict[str, Any]:
    return {"artifact": artifact, "from": source}


def faults(resource: Resource) -> list[str]:
    return [str(fault) for fault in faults_of(resource, Tree())]


def test_it_is_known() -> None:
    assert isinstance(known_kinds()["tree"], Tree)


@pytest.mark.parametrize("attributes", [{}, given(), given(source="https://registry.example:5000/mesh/web")])
def test_what_fits(attributes: dict[str, Any]) -> None:
    assert faults(tree(**attributes)) == []


@pytest.mark.parametrize(
    "attributes",
    [
        {"artifact": DIGEST},
        {"from": "oci:/srv/registry"},
        given(artifact="sha256:0a"),
        given(artifact=DIGEST.upper()),
        given(artifact=1),
        given(source="http://registry.example/web"),
        given(source=None),
        {"mode": "0755"},
    ],
)
def test_what_does_not_fit(attributes: dict[str, Any]) -> None:
    assert len(faults(tree(**attributes))) == 1


def test_the_root_is_no_place_for_a_tree() -> None:
    assert len(faults(tree("/"))) == 1


@pytest.mark.parametrize(
    ("text", "source"),
    [
        ("oci:/srv/registry", Layout("/srv/registry")),
        ("https://registry.example/web", Registry("registry.example", 443, "web")),
        ("https://registry.example:5000/mesh/web_1", Registry("registry.example", 5000, "mesh/web_1")),
        ("https://[::1]:5000/web", Registry("::1", 5000, "web")),
        ("oci:registry", None),
        ("oci:/srv/../registry", None),
        ("oci:", None),
        ("https://registry.example", None),
        ("https://registry.example/", None),
        ("https://registry.example/Web", None),
        ("https://registry.example/a/../b", None),
        ("https://registry.example/web?x", None),
        ("https://registry.example/web%2f", None),
        ("https://me:secret@registry.example/web", None),
        ("https://registry.example:0/web", None),
        ("https://registry.example:99999/web", None),
        ("https://registry.example/web\n", None),
        ("file:///srv", None),
    ],
)
def test_where_an_artifact_is(text: str, source: Layout | Registry | None) -> None:
    assert source_of(text) == source
    if isinstance(source, Registry):
        assert text == f"https://{source.authority}/{source.name}"


def test_what_it_is_to_be_is_known_without_the_bytes() -> None:
    prepared = Tree().prepare(tree(**given()), CONTEXT)
    assert prepared.wanted.state.as_data() == {"type": "tree", "artifact": DIGEST}
    assert prepared.content is None


def test_what_was_never_built_is_no_material() -> None:
    with pytest.raises(Immaterial, match=r"^web has no artifact yet: mesh build web$"):
        Tree().prepare(tree(), CONTEXT)


def test_the_control_plane_finds_what_was_never_built() -> None:
    rendering = Rendering(known_kinds())
    assert rendering.may_have(Module(name="web", version="1", resources=[tree()]))
    assert not rendering.may_have(Module(name="web", version="1", resources=[tree(**given())]))
    web = DeclaredModule(name="web", version="1", resources=[tree(), tree("/opt/built", **given())])
    (fault,) = rendering.find(Declaration(node="pi", generation=1, modules=[web]))
    assert (fault.resource, fault.why) == ("path:/opt/web", "web has no artifact yet: mesh build web")


# The manifest


def test_a_manifest_names_its_layer() -> None:
    layer = tar_of(SITE)
    assert layer_of(manifest_of(layer), Limits()) == Layer(digest_of(layer), len(layer))


def layer_otherwise(**changed: Any) -> dict[str, Any]:
    type_ = "application/vnd.oci.image.layer.v1.tar"
    return {"mediaType": type_, "digest": DIGEST, "size": 1} | changed


@pytest.mark.parametrize(
    ("otherwise", "why"),
    [
        ({"schemaVersion": 1}, "no manifest of OCI"),
        ({"mediaType": "application/vnd.oci.image.index.v1+json"}, "no tree of a module"),
        ({"artifactType": "application/vnd.in-toto+json"}, "no tree of a module"),
        ({"artifactType": None}, "no tree of a module"),
        ({"layers": []}, "not one layer"),
        ({"layers": [layer_otherwise(), layer_otherwise()]}, "not one layer"),
        ({"layers": {}}, "not one layer"),
        ({"layers": [layer_otherwise(mediaType="application/vnd.oci.image.layer.v1.tar+gzip")]}, "plain tar"),
        ({"layers": [layer_otherwise(digest="sha256:../../x")]}, "plain tar"),
        ({"layers": [layer_otherwise(size=-1)]}, "plain tar"),
        ({"layers": [layer_otherwise(size=True)]}, "plain tar"),
        ({"layers": [layer_otherwise(size=2**60)]}, "is the most"),
    ],
)
def test_what_is_no_manifest_of_a_tree(otherwise: dict[str, Any], why: str) -> None:
    with pytest.raises(ArtifactError, match=why):
        layer_of(manifest_of(b"", **otherwise), Limits())


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b"[" * 100_000, b"\xff", b'{"schemaVersion":2}'])
def test_what_is_no_manifest_at_all(content: bytes) -> None:
    with pytest.raises(ArtifactError):
        layer_of(content, Limits())


# The record


def test_a_record_is_as_it_was_written_or_none() -> None:
    items = (Item("a", 0o755), Item("a/ü", 0o644, 2, "0a"))
    record = Record(path="/opt/web", artifact=made(SITE).artifact, owner=0, items=items, held=("h",))
    for one in (record, evolve(record, owner=None, going=True, items=())):
        content = record_to_bytes(one)
        assert record_from_bytes(content) == one
        for at in (0, 70, len(content) - 1):
            damaged = bytearray(content)
            damaged[at] ^= 1
            assert record_from_bytes(bytes(damaged)) is None
        assert record_from_bytes(content[:-1]) is None
    assert record_from_bytes(b"") is None


def test_to_know_the_kind_imports_nothing_of_the_network() -> None:
    """Every run of the host knows all kinds; few have anything to get."""
    said = subprocess.run(
        [sys.executable, "-c", "import sys, mesh_adapters.host.kinds.tree; print(*sys.modules)"],
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    ).stdout.split()
    heavy = {"ssl", "http.client", "urllib.request", "tarfile", "shutil", "tempfile"}
    assert not heavy & {*said}
    assert not [name for name in said if name.startswith(("mesh_adapters.build", "kombu"))]
