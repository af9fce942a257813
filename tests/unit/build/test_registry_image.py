"""What an image in a layout consists of, and what is none."""

from pathlib import Path
from typing import Any

import pytest

from mesh_adapters.build.layout import Addition, add
from mesh_adapters.build.oci import CONFIG, EMPTY, MANIFEST, canonical, chain_id, described, digest_of
from mesh_adapters.build.registry_blobs import Piece, Unread
from mesh_adapters.build.registry_image import Image, Parts, image_parts

LAYERS = (b"the first", b"the second")
DIFF_IDS = [digest_of(each) for each in LAYERS]
COMPRESSED = "application/vnd.oci.image.layer.v1.tar+gzip"


def image(
    folder: Path,
    *,
    diff_ids: Any = DIFF_IDS,
    config_type: str = CONFIG,
    manifest_type: str = MANIFEST,
) -> Image:
    """A layout with an image of two layers, made as it is said to be."""
    config = canonical({"rootfs": {"type": "layers", "diff_ids": diff_ids}})
    parts = [Piece(descriptor=described(config_type, config), content=config)]
    layers = [b"compressed " + each for each in LAYERS]
    parts += [Piece(descriptor=described(COMPRESSED, each), content=each) for each in layers]
    data = {
        "config": parts[0].descriptor.data(),
        "layers": [each.descriptor.data() for each in parts[1:]],
    }
    manifest = canonical(data)
    parts.append(Piece(descriptor=described(manifest_type, manifest), content=manifest))
    assert add(folder, Addition(pieces=parts, named={"built": parts[-1].descriptor})) is None
    return Image(layout=folder, name="built")


def test_of_several_layers_the_content_is_their_chain(tmp_path: Path) -> None:
    got = image_parts(image(tmp_path / "layout"))
    assert isinstance(got, Parts)
    assert got.content == chain_id(DIFF_IDS)
    assert got.manifest == got.pieces[-1].descriptor
    assert got.manifest.annotations == (), "a name in one layout is of no matter in another"
    assert len(got.pieces) == 4


@pytest.mark.parametrize("diff_ids", [[], DIFF_IDS[:1], ["md5:1", "md5:2"], [1, 2], "sha256:", None])
def test_an_image_that_does_not_say_what_its_layers_are(tmp_path: Path, diff_ids: Any) -> None:
    got = image_parts(image(tmp_path / "layout", diff_ids=diff_ids))
    assert got == Unread(why="built does not say of each layer what it is")


def test_what_is_no_image(tmp_path: Path) -> None:
    got = image_parts(image(tmp_path / "artifact", config_type=EMPTY))
    assert got == Unread(why="built is no image: it has no config of one")
    index = "application/vnd.oci.image.index.v1+json"
    got = image_parts(image(tmp_path / "several", manifest_type=index))
    assert got == Unread(why="built is no OCI image of one platform")
    got = image_parts(Image(layout=tmp_path / "none", name="built"))
    assert got == Unread(why=f"{tmp_path / 'none'} is no OCI layout")
