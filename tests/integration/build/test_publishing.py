"""Publishing, into a folder and into a registry that runs here, looked at by other programs than ours."""

import json
import os
import shutil
import subprocess
import time
import urllib.error
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.build.packing import Packed, pack
from mesh_adapters.build.provenance import Made
from mesh_adapters.build.publishing import Access, Image, NotPublished, Tree, publish
from mesh_adapters.build.registry_text import LayoutRegistry, RemoteRegistry
from mesh_core.model.build import Artifact, Request
from mesh_core.model.source import Commit
from tests.integration.build.registry import PASSWORD, RegistryServer, demand
from tests.integration.build.registry import guarded as guarded
from tests.integration.build.registry import registry as registry

COMMIT = "0123456789ab" + "c" * 28
HEAD = "f" * 40
AT = "2026-12-01T22:20:02Z"
MANIFEST = "application/vnd.oci.image.manifest.v1+json"
INDEX = "application/vnd.oci.image.index.v1+json"
SLSA = "https://slsa.dev/provenance/v1"


def made(request: str = "aaaaaaaa", module: str = "web") -> Made:
    return Made(
        request=Request(
            id=request,
            module=module,
            repository="https://secret-token@git.example/homelab.git",
            commit=HEAD,
            ref="refs/heads/main",
            paths=("modules/web", "shared"),
        ),
        version="1.4.0",
        commit=Commit(id=COMMIT, at=AT),
        builder="nas",
        started="2026-12-02T08:00:00Z",
        finished="2026-12-02T08:00:05Z",
    )


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "page.html").write_text("<p>it works</p>" * 1000)
    packed = pack(tmp_path / "tree", tmp_path / "tar", AT)
    assert isinstance(packed, Packed)
    return Tree(tar=tmp_path / "tar", packed=packed)


@pytest.fixture
def work(tmp_path: Path) -> Path:
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


def remote(server: RegistryServer, prefix: str) -> RemoteRegistry:
    return RemoteRegistry(host=server.host, prefix=prefix)


def believing(server: RegistryServer) -> Access:
    return Access(certificates=server.certificates)


def published(got: Artifact | NotPublished) -> Artifact:
    assert isinstance(got, Artifact), got
    return got


def refused(got: Artifact | NotPublished) -> str:
    assert isinstance(got, NotPublished), got
    return got.why


