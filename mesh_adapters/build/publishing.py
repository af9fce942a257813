"""Puts what was built where hosts get it: into a folder, or into a registry over HTTPS.

Beside each artifact goes a statement of where it came from, as a manifest that refers to it; it is in no
digest of the artifact, so building once more gives the same artifact and one more statement.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from attrs import evolve, frozen

from mesh_adapters.build.layout import Addition, NotWritten, add
from mesh_adapters.build.oci import (
    EMPTY,
    EMPTY_BYTES,
    IN_TOTO,
    INDEX,
    LAYER,
    MANIFEST,
    PREDICATE_TYPE,
    TREE,
    Descriptor,
    described,
    index,
    joined,
    manifests_of,
    referrer_manifest,
    referrers_tag,
    tree_manifest,
)
from mesh_adapters.build.packing import Packed
from mesh_adapters.build.provenance import PREDICATE, Made, statement
from mesh_adapters.build.registry_blobs import Piece, Unread
from mesh_adapters.build.registry_image import Image, Parts, image_parts
from mesh_adapters.build.registry_skopeo import Access, Refused, Skopeo
from mesh_adapters.build.registry_text import LayoutRegistry, Registry, RemoteRegistry
from mesh_core.model.build import Artifact

__all__ = ["Access", "Image", "NotPublished", "Tree", "publish"]

SECONDS = 300.0
"""How long publishing may take."""


@frozen(kw_only=True)
class NotPublished:
    """Why an artifact is not where it should be, in words that have nothing secret."""

    why: str


@frozen(kw_only=True)
class Tree:
    """A packed folder: the tar, and what it came to."""

    tar: Path
    packed: Packed


@frozen(kw_only=True)
class _Whole:
    """An artifact, and the statement beside it."""

    content: str
    manifest: Descriptor
    pieces: tuple[Piece, ...]
    referrer: Descriptor


def publish(
    registry: Registry,
    what: Tree | Image,
    made: Made,
    *,
    work: Path,
    access: Access | None = None,
    seconds: float = SECONDS,
) -> Artifact | NotPublished:
    """Put a tree or an image into a registry, with a statement of what made it.

    `work` is a folder for what is only needed meanwhile; `access` is of no use for a folder. What is
    published already is the same again. When this returns an `Artifact`, it is there under its digest: in a
    registry that was looked up. For a registry, or for others that write to a folder, it waits `seconds` at
    most.
    """
    by = time.monotonic() + seconds
    parts = _tree(what, made) if isinstance(what, Tree) else image_parts(what)
    if isinstance(parts, Unread):
        return NotPublished(why=f"the image cannot be read: {parts.why}")
    whole = _with_statement(parts, made)
    failed = (
        _into_layout(Path(registry.path), whole, made, by)
        if isinstance(registry, LayoutRegistry)
        else _into_registry(registry, whole, made, work, access or Access(), by)
    )
    if failed is not None:
        return failed
    place = registry.place(made.request.module)
    return Artifact(content=whole.content, artifact=whole.manifest.digest, place=place)


def _tree(tree: Tree, made: Made) -> Parts:
    layer = Descriptor(media_type=LAYER, digest=tree.packed.digest, size=tree.packed.size)
    content = tree_manifest(layer, made.about)
    manifest = described(MANIFEST, content, TREE)
    pieces = (
        Piece(descriptor=described(EMPTY, EMPTY_BYTES), content=EMPTY_BYTES),
        Piece(descriptor=layer, content=tree.tar),
        Piece(descriptor=manifest, content=content),
    )
    return Parts(content=tree.packed.digest, manifest=manifest, pieces=pieces)


def _with_statement(parts: Parts, made: Made) -> _Whole:
    said = statement(made, parts.manifest.digest)
    told = described(IN_TOTO, said)
    refers = referrer_manifest(told, parts.manifest, PREDICATE)
    referrer = evolve(described(MANIFEST, refers, IN_TOTO), annotations={PREDICATE_TYPE: PREDICATE})
    beside = (
        Piece(descriptor=described(EMPTY, EMPTY_BYTES), content=EMPTY_BYTES),
        Piece(descriptor=told, content=said),
        Piece(descriptor=referrer, content=refers),
    )
    return _Whole(
        content=parts.content,
        manifest=parts.manifest,
        pieces=(*parts.pieces, *beside),
        referrer=referrer,
    )


def _into_layout(layout: Path, whole: _Whole, made: Made, by: float) -> NotPublished | None:
    name = f"{made.request.module}-{made.commit.id[:12]}"
    addition = Addition(
        pieces=whole.pieces,
        named={name: whole.manifest, f"{name}.provenance": whole.referrer},
        referring={whole.manifest.digest: whole.referrer},
    )
    failed = add(layout, addition, seconds=max(0.0, by - time.monotonic()))
    return None if failed is None else NotPublished(why=failed.why)


def _into_registry(
    registry: RemoteRegistry, whole: _Whole, made: Made, work: Path, access: Access, by: float
) -> NotPublished | None:
    module = made.request.module
    why = registry.module_fault(module) or access.fault()
    if why is None and ":" in str(work):
        why = f"{work} is no folder to work in: skopeo takes no ':' in the path of a layout"
    if why is not None:
        return NotPublished(why=why)
    try:
        with tempfile.TemporaryDirectory(prefix="publish-", dir=work) as folder:
            skopeo = Skopeo(stage=Path(folder) / "stage", access=access, by=by)
            why = _carry(skopeo, registry.repository(module), whole, made.commit.id[:12])
    except OSError as error:
        why = f"{work} cannot be used: {error.strerror or error}"
    return None if why is None else NotPublished(why=f"{registry.host}: {why}")


def _carry(skopeo: Skopeo, repository: str, whole: _Whole, tag: str) -> str | None:
    """Bring an artifact and what is beside it to its repository; why it did not come there, or None.

    The artifact comes last: whoever finds it there finds its provenance too.
    """
    beside = f"{repository}:{referrers_tag(whole.manifest.digest)}"
    listed = index(_referring(skopeo, beside, whole.referrer))
    described_index = described(INDEX, listed)
    addition = Addition(
        pieces=(*whole.pieces, Piece(descriptor=described_index, content=listed)),
        named={"artifact": whole.manifest, "referrer": whole.referrer, "referrers": described_index},
    )
    failed = add(skopeo.stage, addition, lasting=False)
    if isinstance(failed, NotWritten):
        return failed.why
    steps: tuple[Callable[[], Refused | None], ...] = (
        lambda: skopeo.copy("referrer", f"{repository}@{whole.referrer.digest}"),
        lambda: skopeo.copy_index("referrers", beside),
        lambda: skopeo.copy("artifact", f"{repository}:{tag}"),
    )
    for each in steps:
        refused = each()
        if refused is not None:
            return refused.why
    return _read_back(skopeo, repository, whole)


def _referring(skopeo: Skopeo, beside: str, new: Descriptor) -> tuple[Descriptor, ...]:
    """What refers to the artifact in a registry, with the new one.

    Of two builders that publish one artifact at the same moment, one may leave out the other's statement
    here; it still has its digest. Where nothing can be read, nothing is there, or copying will say why not.
    """
    content = skopeo.raw(beside)
    old = () if isinstance(content, Refused) else manifests_of(content) or ()
    return joined(old, evolve(new, artifact_type=None))


def _read_back(skopeo: Skopeo, repository: str, whole: _Whole) -> str | None:
    expected = whole.manifest.digest
    content = skopeo.raw(f"{repository}@{expected}")
    if isinstance(content, Refused):
        return f"it was published, and is not there: {content.why}"
    if described(MANIFEST, content).digest != expected:
        return f"it was published, and something else is there by the digest {expected}"
    return None
