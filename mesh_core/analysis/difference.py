"""How one mesh differs from another, as the changes that lead from the one to the other."""

from __future__ import annotations

from mesh_core.change import (
    Change,
    DropModule,
    DropNode,
    DropSource,
    PutModule,
    PutNode,
    SetNetwork,
    SetSource,
    apply_all,
)
from mesh_core.faults import InvalidValue
from mesh_core.model.mesh import Mesh


def difference(before: Mesh, after: Mesh) -> tuple[Change, ...]:
    """The changes that make `after` of `before`, none that changes nothing.

    Nodes are dropped first (which takes the pins at them along, and retires their addresses), modules last,
    when nothing names them; with a module its source goes, so sources come after them. A network that goes
    takes the addresses of nodes along, so it goes before they are put; one that is there then is said after
    them, where they have not made it so themselves.
    """
    first: tuple[Change, ...] = tuple(
        DropNode(node=n.name) for n in before.nodes if after.node(n.name) is None
    )
    if before.network is not None and after.network is None:
        first = (*first, SetNetwork(network=None))
    left = apply_all(before, first)
    puts = tuple(PutNode(node=node) for node in after.nodes if left.node(node.name) != node)
    gone = [module.name for module in left.catalogue if module.name not in after.catalogue]
    return (
        *first,
        *(PutModule(module=m) for m in after.catalogue if left.catalogue.get(m.name) != m),
        *puts,
        *((SetNetwork(network=after.network),) if _has_another_network(left, puts, after) else ()),
        *(DropModule(module=name) for name in gone),
        *_of_sources(before, after, gone),
    )


def _has_another_network(left: Mesh, puts: tuple[PutNode, ...], after: Mesh) -> bool:
    """Whether the nodes as they are after it do not yet make the network what it is after it."""
    try:
        return apply_all(left, puts).network != after.network
    except InvalidValue:  # addresses of another range
        return True


def _of_sources(before: Mesh, after: Mesh, gone: list[str]) -> tuple[Change, ...]:
    was, wanted = {name: source for name, source in before.sources if name not in gone}, dict(after.sources)
    return (
        *(SetSource(module=name, source=source) for name, source in after.sources if was.get(name) != source),
        *(DropSource(module=name) for name in was if name not in wanted),
    )
