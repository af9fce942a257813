"""An image that lies in a layout on this machine, as buildah leaves it there: what it consists of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from mesh_adapters.build.layout import blob_path, find, read_blob
from mesh_adapters.build.oci import CONFIG, MANIFEST, Descriptor, chain_id, descriptor_from, object_from
from mesh_adapters.build.registry_blobs import Piece, Unread
from mesh_core.model.build import digest_fault

MOST_MANIFEST = 4 * 1024 * 1024
"""Bytes of an image's manifest, or of its config."""


@frozen(kw_only=True)
class Image:
    """An image in a layout, by its name there: OCI, of one platform."""

    layout: Path
    name: str


@frozen(kw_only=True)
class Parts:
    """An artifact with all that it consists of; its manifest is the last of the pieces.

    `content` is the digest of what is in it, not compressed.
    """

    content: str
    manifest: Descriptor
    pieces: tuple[Piece, ...]


def image_parts(image: Image) -> Parts | Unread:
    """What an image consists of. Of several layers `content` is what OCI calls their chain."""
    found = find(image.layout, image.name)
    if isinstance(found, Unread):
        return found
    if found.media_type != MANIFEST:
        return Unread(why=f"{image.name} is no OCI image of one platform")
    content = read_blob(image.layout, found.digest, MOST_MANIFEST)
    if isinstance(content, Unread):
        return content
    config, layers = _listed(object_from(content) or {})
    if config is None or config.media_type != CONFIG:
        return Unread(why=f"{image.name} is no image: it has no config of one")
    settings = read_blob(image.layout, config.digest, MOST_MANIFEST)
    if isinstance(settings, Unread):
        return settings
    diff_ids = _diff_ids(settings)
    chain = chain_id(diff_ids)
    if chain is None or len(diff_ids) != len(layers):
        return Unread(why=f"{image.name} does not say of each layer what it is")
    manifest = evolve(found, annotations={})
    pieces = [Piece(descriptor=each, content=_blob(image, each)) for each in (config, *layers)]
    return Parts(
        content=chain, manifest=manifest, pieces=(*pieces, Piece(descriptor=manifest, content=content))
    )


def _blob(image: Image, descriptor: Descriptor) -> Path:
    return blob_path(image.layout, descriptor.digest)


def _listed(manifest: dict[str, Any]) -> tuple[Descriptor | None, list[Descriptor]]:
    listed = manifest.get("layers")
    found = [descriptor_from(each) for each in listed] if isinstance(listed, list) else []
    return descriptor_from(manifest.get("config")), [each for each in found if each is not None]


def _diff_ids(config: bytes) -> list[str]:
    """The digests of an image's layers, not compressed; none where its config does not say them."""
    rootfs = (object_from(config) or {}).get("rootfs")
    found = rootfs.get("diff_ids") if isinstance(rootfs, dict) else None
    if not isinstance(found, list):
        return []
    right = all(isinstance(each, str) and digest_fault(each) is None for each in found)
    return [str(each) for each in found] if right else []
