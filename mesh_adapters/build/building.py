"""One build, from the request to the answer (design, part 9). A failure is an answer.

source    the paths at the commit, checked out
manifest  module.toml or module.json in the first path, of the module that was asked for
commands  what its `build` says
output    what came of it, packed
publish   into the builder's registry
"""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from attrs import frozen

from mesh_adapters.beside import reader
from mesh_adapters.build.git import Repositories, Unsafe
from mesh_adapters.build.packing import Unpackable, pack
from mesh_adapters.build.provenance import Made as Origin
from mesh_adapters.build.publishing import Access, Image, NotPublished, Tree, publish
from mesh_adapters.build.recipes import Made, Workshop, make
from mesh_adapters.build.registry_blobs import Unread
from mesh_adapters.build.registry_image import image_parts
from mesh_adapters.build.registry_text import Registry
from mesh_adapters.build.sandbox_attend import Watch
from mesh_adapters.build.sandbox_place import remove
from mesh_core.explain.sources import unfound
from mesh_core.model.build import Answer, Artifact, Built, Failed, Request, Step
from mesh_core.model.module import Module
from mesh_core.model.recipe import Container, Files
from mesh_core.model.resource import TREE
from mesh_core.model.source import Commit
from mesh_core.wire.document import read_module
from mesh_core.wire.faults import WireError
from mesh_core.wire.kinds import Kinds
from mesh_core.wire.text import MANIFEST_LIMIT, Syntax

MANIFESTS = (("module.toml", Syntax.TOML), ("module.json", Syntax.JSON))
"""The names that a module's manifest may have in its source."""
IMAGE = "built"

_FAULTS_TOLD = 5
_T = TypeVar("_T")


class Stopped(Exception):
    """The builder was asked to stop: that is no answer, and the request goes to another."""


@frozen(kw_only=True)
class Means:
    """What a builder has.

    `now` gives the instant in UTC as text; `kinds` are those whose attributes are checked.
    """

    builder: str
    repositories: Repositories
    workshop: Workshop
    registry: Registry
    access: Access
    kinds: Kinds
    now: Callable[[], str]


def build(request: Request, means: Means, work: Path, watch: Watch) -> Answer:
    """The answer to a request. `work` is an empty folder, of which nothing is left that anybody needs.

    Raises `Stopped` where `watch` says so, and what it raises.
    """
    return _Building(request, means, work, watch).answer()


class _Failure(Exception):
    """What ends a build here, as the answer says it."""

    def __init__(self, step: Step, why: str, log: tuple[str, ...] = ()) -> None:
        super().__init__(why)
        self.step, self.why, self.log = step, why, log