def skopeo(*arguments: str) -> str:
    """What skopeo says, to somebody who knows nothing of us."""
    demand()
    done = subprocess.run(
        ["skopeo", "--insecure-policy", *arguments], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def digest(content: bytes | str) -> str:
    return f"sha256:{sha256(content.encode() if isinstance(content, str) else content).hexdigest()}"


def blob(layout: Path, name: str) -> bytes:
    return (layout / "blobs" / "sha256" / name.removeprefix("sha256:")).read_bytes()


def assert_is_the_statement(content: bytes, artifact: Artifact, request: str) -> None:
    said = json.loads(content)
    assert said["_type"] == "https://in-toto.io/Statement/v1"
    assert said["predicateType"] == SLSA
    assert said["subject"] == [
        {"name": "web", "digest": {"sha256": artifact.artifact.removeprefix("sha256:")}}
    ]
    assert said["predicate"]["runDetails"]["metadata"]["invocationId"] == request
    assert b"secret-token" not in content


def test_a_tree_in_a_folder(tmp_path: Path, tree: Tree, work: Path) -> None:
    layout = tmp_path / "registry"
    got = published(publish(LayoutRegistry(path=str(layout)), tree, made(), work=work))
    assert got == Artifact(content=tree.packed.digest, artifact=got.artifact, place=f"oci:{layout}")
    raw = skopeo("inspect", "--raw", f"oci:{layout}:web-0123456789ab")
    assert digest(raw) == got.artifact
    manifest = json.loads(raw)
    assert manifest["artifactType"] == "application/vnd.meshwright.tree.v1"
    assert manifest["config"]["mediaType"] == "application/vnd.oci.empty.v1+json"
    assert blob(layout, manifest["config"]["digest"]) == b"{}"
    assert manifest["layers"] == [
        {
            "mediaType": "application/vnd.oci.image.layer.v1.tar",
            "digest": got.content,
            "size": tree.packed.size,
        }
    ]
    assert blob(layout, got.content) == tree.tar.read_bytes()
    assert manifest["annotations"] == {
        "org.opencontainers.image.source": "https://git.example/homelab.git",
        "org.opencontainers.image.revision": COMMIT,
        "org.opencontainers.image.version": "1.4.0",
        "org.opencontainers.image.created": AT,
        "org.opencontainers.image.title": "web",
    }


def test_its_provenance_is_found_beside_it(tmp_path: Path, tree: Tree, work: Path) -> None:
    layout = tmp_path / "registry"
    got = published(publish(LayoutRegistry(path=str(layout)), tree, made(), work=work))
    tag = got.artifact.replace(":", "-")
    (listed,) = json.loads(skopeo("inspect", "--raw", f"oci:{layout}:{tag}"))["manifests"]
    assert listed["artifactType"] == "application/vnd.in-toto+json"
    assert listed["annotations"] == {"in-toto.io/predicate-type": SLSA}
    raw = skopeo("inspect", "--raw", f"oci:{layout}:web-0123456789ab.provenance")
    assert digest(raw) == listed["digest"]
    refers = json.loads(raw)
    assert refers["subject"] == {
        "mediaType": MANIFEST,
        "digest": got.artifact,
        "size": len(blob(layout, got.artifact)),
    }
    assert_is_the_statement(blob(layout, refers["layers"][0]["digest"]), got, "aaaaaaaa")


def test_a_folder_can_be_carried_on(tmp_path: Path, tree: Tree, work: Path) -> None:
    """`skopeo copy` takes an artifact elsewhere as it is."""
    layout = tmp_path / "registry"
    got = published(publish(LayoutRegistry(path=str(layout)), tree, made(), work=work))
    source = f"oci:{layout}:web-0123456789ab"
    skopeo("copy", "--preserve-digests", source, f"oci:{tmp_path / 'other'}:web")
    assert digest(skopeo("inspect", "--raw", f"oci:{tmp_path / 'other'}:web")) == got.artifact
    assert blob(tmp_path / "other", got.content) == tree.tar.read_bytes()


def test_the_same_again_is_the_same_artifact_and_one_more_statement(
    tmp_path: Path, tree: Tree, work: Path
) -> None:
    layout = tmp_path / "registry"
    first = published(publish(LayoutRegistry(path=str(layout)), tree, made(), work=work))
    second = published(publish(LayoutRegistry(path=str(layout)), tree, made("bbbbbbbb"), work=work))
    assert first == second
    tag = first.artifact.replace(":", "-")
    listed = json.loads(skopeo("inspect", "--raw", f"oci:{layout}:{tag}"))["manifests"]
    statements = [json.loads(blob(layout, each["digest"]))["layers"][0]["digest"] for each in listed]
    for statement, request in zip(statements, ("aaaaaaaa", "bbbbbbbb"), strict=True):
        assert_is_the_statement(blob(layout, statement), first, request)


def test_a_tar_that_is_not_what_it_was_is_not_published(tmp_path: Path, tree: Tree, work: Path) -> None:
    tree.tar.write_bytes(tree.tar.read_bytes().replace(b"works", b"WORKS"))
    why = refused(publish(LayoutRegistry(path=str(tmp_path / "registry")), tree, made(), work=work))
    assert "is not what it was said to be" in why


def test_a_tree_in_a_registry(registry: RegistryServer, tmp_path: Path, tree: Tree, work: Path) -> None:
    there = remote(registry, "mesh/modules")
    got = published(publish(there, tree, made(), work=work, access=believing(registry)))
    assert got.place == f"https://{registry.host}/mesh/modules/web"
    here = published(publish(LayoutRegistry(path=str(tmp_path / "registry")), tree, made(), work=work))
    assert (got.content, got.artifact) == (here.content, here.artifact), "the same artifact, wherever it is"
    base = "/v2/mesh/modules/web"
    manifest = registry.get(f"{base}/manifests/{got.artifact}", accept=MANIFEST)
    assert digest(manifest) == got.artifact
    assert registry.get(f"{base}/manifests/0123456789ab", accept=MANIFEST) == manifest
    assert registry.get(f"{base}/blobs/{got.content}") == tree.tar.read_bytes(), "not compressed on the way"
    assert [*work.iterdir()] == [], "nothing is left of the work"


def referrers(server: RegistryServer, base: str, artifact: Artifact) -> list[dict[str, Any]]:
    tag = artifact.artifact.replace(":", "-")
    listed = json.loads(server.get(f"{base}/manifests/{tag}", accept=INDEX))
    assert listed["mediaType"] == INDEX
    manifests: list[dict[str, Any]] = listed["manifests"]
    return manifests


def test_its_provenance_is_in_the_registry_too(registry: RegistryServer, tree: Tree, work: Path) -> None:
    there = remote(registry, "provenance")
    base = "/v2/provenance/web"
    got, *others = [
        published(publish(there, tree, made(request), work=work, access=believing(registry)))
        for request in ("aaaaaaaa", "bbbbbbbb", "bbbbbbbb")
    ]
    assert others == [got, got]
    listed = referrers(registry, base, got)
    assert [each["annotations"] for each in listed] == [{"in-toto.io/predicate-type": SLSA}] * 2
    for each, request in zip(listed, ("aaaaaaaa", "bbbbbbbb"), strict=True):
        refers = json.loads(registry.get(f"{base}/manifests/{each['digest']}", accept=MANIFEST))
        assert refers["subject"]["digest"] == got.artifact
        assert refers["artifactType"] == "application/vnd.in-toto+json"
        assert_is_the_statement(registry.get(f"{base}/blobs/{refers['layers'][0]['digest']}"), got, request)


def test_who_is_let_in_publishes(guarded: RegistryServer, tree: Tree, work: Path) -> None:
    access = evolve(believing(guarded), authfile=guarded.authfile("right"))
    got = published(publish(remote(guarded, "mesh"), tree, made(), work=work, access=access))
    assert digest(guarded.get(f"/v2/mesh/web/manifests/{got.artifact}", accept=MANIFEST)) == got.artifact


def test_who_is_not_let_in_is_told_and_nothing_secret(
    guarded: RegistryServer, tree: Tree, work: Path
) -> None:
    there = remote(guarded, "nobody")
    why = refused(publish(there, tree, made(), work=work, access=believing(guarded)))
    assert why.startswith(f"{guarded.host}: ")
    assert "authentication required" in why or "unauthorized" in why
    wrong = evolve(believing(guarded), authfile=guarded.authfile("wrong", password="no-such-secret"))
    why = refused(publish(there, tree, made(), work=work, access=wrong))
    assert "unauthorized" in why or "authentication required" in why
    assert "no-such-secret" not in why
    with pytest.raises(urllib.error.HTTPError, match="404") as caught:
        guarded.get("/v2/nobody/web/tags/list")
    caught.value.close()


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660])
def test_an_authfile_that_others_may_read_is_not_used(
    guarded: RegistryServer, tree: Tree, work: Path, mode: int
) -> None:
    access = evolve(believing(guarded), authfile=guarded.authfile(f"open-{mode}", mode=mode))
    why = refused(publish(remote(guarded, "open"), tree, made(), work=work, access=access))
    assert f"has mode 0{mode:o}, so others may use it" in why
    assert PASSWORD not in why


