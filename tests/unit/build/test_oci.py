"""The bytes of manifests and indexes, and what is read of those of others."""

import json

import pytest

from mesh_adapters.build import oci
from mesh_adapters.build.oci import About, Descriptor
from tests.unit.build.test_packing import GOLDEN

ABOUT = About(
    module="web",
    version="1.4.0",
    repository="https://git.example/homelab.git",
    commit="c" * 40,
    at="2026-12-01T22:20:02Z",
)
LAYER = Descriptor(media_type=oci.LAYER, digest=GOLDEN, size=15872)
MANIFEST_DIGEST = "sha256:21e06b88b8850690c37e0e03a881f168a97918dd279a048785d229814b8130e4"
"""Of a tree's manifest. Where this constant has to be changed, every artifact is another one."""


def test_the_bytes_of_a_manifest_are_these() -> None:
    content = oci.tree_manifest(LAYER, ABOUT)
    assert oci.digest_of(content) == MANIFEST_DIGEST
    assert oci.canonical(json.loads(content)) == content


def test_a_manifest_is_one_of_an_artifact() -> None:
    """OCI image specification 1.1, "Guidelines for Artifact Usage": a layer, and no config of its own."""
    manifest = json.loads(oci.tree_manifest(LAYER, ABOUT))
    assert manifest["schemaVersion"] == 2
    assert manifest["mediaType"] == "application/vnd.oci.image.manifest.v1+json"
    assert manifest["artifactType"] == "application/vnd.meshwright.tree.v1"
    assert manifest["config"] == {
        "mediaType": "application/vnd.oci.empty.v1+json",
        "digest": "sha256:44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a",
        "size": 2,
    }
    assert manifest["layers"] == [
        {"mediaType": "application/vnd.oci.image.layer.v1.tar", "digest": GOLDEN, "size": 15872}
    ]


def test_a_referrer_names_its_subject_and_nothing_more_of_it() -> None:
    subject = Descriptor(media_type=oci.MANIFEST, digest=GOLDEN, size=5, artifact_type=oci.TREE)
    said = oci.described(oci.IN_TOTO, b"{}")
    manifest = json.loads(oci.referrer_manifest(said, subject, "https://slsa.dev/provenance/v1"))
    assert manifest["subject"] == {"mediaType": oci.MANIFEST, "digest": GOLDEN, "size": 5}
    assert manifest["artifactType"] == "application/vnd.in-toto+json"
    assert [layer["mediaType"] for layer in manifest["layers"]] == ["application/vnd.in-toto+json"]


def test_an_index_is_read_as_it_was_written() -> None:
    listed = (
        Descriptor(media_type=oci.MANIFEST, digest=GOLDEN, size=5, artifact_type=oci.TREE),
        Descriptor(media_type=oci.INDEX, digest=GOLDEN, size=0, annotations={"b": "2", "a": "1"}),
    )
    assert oci.manifests_of(oci.index(listed)) == listed
    assert oci.manifests_of(oci.index(())) == ()


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"mediaType": 1, "digest": GOLDEN, "size": 1},
        {"mediaType": "a", "digest": "sha256:12", "size": 1},
        {"mediaType": "a", "digest": f"../{GOLDEN}", "size": 1},
        {"mediaType": "a", "digest": GOLDEN, "size": -1},
        {"mediaType": "a", "digest": GOLDEN, "size": True},
        {"mediaType": "a", "digest": GOLDEN, "size": 1.0},
        {"mediaType": "a", "digest": GOLDEN, "size": 1, "annotations": {"a": 1}},
        {"mediaType": "a", "digest": GOLDEN, "size": 1, "annotations": ["a"]},
    ],
)
def test_what_is_no_descriptor(data: object) -> None:
    assert oci.descriptor_from(data) is None
    assert oci.manifests_of(json.dumps({"manifests": [data]}).encode()) is None


@pytest.mark.parametrize("content", [b"", b"\xff", b"[" * 100_000, b"[]", b"1"])
def test_what_is_no_object(content: bytes) -> None:
    assert oci.object_from(content) is None


def test_the_chain_of_one_layer_is_its_own_digest() -> None:
    one, two, three = (oci.digest_of(each) for each in (b"1", b"2", b"3"))
    assert oci.chain_id([]) is None
    assert oci.chain_id([one]) == one
    # Image specification, "Layer ChainID": the digest of the chain so far, a blank, and the next.
    chain = oci.digest_of(f"{one} {two}".encode())
    assert oci.chain_id([one, two]) == chain
    assert oci.chain_id([one, two, three]) == oci.digest_of(f"{chain} {three}".encode())


def test_one_more_that_refers_stands_once_and_last() -> None:
    one, two = (oci.described(oci.MANIFEST, each) for each in (b"1", b"2"))
    assert oci.joined([one], two) == (one, two)
    assert oci.joined([two, one], two) == (one, two)


def test_where_referrers_are_looked_for() -> None:
    assert oci.referrers_tag(GOLDEN) == GOLDEN.replace("sha256:", "sha256-")
