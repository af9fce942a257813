"""Strategies for sources, recipes, origins and what is said of builds, as values (design, parts 9 and 10)."""

from __future__ import annotations

from hypothesis import strategies as st

from mesh_core.model.build import Artifact, Built, Failed, Request, Said, Shut, Step, Taken
from mesh_core.model.module import Module
from mesh_core.model.origin import FromBuild, Handed, Origin, Shipped
from mesh_core.model.recipe import Container, Files, Recipe, Shell
from mesh_core.model.source import Commit, Seen, Source
from mesh_core.testing.strategies.dice import Dice, thrown

_REPOSITORIES = ("https://git.example/mesh", "git@git.example:mesh", "ssh://git.example:22/mesh", "/srv/mesh")
_PATHS = ((".",), ("modules/web",), ("modules/web", "shared"), ("shared", "modules/web"))
_REFS = ("HEAD", "main", "refs/tags/v1")
_AT = ("2026-12-01T22:20:02Z", "2026-12-02T08:00:00Z")
_PLACES = ("oci:/srv/registry", "https://registry.example:5000/mesh/web")
_NAMES = ("nas", "pi")
_RECIPES: tuple[Recipe | None, ...] = (
    None,
    Files(),
    Shell(commands=["make"]),
    Shell(commands=["make", "make", "make install"], output="out/it", network=True, seconds=60),
    Container(),
    Container(file="deploy/Containerfile", network=True, seconds=1),
)
_LOGS: tuple[tuple[str, ...], ...] = ((), ("it", "it", ""), ("é",))


def any_source(dice: Dice) -> Source:
    """Where some module's code lives."""
    return Source(repository=dice.one_of(_REPOSITORIES), paths=dice.one_of(_PATHS), ref=dice.one_of(_REFS))


def any_recipe(dice: Dice) -> Recipe | None:
    """How some module is built, if it is."""
    return dice.one_of(_RECIPES)


def any_commit(dice: Dice) -> Commit:
    """One of a few commits: two that are drawn are equal now and then."""
    return Commit(id=dice.one_of("abc") * 40, at=dice.one_of(_AT))


def any_artifact(dice: Dice) -> Artifact:
    """One of a few artifacts."""
    content, artifact = (f"sha256:{dice.one_of('12') * 64}" for _ in range(2))
    return Artifact(content=content, artifact=artifact, place=dice.one_of(_PLACES))


def any_id(dice: Dice) -> str:
    """The id of one of a few builds."""
    return dice.one_of("123") * 12


def any_origin(dice: Dice) -> Origin:
    """Where a manifest may have come from."""
    if dice.one_in(2):
        return FromBuild(
            build=any_id(dice),
            builder=dice.one_of(_NAMES),
            commit=any_commit(dice),
            artifact=any_artifact(dice),
            shut=dice.one_of(tuple(Shut)),
            built_at=dice.one_of((None, *_AT)),
        )
    return Shipped(version="0.3") if dice.one_in(2) else Handed()


def any_request(dice: Dice, module: str = "web") -> Request:
    """A request for a build of a module."""
    source = any_source(dice)
    return Request(
        id=any_id(dice),
        module=module,
        repository=source.repository,
        ref=source.ref,
        paths=source.paths,
        commit=any_commit(dice).id,
        verify=dice.one_in(2),
    )


def any_said(dice: Dice, manifest: Module) -> Said:
    """What a builder may say of a request; what was built, if anything was, is this."""
    request, builder = any_id(dice), dice.one_of(_NAMES)
    if dice.one_in(3):
        return Taken(request=request, builder=builder)
    log = dice.one_of(_LOGS)
    if dice.one_in(2):
        return Failed(
            request=request, builder=builder, step=dice.one_of(tuple(Step)), why="it does not do", log=log
        )
    return Built(
        request=request,
        builder=builder,
        manifest=manifest,
        commit=any_commit(dice),
        artifact=any_artifact(dice),
        shut=dice.one_of(tuple(Shut)),
        same=dice.one_of((None, True, False)),
        log=log,
    )


def sources() -> st.SearchStrategy[Source]:
    """Where a module's code may live."""
    return thrown(3, any_source)


def origins() -> st.SearchStrategy[Origin]:
    """Where a manifest may have come from."""
    return thrown(13, any_origin)


def requests() -> st.SearchStrategy[Request]:
    """Requests for a build."""
    return thrown(8, any_request)


def any_seen(dice: Dice) -> Seen:
    """What may be known of a source."""
    if dice.one_in(3):
        return Seen()
    return Seen(head=any_commit(dice), head_at=dice.one_of(_AT))


def seen() -> st.SearchStrategy[Seen]:
    """What may be known of a source."""
    return thrown(4, any_seen)
