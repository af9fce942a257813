"""What changes would do to whom, with the material faults that they make or mend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from mesh_cli.wiring import settled

if TYPE_CHECKING:
    from mesh_core.analysis.proposal import Proposal
    from mesh_core.change import Change
    from mesh_core.model.mesh import Mesh


def judged(mesh: Mesh, changes: Iterable[Change], *, keep: bool = False) -> Proposal:
    """The proposal with everything that counts; where nothing can be immaterial it costs one look more.

    Raises `CatalogueError` for manifests that cannot stand beside the others.
    """
    from mesh_core.analysis.material import may_be_immaterial
    from mesh_core.analysis.proposal import propose, with_material
    from mesh_core.resolve import resolve

    proposal = propose(mesh, changes, keep=keep)
    if not proposal.changes or not (may_be_immaterial(proposal.before) or may_be_immaterial(proposal.after)):
        return proposal
    was = settled(proposal.before, resolve(proposal.before))
    return with_material(proposal, was, settled(proposal.after, proposal.resolution))
