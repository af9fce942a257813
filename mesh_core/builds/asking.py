"""What to ask builders for (design, parts 9 to 11)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from attrs import frozen

from mesh_core.delivery import Delivery, delivery
from mesh_core.model.build import Build, Request
from mesh_core.model.mesh import Mesh
from mesh_core.model.origin import Origin, Put
from mesh_core.model.source import Commit, Seen, Source, Unfound


@frozen(kw_only=True)
class ToAsk:
    """This module is to be built from its source, at this commit."""

    module: str
    source: Source
    commit: Commit

    def request(self, id: str, *, verify: bool = False) -> Request:
        """As it is asked, under an id that nobody had before. Raises `InvalidValue`."""
        return Request(
            id=id,
            module=self.module,
            repository=self.source.repository,
            ref=self.source.ref,
            paths=self.source.paths,
            commit=self.commit.id,
            verify=verify,
        )


@frozen(kw_only=True)
class AskedAlready:
    """> Asking twice for one commit is one build"""

    build: Build


@frozen(kw_only=True)
class NothingToBuild:
    """The module has no source."""

    module: str


@frozen(kw_only=True)
class NoHead:
    """Nobody has seen a commit of its source; `unfound` is what the last look ran into, if any did."""

    module: str
    unfound: Unfound | None


Asking: TypeAlias = ToAsk | AskedAlready | NothingToBuild | NoHead


def asking(mesh: Mesh, heads: Mapping[str, Seen], open_builds: Iterable[Build], module: str) -> Asking:
    """What a wish to have a module built comes to. `open_builds` are those that are not over."""
    source = mesh.source(module)
    if source is None:
        return NothingToBuild(module=module)
    seen = heads.get(module, Seen())
    if seen.head is None:
        return NoHead(module=module, unfound=seen.unfound)
    wanted = ToAsk(module=module, source=source, commit=seen.head)
    same = (build for build in open_builds if _asks_for(build.request, wanted))
    already = next(same, None)
    return wanted if already is None else AskedAlready(build=already)


def _asks_for(request: Request, wanted: ToAsk) -> bool:
    """Whether it is the same but for its id, and for whether it is built twice."""
    return wanted.request(request.id, verify=request.verify) == request


def behind(
    mesh: Mesh, heads: Mapping[str, Seen], current: Mapping[str, Put], held: Mapping[str, Build]
) -> tuple[str, ...]:
    """The modules to be built so that nothing is behind: those that are, and those that were never built.

    What was built of the head and is held needs somebody's word, and no other build.
    """
    wanting = (Delivery.BEHIND, Delivery.NEVER_BUILT)
    return tuple(
        name
        for name, source in mesh.sources
        if delivery(source, heads.get(name, Seen()), _origin(current.get(name))) in wanting
        and not _is_of_head(held.get(name), heads.get(name, Seen()))
    )


def _is_of_head(build: Build | None, seen: Seen) -> bool:
    return build is not None and seen.head is not None and build.request.commit == seen.head.id


def _origin(put: Put | None) -> Origin | None:
    return None if put is None else put.origin
