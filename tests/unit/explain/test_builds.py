"""Builds and where modules came from, in sentences."""

import pytest
from attrs import evolve

from mesh_core import Module
from mesh_core.analysis.state_of_modules import StateOfModule
from mesh_core.builds.asking import AskedAlready, Asking, NoHead, NothingToBuild, ToAsk
from mesh_core.builds.becoming import Overtaken
from mesh_core.delivery import Delivery
from mesh_core.explain.builds import asked, build_to_data, came, heard, notes, runs
from mesh_core.explain.sources import unfound
from mesh_core.model.build import Artifact, Build, Built, Failed, Request, Shut, Step, Taken
from mesh_core.model.origin import HANDED, FromBuild, Put, Shipped
from mesh_core.model.source import (
    Commit,
    CommitGone,
    PathGone,
    RefGone,
    RefUnclear,
    RepositoryAway,
    Seen,
    Source,
    Unfound,
)

SOURCE = Source(repository="https://git.example/web")
COMMIT = Commit(id="a" * 40, at="2026-12-01T22:20:02Z")
DIGEST = f"sha256:{'0' * 64}"
ARTIFACT = Artifact(content=DIGEST, artifact=DIGEST, place="oci:/srv/registry")
REQUEST = Request(id="1" * 12, module="web", repository=SOURCE.repository, commit=COMMIT.id, ref="HEAD")
BUILD = Build(number=1, request=REQUEST, asked_at="then", asked_by="ada", sent_at="then")
WEB = Module(name="web", version="2")
BUILT = Built(
    request=REQUEST.id,
    builder="nas",
    manifest=WEB,
    commit=COMMIT,
    artifact=ARTIFACT,
    shut=Shut.BUBBLEWRAP,
)


def ago(instant: str) -> str:
    return f"{instant} ago"


@pytest.mark.parametrize(
    ("asking", "build", "said"),
    [
        (
            ToAsk(module="web", source=SOURCE, commit=COMMIT),
            BUILD,
            "web: asked for aaaaaaa, as build 11111111",
        ),
        (AskedAlready(build=BUILD), BUILD, "web: aaaaaaa is asked for already, as build 11111111 (asked)"),
        (NothingToBuild(module="web"), None, "web has no source: mesh source set web REPOSITORY"),
        (
            NoHead(module="web", unfound=None),
            None,
            "nobody has looked at the source of web yet: mesh source check web",
        ),
        (
            NoHead(module="web", unfound=RefGone(ref="x")),
            None,
            "web: the repository has no ref 'x' (any more)",
        ),
    ],
)
def test_what_became_of_a_wish(asking: Asking, build: Build | None, said: str) -> None:
    assert asked(asking, build) == said


@pytest.mark.parametrize(
    ("found", "said"),
    [
        (RepositoryAway(why="no route"), "the repository is out of reach: no route"),
        (RefGone(ref="x"), "the repository has no ref 'x' (any more)"),
        (RefUnclear(ref="x"), "'x' is a branch and a tag; say refs/heads/x or refs/tags/x"),
        (PathGone(path="web"), "the ref has no path 'web' (any more)"),
        (CommitGone(commit="a" * 40), "the repository has no commit aaaaaaaaaaaa (any more)"),
    ],
)
def test_four_different_answers(found: Unfound, said: str) -> None:
    """> Repository out of reach, ref gone, path gone and commit gone are four different answers. (part 11)"""
    assert unfound(found) == said


def test_what_a_builder_said() -> None:
    assert [*heard(BUILD, Taken(request=REQUEST.id, builder="nas"), None)] == [
        "web aaaaaaa (build 11111111): taken by nas"
    ]
    failed = Failed(request=REQUEST.id, builder=None, step=Step.REQUEST, why="4 builders were lost with it")
    assert [*heard(BUILD, failed, None)] == [
        "web aaaaaaa (build 11111111): failed, at request: 4 builders were lost with it"
    ]
    lines = [*heard(BUILD, evolve(BUILT, same=False), Overtaken(by="2" * 12))]
    assert lines[1:] == [
        "  a second build gave something else: its commands are not reproducible",
        "  the catalogue has a later build already (22222222)",
    ]


def test_where_it_came_from() -> None:
    built = FromBuild(build=REQUEST.id, builder="nas", commit=COMMIT, artifact=ARTIFACT, shut=Shut.BUBBLEWRAP)
    assert came(HANDED, "then", ago) == "handed over then ago"
    assert came(Shipped(version="0.3"), "then", ago) == "shipped with mesh 0.3"
    assert came(built, "then", ago) == "git aaaaaaa, built then ago"


def test_a_repository_that_is_away_leaves_the_head_and_says_when_it_was_known() -> None:
    seen = Seen(head=COMMIT, head_at="then", unfound=RepositoryAway(why="no route"), unfound_at="now")
    put = Put(number=1, manifest=WEB, digest="", origin=HANDED, at="then", current=True)
    state = StateOfModule(name="web", put=put, source=SOURCE, seen=seen, delivery=Delivery.BY_HAND)
    assert [*notes(state, ago)] == [
        "web: the repository is out of reach: no route (now ago); aaaaaaa was its head then ago"
    ]
    assert runs(state) == "by hand"
    held = evolve(state, seen=Seen(), held=BUILD, underway=BUILD)
    assert [*notes(held, ago)] == [
        "web: build 11111111 of aaaaaaa is held: mesh module accept web --dry-run",
        "web: build 11111111 of aaaaaaa is asked",
    ]


def test_as_data_there_are_codes() -> None:
    failed = Failed(request=REQUEST.id, builder="nas", step=Step.COMMANDS, why="it ended with 1", log=("x",))
    data = build_to_data(evolve(BUILD, answer=failed))
    assert (data["state"], data["failure"]["step"], data["log"]) == ("failed", "commands", ["x"])
    data = build_to_data(evolve(BUILD, answer=BUILT))
    assert (data["state"], data["built"]["commit"], data["built"]["shut"]) == (
        "built",
        COMMIT.id,
        "bubblewrap",
    )
