"""The manifest of a tree: an OCI image manifest with one layer, a plain tar."""

from __future__ import annotations

from attrs import frozen

from mesh_adapters.build.oci import LAYER, MANIFEST, TREE, descriptor_from, object_from
from mesh_adapters.host.artifacts.limits import ArtifactError, Limits


@frozen
class Layer:
    """The tar that a manifest names: its digest (`sha256:…`) and how many bytes it has."""

    digest: str
    size: int


def layer_of(content: bytes, limits: Limits) -> Layer:
    """The one layer of a tree's manifest. Raises `ArtifactError` for everything else that a registry has."""
    data = object_from(content)
    if data is None or data.get("schemaVersion") != 2:
        raise ArtifactError("its manifest is no manifest of OCI")
    if data.get("mediaType", MANIFEST) != MANIFEST or data.get("artifactType") != TREE:
        found = data.get("artifactType") or data.get("mediaType")
        raise ArtifactError(f"it is no tree of a module, but {found!r}")
    layers = data.get("layers")
    if not isinstance(layers, list) or len(layers) != 1:
        raise ArtifactError("its manifest has not one layer")
    layer = descriptor_from(layers[0])
    if layer is None or layer.media_type != LAYER:
        raise ArtifactError("its layer is no plain tar")
    if layer.size > limits.layer:
        raise ArtifactError(f"its layer has {layer.size} bytes, and {limits.layer} is the most")
    return Layer(layer.digest, layer.size)
