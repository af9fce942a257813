"""What an answer makes of the catalogue (design, parts 9 to 11).

> A built manifest that would leave a planned node refused, or move an answer, does not become current by
> itself
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeAlias

from attrs import evolve, frozen

from mesh_core.analysis.proposal import Proposal
from mesh_core.change import PutModule
from mesh_core.faults import CatalogueError, CatalogueFault
from mesh_core.model.build import Artifact, Build, Built
from mesh_core.model.module import Module
from mesh_core.model.origin import FromBuild
from mesh_core.model.resource import TREE, Resource

Judge: TypeAlias = Callable[[PutModule], Proposal]
"""What a change would do to whom.

Raises `CatalogueError` for a manifest that cannot stand beside the others.
"""


@frozen(kw_only=True)
class Becomes:
    """It is the current manifest of its name from now on."""

    change: PutModule


@frozen(kw_only=True)
class Holds:
    """It waits for somebody's word: what it would do (None where it cannot stand in the catalogue at all)."""

    change: PutModule
    proposal: Proposal | None = None
    faults: tuple[CatalogueFault, ...] = ()


@frozen(kw_only=True)
class Overtaken:
    """A build of the module that was asked for later is current already: this one stays on record."""

    by: str


Becoming: TypeAlias = Becomes | Holds | Overtaken


def becoming(build: Build, made_current: Build | None, judge: Judge) -> Becoming:
    """What the answer to a build makes of the catalogue; `build` has an answer that is `Built`.

    `made_current` is the build that made what the catalogue has of the module now, if one did and is known.
    """
    assert isinstance(build.answer, Built)
    if made_current is not None and made_current.number > build.number:
        return Overtaken(by=made_current.request.id)
    change = put(build.answer, build.answered_at)
    try:
        proposal = judge(change)
    except CatalogueError as error:
        return Holds(change=change, faults=error.faults)
    return Holds(change=change, proposal=proposal) if proposal.harmful else Becomes(change=change)


def put(built: Built, at: str | None) -> PutModule:
    """The manifest that was built, with its artifact in it, and where it came from; `at` is when it was."""
    origin = FromBuild(
        build=built.request,
        builder=built.builder,
        commit=built.commit,
        artifact=built.artifact,
        shut=built.shut,
        built_at=at,
    )
    return PutModule(module=with_artifact(built.manifest, built.artifact), origin=origin)


def with_artifact(manifest: Module, artifact: Artifact) -> Module:
    """The manifest with the artifact in its trees; one that names another artifact already keeps it."""
    return evolve(manifest, resources=_resources(manifest.resources, artifact))


def _resources(resources: Iterable[Resource], artifact: Artifact) -> tuple[Resource, ...]:
    return tuple(_with(resource, artifact) if _lacks(resource) else resource for resource in resources)


def _lacks(resource: Resource) -> bool:
    return resource.kind == TREE and not {"artifact", "from"} & resource.attributes.keys()


def _with(resource: Resource, artifact: Artifact) -> Resource:
    said = resource.attributes | {"artifact": artifact.artifact, "from": artifact.place}
    return evolve(resource, attributes_json=said)
