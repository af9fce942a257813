"""Artifacts of the tests: tars, manifests and layouts, made from the format and not by what builds them."""

from __future__ import annotations

import hashlib
import io
import json
import tarfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from attrs import frozen

from mesh_core import Resource

TIME = 1_700_000_000
Tree = Mapping[str, str | bytes | None]
"""By path its content; None is a directory. What ends with `*` may be run."""

SITE: Tree = {"index.html": "1\n", "run*": "#!/bin/sh\n", "static": None, "static/a.css": "a\n"}
NEXT: Tree = {"index.html": "2\n", "static": None, "static/b.css": "b\n", "new/deep/er": "new\n"}


@frozen
class Made:
    """An artifact: the digest of its manifest, its blobs by digest."""

    artifact: str
    layer: str
    blobs: dict[str, bytes]

    def tree(self, path: str, source: str) -> Resource:
        given = {"artifact": self.artifact, "from": source}
        return Resource(kind="tree", path=path, attributes_json=given)


def digest_of(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


def tar_of(tree: Tree) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w", format=tarfile.PAX_FORMAT) as tar:
        for path, content in tree.items():
            info = tarfile.TarInfo(path.removesuffix("*") if content is not None else f"{path}/")
            info.mtime = TIME
            info.mode = 0o755 if content is None or path.endswith("*") else 0o644
            if content is None:
                info.type = tarfile.DIRTYPE
                tar.addfile(info)
                continue
            data = content.encode() if isinstance(content, str) else content
            info.size = len(data)
            tar.addfile(info, io.BytesIO(data))
    return made.getvalue()


def manifest_of(layer: bytes, **otherwise: Any) -> bytes:
    said = {
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "artifactType": "application/vnd.meshwright.tree.v1",
        "config": {
            "mediaType": "application/vnd.oci.empty.v1+json",
            "digest": digest_of(b"{}"),
            "size": 2,
        },
        "layers": [
            {
                "mediaType": "application/vnd.oci.image.layer.v1.tar",
                "digest": digest_of(layer),
                "size": len(layer),
            }
        ],
    }
    return json.dumps(said | otherwise).encode()


def made_of(layer: bytes, **otherwise: Any) -> Made:
    manifest = manifest_of(layer, **otherwise)
    blobs = {digest_of(manifest): manifest, digest_of(layer): layer, digest_of(b"{}"): b"{}"}
    return Made(digest_of(manifest), digest_of(layer), blobs)


def made(tree: Tree) -> Made:
    return made_of(tar_of(tree))


def put_into(layout: Path, artifact: Made) -> str:
    """Put it into a layout; where that is, as a resource says it."""
    for digest, content in artifact.blobs.items():
        place = blob_at(layout, digest)
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(content)
    (layout / "oci-layout").write_text('{"imageLayoutVersion":"1.0.0"}')
    return f"oci:{layout}"


def blob_at(layout: Path, digest: str) -> Path:
    return layout / "blobs" / "sha256" / digest.removeprefix("sha256:")