class _Building:
    def __init__(self, request: Request, means: Means, work: Path, watch: Watch) -> None:
        self._request = request
        self._means = means
        self._work = work
        self._watch = watch

    def answer(self) -> Answer:
        started = self._means.now()
        try:
            return self._built(started)
        except _Failure as failure:
            return self._failed(failure.step, failure.why, failure.log)
        except OSError as error:
            return self._failed(Step.SOURCE, f"the builder's machine refused: {error}", ())

    def _failed(self, step: Step, why: str, log: tuple[str, ...]) -> Failed:
        request = self._request.id
        return Failed(request=request, builder=self._means.builder, step=step, why=why, log=log)

    def _built(self, started: str) -> Built:
        source = self._work / "source"
        commit = self._check_out(source)
        manifest = self._manifest(source)
        made = self._make(manifest, source, commit, "first")
        content, what = self._packed(made, commit, "first")
        same = self._again(manifest, source, commit) == content if self._request.verify else None
        origin = Origin(
            request=self._request,
            version=manifest.version,
            commit=commit,
            builder=self._means.builder,
            started=started,
            finished=self._means.now(),
        )
        return Built(
            request=self._request.id,
            builder=self._means.builder,
            manifest=manifest,
            commit=commit,
            artifact=self._publish(what, origin, made.log),
            shut=made.shut,
            same=same,
            log=made.log,
        )

    def _check_out(self, into: Path) -> Commit:
        request = self._request
        found = self._means.repositories.check_out(request.repository, request.commit, request.paths, into)
        if isinstance(found, Commit):
            return found
        why = f"{found.path}: {found.why}" if isinstance(found, Unsafe) else unfound(found)
        raise _Failure(Step.SOURCE, why)

    def _manifest(self, source: Path) -> Module:
        """The module's manifest, which is a file of its own and no link."""
        folder = source / self._request.paths[0]
        there = [(folder / name, syntax) for name, syntax in MANIFESTS if (folder / name).is_file()]
        if len(there) != 1:
            names = " or ".join(name for name, _ in MANIFESTS)
            found = "both" if there else "neither"
            raise _Failure(Step.MANIFEST, f"wanted {names} in {self._request.paths[0]}, found {found}")
        ((path, syntax),) = there
        manifest = self._read(path, syntax)
        if manifest.name != self._request.module:
            why = f"{path.name} is the manifest of {manifest.name}, and {self._request.module} was asked for"
            raise _Failure(Step.MANIFEST, why)
        if isinstance(manifest.build, Container) and any(r.kind == TREE for r in manifest.resources):
            raise _Failure(
                Step.MANIFEST, f"{path.name}: an image is no tree; build files or commands for one"
            )
        return manifest

    def _read(self, path: Path, syntax: Syntax) -> Module:
        if path.is_symlink():
            raise _Failure(Step.MANIFEST, f"{path.name} is a link; wanted a file")
        with path.open("rb") as file:
            content = file.read(MANIFEST_LIMIT + 1)
        try:
            return read_module(content, syntax, beside=reader(str(path)), kinds=self._means.kinds)
        except WireError as error:
            told = [f"{path.name}: {fault}" for fault in error.faults]
            more = f" and {len(told) - 1} more" if len(told) > 1 else ""
            raise _Failure(Step.MANIFEST, told[0] + more, tuple(told[:_FAULTS_TOLD])) from None

    def _make(self, manifest: Module, source: Path, commit: Commit, turn: str) -> Made:
        """Without a recipe a module is its folder."""
        made = make(
            manifest.build or Files(),
            source,
            self._request.paths[0],
            at=commit.at,
            scratch=self._work / f"{turn}-scratch",
            workshop=self._means.workshop,
            watch=self._watch,
        )
        if isinstance(made, Made):
            return made
        if made.stopped:
            raise Stopped
        raise _Failure(made.step, made.why, made.log)

    def _packed(self, made: Made, commit: Commit, turn: str) -> tuple[str, Tree | Image]:
        """The digest of what was made, and it as it is published."""
        if made.image:
            image = Image(layout=made.path, name=IMAGE)
            parts = image_parts(image)
            if isinstance(parts, Unread):
                raise _Failure(Step.OUTPUT, parts.why, made.log)
            return parts.content, image
        tar = self._work / f"{turn}.tar"
        packed = pack(made.path, tar, commit.at)
        if isinstance(packed, Unpackable):
            raise _Failure(Step.OUTPUT, f"{packed.path}: {packed.why}", made.log)
        return packed.digest, Tree(tar=tar, packed=packed)

    def _again(self, manifest: Module, source: Path, commit: Commit) -> str:
        """The digest of what a second build makes, of which nothing is kept."""
        made = self._make(manifest, source, commit, "second")
        return self._packed(made, commit, "second")[0]

    def _publish(self, what: Tree | Image, origin: Origin, log: tuple[str, ...]) -> Artifact:
        means = self._means
        published = publish(means.registry, what, origin, work=self._work, access=means.access)
        if isinstance(published, NotPublished):
            raise _Failure(Step.PUBLISH, published.why, log)
        return published


def clear(work: Path) -> None:
    """Remove what a build left in its folder, whoever owns it by now."""
    for scratch in work.glob("*-scratch"):
        remove(scratch)
    shutil.rmtree(work, ignore_errors=True)