def test_the_logins_of_whoever_runs_this_are_not_used(
    guarded: RegistryServer, tree: Tree, work: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each place where skopeo looks for a login by itself has one that would do."""
    login = guarded.authfile("ours").read_text()
    for place in (
        "run/containers/auth.json",
        "home/.docker/config.json",
        "home/.config/containers/auth.json",
    ):
        (tmp_path / place).parent.mkdir(parents=True)
        (tmp_path / place).write_text(login)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "run"))
    monkeypatch.setenv("REGISTRY_AUTH_FILE", str(tmp_path / "run/containers/auth.json"))
    skopeo_finds_it = ["list-tags", f"--cert-dir={guarded.certificates}", f"docker://{guarded.host}/mesh/web"]
    published(
        publish(
            remote(guarded, "mesh"),
            tree,
            made(),
            work=work,
            access=evolve(believing(guarded), authfile=guarded.authfile("right")),
        )
    )
    assert "0123456789ab" in skopeo(*skopeo_finds_it)
    why = refused(publish(remote(guarded, "mesh"), tree, made(), work=work, access=believing(guarded)))
    assert "authentication required" in why or "unauthorized" in why


def test_a_registry_that_somebody_else_vouches_for_is_not_believed(
    registry: RegistryServer, tree: Tree, work: Path
) -> None:
    for access in (Access(), Access(certificates=registry.other_certificates)):
        why = refused(publish(remote(registry, "mesh"), tree, made(), work=work, access=access))
        assert "certificate signed by unknown authority" in why


def test_certificates_that_are_not_there_are_told(registry: RegistryServer, tree: Tree, work: Path) -> None:
    access = Access(certificates=work / "none")
    why = refused(publish(remote(registry, "mesh"), tree, made(), work=work, access=access))
    assert why == f"{work / 'none'} is no folder of certificates"


def test_a_registry_that_is_away(tree: Tree, work: Path) -> None:
    demand()
    with RegistryServer() as server:
        access = Access(certificates=server.certificates)
        server.freeze()
        began = time.monotonic()
        why = refused(publish(remote(server, "mesh"), tree, made(), work=work, access=access, seconds=1.5))
        assert why == f"{server.host}: the time for publishing was up before it was done"
        assert time.monotonic() - began < 10
        server.thaw()
        published(publish(remote(server, "mesh"), tree, made(), work=work, access=access))
    why = refused(publish(remote(server, "mesh"), tree, made(), work=work))
    assert why.startswith(f"{server.host}: ")
    assert why.endswith("connection refused")
    assert [*work.iterdir()] == []


@pytest.mark.parametrize("module", ["a..b", "a._b", "a.-b", "a___b"])
def test_a_module_that_no_registry_takes(tree: Tree, work: Path, module: str) -> None:
    there = RemoteRegistry(host="localhost:1", prefix="mesh")
    why = refused(publish(there, tree, made(module=module), work=work))
    assert f"{module} is no name for a registry" in why


def test_work_that_skopeo_cannot_name(tree: Tree, tmp_path: Path) -> None:
    (tmp_path / "a:b").mkdir()
    there = RemoteRegistry(host="localhost:1", prefix="mesh")
    assert "skopeo takes no ':'" in refused(publish(there, tree, made(), work=tmp_path / "a:b"))
    assert "cannot be used" in refused(publish(there, tree, made(), work=tmp_path / "none"))


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Image:
    """An image of one layer, as buildah makes it: `built` is compressed, and `plain` is not."""
    demand()
    if shutil.which("buildah") is None or os.geteuid() != 0:
        pytest.skip("an image is made by buildah, as root")
    folder = tmp_path_factory.mktemp("image")
    (folder / "page.html").write_text("<p>it works</p>")
    storage = [f"--root={folder / 'storage'}", f"--runroot={folder / 'run'}", "--storage-driver=vfs"]

    def buildah(*arguments: str) -> str:
        done = subprocess.run(
            ["buildah", *storage, *arguments], capture_output=True, text=True, check=False, timeout=60
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    container = buildah("from", "scratch")
    buildah("copy", container, str(folder / "page.html"), "/page.html")
    for name, plain in (("built", "false"), ("plain", "true")):
        to = f"oci:{folder / 'layout'}:{name}"
        buildah("commit", "--timestamp=0", f"--disable-compression={plain}", container, to)
    return Image(layout=folder / "layout", name="built")


def image_manifest(image: Image) -> dict[str, Any]:
    read: dict[str, Any] = json.loads(skopeo("inspect", "--raw", f"oci:{image.layout}:{image.name}"))
    return read


@pytest.mark.parametrize("name", ["built", "plain"])
def test_an_image_keeps_its_digest(
    registry: RegistryServer, image: Image, tmp_path: Path, work: Path, name: str
) -> None:
    image = evolve(image, name=name)
    manifest = image_manifest(image)
    (layer,) = manifest["layers"]
    (diff_id,) = json.loads(blob(image.layout, manifest["config"]["digest"]))["rootfs"]["diff_ids"]
    assert (diff_id == layer["digest"]) == (name == "plain"), "the content is that before it was compressed"
    expected = digest(skopeo("inspect", "--raw", f"oci:{image.layout}:{image.name}"))

    layout = tmp_path / "registry"
    got = published(publish(LayoutRegistry(path=str(layout)), image, made(), work=work))
    assert (got.content, got.artifact) == (diff_id, expected)
    assert json.loads(skopeo("inspect", f"oci:{layout}:web-0123456789ab"))["Layers"] == [layer["digest"]]

    there = remote(registry, f"images/{name}")
    got = published(publish(there, image, made(), work=work, access=believing(registry)))
    assert (got.content, got.artifact) == (diff_id, expected)
    assert digest(registry.get(f"/v2/images/{name}/web/manifests/{expected}", accept=MANIFEST)) == expected
    assert digest(registry.get(f"/v2/images/{name}/web/blobs/{layer['digest']}")) == layer["digest"]
    assert len(referrers(registry, f"/v2/images/{name}/web", got)) == 1


def test_an_image_that_is_not_whole_is_not_published(image: Image, tmp_path: Path, work: Path) -> None:
    to = LayoutRegistry(path=str(tmp_path / "registry"))
    why = refused(publish(to, evolve(image, name="other"), made(), work=work))
    assert "has nothing by the name 'other'" in why
    broken = Image(layout=tmp_path / "broken", name="built")
    shutil.copytree(image.layout, broken.layout)
    (layer,) = image_manifest(image)["layers"]
    (broken.layout / "blobs/sha256" / layer["digest"].removeprefix("sha256:")).write_bytes(b"cut")
    assert "is not what it was said to be" in refused(publish(to, broken, made(), work=work))
