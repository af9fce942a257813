"""What lies in a registry, as values and as bytes: OCI image manifests and indexes, version 1.1.

A tree is an artifact of one layer, the tar as it is: not compressed, so that the digest of the layer is that
of the content, and the digest of the manifest depends on no version of any compressor.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import field, frozen

from mesh_core.model.build import digest_fault

MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
CONFIG = "application/vnd.oci.image.config.v1+json"
EMPTY = "application/vnd.oci.empty.v1+json"
LAYER = "application/vnd.oci.image.layer.v1.tar"
TREE = "application/vnd.meshwright.tree.v1"
"""What a tree's manifest says that it is."""
IN_TOTO = "application/vnd.in-toto+json"
REF_NAME = "org.opencontainers.image.ref.name"
EMPTY_BYTES = b"{}"

PREDICATE_TYPE = "in-toto.io/predicate-type"
"""An annotation: what a statement is about, so that one need not be fetched to see it."""


def _pairs(given: Mapping[str, str] | Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(given.items() if isinstance(given, Mapping) else given))


@frozen(kw_only=True)
class Descriptor:
    """What a blob is, its digest and its size, as OCI points at it."""

    media_type: str
    digest: str
    size: int
    artifact_type: str | None = None
    annotations: tuple[tuple[str, str], ...] = field(default=(), converter=_pairs)

    def data(self) -> dict[str, Any]:
        """As it stands in JSON."""
        data: dict[str, Any] = {"mediaType": self.media_type, "digest": self.digest, "size": self.size}
        if self.artifact_type is not None:
            data["artifactType"] = self.artifact_type
        if self.annotations:
            data["annotations"] = dict(self.annotations)
        return data


@frozen(kw_only=True)
class About:
    """What an artifact says of itself: each a fact of the source, and none of the build."""

    module: str
    version: str
    repository: str
    commit: str
    at: str


def canonical(value: object) -> bytes:
    """JSON that has one spelling for each value."""
    return json.dumps(
        value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False
    ).encode()


def digest_of(content: bytes) -> str:
    """`sha256:` and the digest of some bytes."""
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def described(media_type: str, content: bytes, artifact_type: str | None = None) -> Descriptor:
    """The descriptor of some bytes."""
    return Descriptor(
        media_type=media_type, digest=digest_of(content), size=len(content), artifact_type=artifact_type
    )


def descriptor_from(data: object) -> Descriptor | None:
    """A descriptor that was read from JSON; None where it is none. Keys that are not known are left out."""
    if not isinstance(data, dict):
        return None
    media_type, digest, size = data.get("mediaType"), data.get("digest"), data.get("size")
    kind, annotations = data.get("artifactType"), data.get("annotations") or {}
    right = isinstance(media_type, str) and isinstance(digest, str) and digest_fault(digest) is None
    if not right or not isinstance(size, int) or isinstance(size, bool) or size < 0:
        return None
    if not isinstance(annotations, dict) or not all(isinstance(each, str) for each in annotations.values()):
        return None
    return Descriptor(
        media_type=str(media_type),
        digest=str(digest),
        size=size,
        artifact_type=kind if isinstance(kind, str) else None,
        annotations=annotations,
    )


def tree_manifest(layer: Descriptor, about: About) -> bytes:
    """The manifest of a tree, of which the tar is the one layer.

    It has no clock and no builder in it: the same source gives the same bytes, whoever builds it.
    """
    return canonical(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": TREE,
            "config": described(EMPTY, EMPTY_BYTES).data(),
            "layers": [layer.data()],
            "annotations": {
                "org.opencontainers.image.source": about.repository,
                "org.opencontainers.image.revision": about.commit,
                "org.opencontainers.image.version": about.version,
                "org.opencontainers.image.created": about.at,
                "org.opencontainers.image.title": about.module,
            },
        }
    )


def referrer_manifest(statement: Descriptor, subject: Descriptor, predicate: str) -> bytes:
    """The manifest of a statement about `subject`: beside it, and in no digest of it."""
    return canonical(
        {
            "schemaVersion": 2,
            "mediaType": MANIFEST,
            "artifactType": IN_TOTO,
            "config": described(EMPTY, EMPTY_BYTES).data(),
            "layers": [statement.data() | {"annotations": {PREDICATE_TYPE: predicate}}],
            "subject": {
                "mediaType": subject.media_type,
                "digest": subject.digest,
                "size": subject.size,
            },
            "annotations": {PREDICATE_TYPE: predicate},
        }
    )


def index(manifests: Iterable[Descriptor]) -> bytes:
    """An index of manifests, in the order given."""
    return canonical(
        {"schemaVersion": 2, "mediaType": INDEX, "manifests": [each.data() for each in manifests]}
    )


def joined(old: Iterable[Descriptor], new: Descriptor) -> tuple[Descriptor, ...]:
    """What refers to something, with one more that does."""
    return (*(each for each in old if each.digest != new.digest), new)


def manifests_of(content: bytes) -> tuple[Descriptor, ...] | None:
    """What an index lists; None where the bytes are no index, or one descriptor in it is none."""
    data = object_from(content)
    listed = data.get("manifests") if data is not None else None
    if not isinstance(listed, list):
        return None
    found = [descriptor_from(each) for each in listed]
    return None if None in found else tuple(each for each in found if each is not None)


def object_from(content: bytes) -> dict[str, Any] | None:
    """A JSON object from bytes; None where they are none."""
    try:
        data = json.loads(content)
    except (ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def referrers_tag(digest: str) -> str:
    """Where those who know no referrers of a registry look for what refers to a digest.

    The fallback of the distribution specification: `sha256-` and the digits, the tag of an index.
    """
    return digest.replace(":", "-")


def chain_id(diff_ids: Iterable[str]) -> str | None:
    """What layers laid on each other come to, as OCI names it: of one layer its own digest."""
    chain: str | None = None
    for each in diff_ids:
        chain = each if chain is None else digest_of(f"{chain} {each}".encode())
    return chain
