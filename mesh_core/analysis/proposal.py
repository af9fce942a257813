"""A proposal: changes that somebody wants to make, worked out to the end before anything is recorded."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import evolve, frozen

from mesh_core.analysis.consequences import Consequences, consequences
from mesh_core.analysis.keep import keeping
from mesh_core.analysis.material import Settled
from mesh_core.change import Assign, Change, PutModule, SetPin, apply_all
from mesh_core.model.material import MaterialFault
from mesh_core.model.mesh import Mesh
from mesh_core.model.origin import HANDED
from mesh_core.model.resolution import Resolution
from mesh_core.resolve.resolution import resolve


@frozen(kw_only=True)
class Proposal:
    """Changes, what they make of a mesh, and what that does to whom.

    `changes` are empty where the mesh would stay as it is, and none of them says that a manifest came from
    elsewhere than from a person. `kept` are those of them that were added to keep what stands. `material`
    are the material faults of nodes that did not count as refused before.
    """

    changes: tuple[Change, ...]
    kept: tuple[Assign | SetPin, ...]
    before: Mesh
    after: Mesh
    resolution: Resolution
    consequences: Consequences
    material: tuple[MaterialFault, ...] = ()

    @property
    def harmful(self) -> bool:
        """Whether it takes a person's word: a node would count as refused, or somebody's data would move."""
        return self.consequences.harmful or bool(self.material)


def propose(mesh: Mesh, changes: Iterable[Change], *, keep: bool = False) -> Proposal:
    """What `changes` would make of a mesh; with `keep`, and what keeps the rest of it as it stands.

    Raises what `apply_all` raises.
    """
    changes = tuple(changes)
    kept = keeping(mesh, changes) if keep else ()
    after = apply_all(mesh, (*changes, *kept))
    resolution = resolve(after)
    return Proposal(
        changes=(*changes, *kept) if after != mesh or any(map(_says_where_from, changes)) else (),
        kept=kept,
        before=mesh,
        after=after,
        resolution=resolution,
        consequences=consequences((*changes, *kept), mesh, resolve(mesh), resolution),
    )


def _says_where_from(change: Change) -> bool:
    """A mesh does not have where its manifests came from, so an equal one is no reason to drop this."""
    return isinstance(change, PutModule) and change.origin != HANDED


def with_material(proposal: Proposal, was: Settled, will_be: Settled) -> Proposal:
    """A proposal that knows of material faults; `was` and `will_be` are those of the mesh before and after.

    A node that is refused before as after is not mended by having another reason for it.
    """
    new = tuple(fault for fault in will_be.faults if fault.node not in was.refused)
    mended = (was.refused - will_be.refused) & will_be.resolution.nodes.keys()
    effects = evolve(proposal.consequences, mended=tuple(sorted(mended)))
    return evolve(proposal, material=new, consequences=effects)
