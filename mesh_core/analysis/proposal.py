"""A proposal: changes that somebody wants to make, worked out to the end before anything is recorded."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from mesh_core.analysis.consequences import Consequences, consequences
from mesh_core.analysis.keep import keeping
from mesh_core.change import Assign, Change, SetPin, apply_all
from mesh_core.model.mesh import Mesh
from mesh_core.model.resolution import Resolution
from mesh_core.resolve.resolution import resolve


@frozen(kw_only=True)
class Proposal:
    """Changes, what they make of a mesh, and what that does to whom.

    `changes` are empty where the mesh would stay as it is. `kept` are those of them that were added to
    keep what stands.
    """

    changes: tuple[Change, ...]
    kept: tuple[Assign | SetPin, ...]
    before: Mesh
    after: Mesh
    resolution: Resolution
    consequences: Consequences


def propose(mesh: Mesh, changes: Iterable[Change], *, keep: bool = False) -> Proposal:
    """What `changes` would make of a mesh; with `keep`, and what keeps the rest of it as it stands.

    Raises what `apply_all` raises.
    """
    changes = tuple(changes)
    kept = keeping(mesh, changes) if keep else ()
    after = apply_all(mesh, (*changes, *kept))
    resolution = resolve(after)
    return Proposal(
        changes=(*changes, *kept) if after != mesh else (),
        kept=kept,
        before=mesh,
        after=after,
        resolution=resolution,
        consequences=consequences((*changes, *kept), mesh, resolve(mesh), resolution),
    )
