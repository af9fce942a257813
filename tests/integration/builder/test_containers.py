"""Images through `mesh-builder run`: only where the builder was told that it may, and into a registry."""

from __future__ import annotations

import gzip
import json
from hashlib import sha256

from tests.integration.build.sandbox_help import buildah
from tests.integration.builder.remote import Remote
from tests.integration.builder.remote import guarded as guarded
from tests.integration.builder.remote import remote as remote
from tests.integration.cli.program import mesh, ok

CONTAINERFILE = 'FROM scratch\nCOPY page /srv/\nCMD ["/srv/page"]\n'


def has_image(remote: Remote, module: str) -> str:
    """A module in the repository that is an image, and its source known: its commit."""
    manifest = f'name = "{module}"\nversion = "1"\nbuild = {{kind = "container", seconds = 60}}\n'
    files = {"module.toml": manifest, "Containerfile": CONTAINERFILE, "page": "telltale"}
    commit = remote.shop.repository.commit({f"{module}/{name}": text for name, text in files.items()})
    ok("source", "set", module, remote.shop.repository.address, "--path", module)
    return commit


def test_an_image_is_in_the_registry_under_the_digest_that_was_answered(remote: Remote) -> None:
    """> Images want `--allow-container`, root, `buildah` and bubblewrap, and are shut in more weakly"""
    buildah()
    commit = has_image(remote, "image")
    with remote.running("smith", "--allow-container"):
        found = remote.shop.ends(remote.shop.ask("image"))
    assert found["state"] == "built", found
    assert found["built"]["shut"] == "container"
    manifest = remote.manifest("image", found["built"]["artifact"])
    assert manifest["config"]["mediaType"] == "application/vnd.oci.image.config.v1+json"
    (layer,) = manifest["layers"]
    content = gzip.decompress(remote.blob("image", layer["digest"]))
    assert b"telltale" in content
    assert found["built"]["content"] == f"sha256:{sha256(content).hexdigest()}"
    config = json.loads(remote.blob("image", manifest["config"]["digest"]))
    assert config["config"]["Cmd"] == ["/srv/page"]
    told = ok("builds", found["id"]).out
    assert found["built"]["artifact"] in told
    assert "shut in   container" in told
    (entry,) = [one for one in ok("module", "list", "--json").json["modules"] if one["name"] == "image"]
    assert (entry["from"]["commit"], entry["from"]["shut"]) == (commit, "container")


def test_a_builder_that_may_make_no_images_says_what_would_do(remote: Remote) -> None:
    """> a failure is an answer"""
    has_image(remote, "unwanted")
    with remote.running("smith") as smith:
        ran = mesh("build", "unwanted", "--wait", "--timeout", "40")
    assert ran.code == 4
    assert "failed by smith, at request: " in ran.out
    assert "start it with --allow-container" in ran.out
    assert smith.said("start it with --allow-container") == 1
    found = ok("module", "list", "--json").json["modules"]
    assert [one["from"] for one in found if one["name"] == "unwanted"] == [None]
