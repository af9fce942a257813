"""What is asked of builders."""

from attrs import evolve

from mesh_core import Mesh
from mesh_core.builds.asking import AskedAlready, NoHead, NothingToBuild, ToAsk, asking, behind
from mesh_core.model.build import Artifact, Build, Shut
from mesh_core.model.module import Module
from mesh_core.model.origin import HANDED, FromBuild, Origin, Put
from mesh_core.model.source import Commit, RefGone, Seen, Source

NEW, OLD = (Commit(id=letter * 40, at="2026-12-01T22:20:02Z") for letter in "ab")
SOURCE = Source(repository="https://git.example/web", paths=("deploy",), ref="main")
MESH = Mesh(sources={"web": SOURCE})
HEADS = {"web": Seen(head=NEW, head_at="2026-12-02T08:00:00Z")}
WANTED = ToAsk(module="web", source=SOURCE, commit=NEW)


def test_what_has_a_head_is_asked_for_at_that_commit() -> None:
    """> A request names the commit."""
    wanted = asking(MESH, HEADS, (), "web")
    assert wanted == WANTED
    request = WANTED.request("1" * 12)
    assert (request.commit, request.paths, request.ref) == (NEW.id, ("deploy",), "main")


def test_asking_twice_for_one_commit_is_one_build() -> None:
    build = Build(number=1, request=WANTED.request("1" * 12), asked_at="", asked_by="")
    assert asking(MESH, HEADS, [build], "web") == AskedAlready(build=build)
    twice = evolve(build, request=WANTED.request("1" * 12, verify=True))
    assert asking(MESH, HEADS, [twice], "web") == AskedAlready(build=twice)


def test_another_commit_source_or_module_is_another_build() -> None:
    for other in (
        evolve(WANTED, commit=OLD),
        evolve(WANTED, source=evolve(SOURCE, ref="stable")),
        evolve(WANTED, source=evolve(SOURCE, paths=("deploy", "shared"))),
        evolve(WANTED, module="shop"),
    ):
        build = Build(number=1, request=other.request("1" * 12), asked_at="", asked_by="")
        assert asking(MESH, HEADS, [build], "web") == WANTED


def test_what_cannot_be_asked_for_says_why() -> None:
    assert asking(MESH, HEADS, (), "zsh") == NothingToBuild(module="zsh")
    assert asking(MESH, {}, (), "web") == NoHead(module="web", unfound=None)
    gone = Seen(unfound=RefGone(ref="main"), unfound_at="2026-12-02T08:00:00Z")
    assert asking(MESH, {"web": gone}, (), "web") == NoHead(module="web", unfound=RefGone(ref="main"))


def test_a_head_that_was_seen_before_is_asked_for_though_the_repository_is_away() -> None:
    away = evolve(HEADS["web"], unfound=RefGone(ref="main"), unfound_at="2026-12-02T09:00:00Z")
    assert asking(MESH, {"web": away}, (), "web") == WANTED


def put(name: str, origin: Origin) -> Put:
    return Put(
        number=1, manifest=Module(name=name, version="1"), digest="", origin=origin, at="", current=True
    )


def built(commit: Commit) -> FromBuild:
    digest = f"sha256:{'0' * 64}"
    artifact = Artifact(content=digest, artifact=digest, place="oci:/srv/registry")
    return FromBuild(build="1" * 12, builder="nas", commit=commit, artifact=artifact, shut=Shut.BUBBLEWRAP)


def test_behind_is_what_a_build_would_mend() -> None:
    """Those that are behind, or were never built."""
    names = ("behind", "by-hand", "current", "never-built", "unchecked")
    mesh = Mesh(sources=dict.fromkeys(names, SOURCE))
    heads = {name: HEADS["web"] for name in names if name != "unchecked"}
    current = {
        "behind": put("behind", built(OLD)),
        "by-hand": put("by-hand", HANDED),
        "current": put("current", built(NEW)),
        "unchecked": put("unchecked", built(OLD)),
        "no-source": put("no-source", built(OLD)),
    }
    assert behind(mesh, heads, current, {}) == ("behind", "never-built")
    build = Build(number=1, request=WANTED.request("1" * 12), asked_at="", asked_by="")
    assert behind(mesh, heads, current, {"behind": build}) == ("never-built",), "it waits for a word"
    older = evolve(build, request=evolve(WANTED, commit=OLD).request("1" * 12))
    assert behind(mesh, heads, current, {"behind": older}) == ("behind", "never-built")
