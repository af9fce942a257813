"""What names a registry, and what does not."""

import pytest

from mesh_adapters.build.registry_text import LayoutRegistry, NoRegistry, RemoteRegistry, registry_of


@pytest.mark.parametrize("path", ["/srv/artifacts", "/a", "/srv/Größe", "/srv/-x/a@".rstrip("@")])
def test_a_folder(path: str) -> None:
    got = registry_of(f"oci:{path}")
    assert got == LayoutRegistry(path=path)
    assert isinstance(got, LayoutRegistry)
    assert got.place("web") == str(got) == f"oci:{path}"


@pytest.mark.parametrize(
    ("text", "host", "prefix"),
    [
        ("docker://nas.lan/mesh", "nas.lan", "mesh"),
        ("docker://nas:5000/mesh", "nas:5000", "mesh"),
        ("docker://localhost/mesh", "localhost", "mesh"),
        ("docker://10.0.0.5:5000/a/b-c/d__e/f.g", "10.0.0.5:5000", "a/b-c/d__e/f.g"),
        ("docker://registry-1.docker.io/me", "registry-1.docker.io", "me"),
    ],
)
def test_a_registry(text: str, host: str, prefix: str) -> None:
    got = registry_of(text)
    assert got == RemoteRegistry(host=host, prefix=prefix)
    assert isinstance(got, RemoteRegistry)
    assert str(got) == text
    assert got.place("web") == f"https://{host}/{prefix}/web"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "is no registry: oci:/FOLDER"),
        ("/srv/artifacts", "is no registry: oci:/FOLDER"),
        ("https://nas.lan/mesh", "is no registry: oci:/FOLDER"),
        ("--help", "is no registry: oci:/FOLDER"),
        ("dir:/srv", "is no registry: oci:/FOLDER"),
        ("oci:", "is no folder"),
        ("oci:/", "is no folder"),
        ("oci:srv/artifacts", "is no folder"),
        ("oci:/srv/", "is no folder"),
        ("oci:/srv/../etc", "is no folder"),
        ("oci://srv", "is no folder"),
        ("oci:/srv/a:b", "is no folder"),
        ("oci:/srv/a b", "is no folder"),
        ("oci:/srv/a\n", "is no folder"),
        ("docker://", "has no host"),
        ("docker:///mesh", "has no host"),
        ("docker://-x.lan/mesh", "has no host"),
        ("docker://NAS.lan/mesh", "has no host"),
        ("docker://nas.lan:/mesh", "has no host"),
        ("docker://nas.lan:0/mesh", "has no host"),
        ("docker://nas.lan:65536/mesh", "has no host"),
        ("docker://[::1]:5000/mesh", "has no host"),
        ("docker://nas.lan", "has no prefix"),
        ("docker://nas.lan/", "has no prefix"),
        ("docker://nas.lan/Mesh", "has no prefix"),
        ("docker://nas.lan/mesh/", "has no prefix"),
        ("docker://nas.lan/mesh:tag", "has no prefix"),
        ("docker://nas.lan/../mesh", "has no prefix"),
        ("docker://nas.lan/mesh?x", "has no prefix"),
        (f"docker://nas.lan/{'m' * 255}", "has no prefix"),
        ("docker://nas/mesh", "would be looked for on docker.io: say nas:443"),
        ("docker://docker.io/me", "say registry-1.docker.io"),
        ("docker://docker.io:443/me", "say registry-1.docker.io"),
    ],
)
def test_what_names_none(text: str, why: str) -> None:
    got = registry_of(text)
    assert isinstance(got, NoRegistry)
    assert why in got.why
    assert "\n" not in got.why


@pytest.mark.parametrize("text", ["docker://me:hunter2@nas.lan/mesh", "oci:/srv/hunter2@x", "hunter2@"])
def test_what_may_have_a_password_is_not_repeated(text: str) -> None:
    got = registry_of(text)
    assert isinstance(got, NoRegistry)
    assert "hunter2" not in got.why


def test_a_module_that_a_registry_takes() -> None:
    there = RemoteRegistry(host="nas.lan", prefix="mesh")
    for module in ("web", "node-exporter", "a.b_c", "a--b", "a__b", "0"):
        assert there.module_fault(module) is None
    for module in ("a..b", "a___b", "a-.b"):
        assert there.module_fault(module) is not None
    long = RemoteRegistry(host="nas.lan", prefix="/".join(["p" * 40] * 5))
    assert "longer than the 255" in str(long.module_fault("m" * 63))
