"""How one mesh differs from another, as the changes that lead from the one to the other."""

from __future__ import annotations

from mesh_core.change import Change, DropModule, DropNode, PutModule, PutNode, apply_all
from mesh_core.model.mesh import Mesh


def difference(before: Mesh, after: Mesh) -> tuple[Change, ...]:
    """The changes that make `after` of `before`, none that changes nothing.

    Nodes are dropped first (which takes the pins at them along), modules last, when nothing names them.
    """
    dropped = tuple(DropNode(node=n.name) for n in before.nodes if after.node(n.name) is None)
    left = apply_all(before, dropped)
    return (
        *dropped,
        *(PutModule(module=m) for m in after.catalogue if left.catalogue.get(m.name) != m),
        *(PutNode(node=node) for node in after.nodes if left.node(node.name) != node),
        *(DropModule(module=m.name) for m in left.catalogue if m.name not in after.catalogue),
    )
