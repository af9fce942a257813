"""How it stands with every module: where it came from, how it stands to its source, who runs it.

Design, part 10.

Which machines run a module is what they reported, never what they were sent. A report has the names of
modules and the generation that was applied; which manifest that generation had is what the control plane
sent.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from attrs import evolve, frozen

from mesh_core.delivery import Delivery, delivery
from mesh_core.model.build import Build
from mesh_core.model.mesh import Mesh
from mesh_core.model.origin import Put
from mesh_core.model.sent import Sent, Standing
from mesh_core.model.source import Seen, Source
from mesh_core.wire.declaration import on_machine


@frozen(kw_only=True)
class Running:
    """A machine runs a module by its last report.

    `digest` is that of what it runs, as it was sent in the generation that the machine last applied; None
    where that is not known (any more). `current` is whether it is what the catalogue has now, where that is
    known. `failed` is whether it could not all be made so: what is there then is not known.
    """

    node: str
    digest: str | None
    current: bool | None
    failed: bool = False


@frozen(kw_only=True)
class StateOfModule:
    """How it stands with one module.

    `put` is what the catalogue has of it, None where its name has a source and no manifest yet; `seen` is
    what is known of the source. `held` is the build that waits for somebody's word, `underway` the newest
    that is not over. `on` are the machines that run it, by name.
    """

    name: str
    put: Put | None
    source: Source | None
    seen: Seen
    delivery: Delivery
    held: Build | None = None
    underway: Build | None = None
    on: tuple[Running, ...] = ()


@frozen(kw_only=True)
class Records:
    """What the store knows beside the mesh, by the module's name but for `open_builds`."""

    current: Mapping[str, Put]
    heads: Mapping[str, Seen]
    held: Mapping[str, Build]
    open_builds: tuple[Build, ...] = ()


def states_of_modules(
    mesh: Mesh, records: Records, standings: Iterable[Standing]
) -> dict[str, StateOfModule]:
    """How it stands with every module of the catalogue, and every name that has a source, by name."""
    sources = dict(mesh.sources)
    on = running(standings)
    underway = {build.request.module: build for build in records.open_builds}
    names = sorted({module.name for module in mesh.catalogue} | sources.keys())
    return {
        name: _state(name, sources.get(name), records, underway.get(name), on.get(name, ())) for name in names
    }


def _state(
    name: str,
    source: Source | None,
    records: Records,
    underway: Build | None,
    on: Iterable[Running],
) -> StateOfModule:
    put, seen = records.current.get(name), records.heads.get(name, Seen())
    return StateOfModule(
        name=name,
        put=put,
        source=source,
        seen=seen,
        delivery=delivery(source, seen, put.origin if put is not None else None),
        held=records.held.get(name),
        underway=underway,
        on=_against(put, on),
    )


def _against(put: Put | None, on: Iterable[Running]) -> tuple[Running, ...]:
    """Who runs a module, held against what the catalogue has. Nobody is accused of what is not known."""
    current = None if put is None else on_machine(put.manifest)
    if current is None:
        return tuple(on)
    return tuple(one if one.digest is None else evolve(one, current=one.digest == current) for one in on)


def running(standings: Iterable[Standing]) -> dict[str, list[Running]]:
    """By module, the machines that run it by their last report, each with the digest of what it runs."""
    found: defaultdict[str, list[Running]] = defaultdict(list)
    for standing in standings:
        if standing.report is None:
            continue
        applied, failed = applied_of(standing), {*standing.report.failed}
        digests = dict(applied.manifests) if applied is not None else {}
        for module in standing.report.modules:
            lost = module in failed
            digest = None if lost else digests.get(module)
            found[module].append(Running(node=standing.node, digest=digest, current=None, failed=lost))
    return dict(found)


def applied_of(standing: Standing) -> Sent | None:
    """What the machine last made so, as it was sent; None where that is not kept."""
    applied = standing.report.applied if standing.report is not None else None
    return next((sent for sent in standing.sent if sent.generation == applied), None)
