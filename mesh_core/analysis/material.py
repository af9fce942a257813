"""Material faults of a resolved mesh, and the resolution as it is once their nodes count as refused.

Whether a resource can be made is the business of its kind: what finds faults in a declaration is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from itertools import chain
from typing import TypeAlias

from attrs import evolve, field, frozen

from mesh_core.declare import declare
from mesh_core.model.declaration import Declaration
from mesh_core.model.material import MaterialFault
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Module
from mesh_core.model.resolution import Plan, Refusal, Resolution
from mesh_core.model.resource import TREE, Resource

Find: TypeAlias = Callable[[Declaration], Iterable[MaterialFault]]
"""Every material fault of a declaration, in its order. Pure."""


@frozen(kw_only=True)
class Settled:
    """A resolution whose `unsettled` takes are also those from nodes with a material fault.

    `faults` have those that follow from others behind them; else they are by node, then in its order.
    """

    resolution: Resolution
    faults: tuple[MaterialFault, ...] = ()
    refused: frozenset[str] = field(init=False, eq=False, repr=False)
    """Every node that counts as refused."""

    @refused.default
    def _refused(self) -> frozenset[str]:
        refused = {refusal.node for refusal in self.resolution.refusals}
        return frozenset(refused.union(fault.node for fault in self.faults))


def may_be_immaterial(mesh: Mesh) -> bool:
    """Whether any resource may have a template, or wait for a build, as far as one can say who knows no kind.

    This is quick.
    """
    return any(_may_be(resource) for module in mesh.catalogue for resource in module.resources)


def _may_be(resource: Resource) -> bool:
    said = resource.attributes_json
    return '"template":' in said or (resource.kind == TREE and '"artifact":' not in said)


def settle(mesh: Mesh, resolution: Resolution, *, may_have: Callable[[Module], bool], find: Find) -> Settled:
    """Look for the material faults of every planned node that has a module which `may_have` some.

    A node's own faults never come from another's, but for this: an unsettled take from every is left out of
    a declaration, so whoever took one from a node with a fault is looked at again without it.
    """
    concerned = {module.name for module in mesh.catalogue if may_have(module)}
    looking = [plan for plan in resolution.plans if concerned and concerned & plan.members]
    if not looking:
        return Settled(resolution=resolution)
    faults: dict[str, tuple[MaterialFault, ...]] = {}
    while looking:
        found = {plan.node: tuple(find(declare(plan, mesh, generation=1))) for plan in looking}
        new = {node: them for node, them in found.items() if them}
        faults |= new
        before = resolution
        resolution = _unsettled_from(resolution, new.keys())
        looking = [
            plan
            for plan in resolution.plans
            if plan.node not in faults and concerned & plan.members and _lost(plan, before.nodes[plan.node])
        ]
    return Settled(resolution=resolution, faults=tuple(chain.from_iterable(faults.values())))


def _unsettled_from(resolution: Resolution, nodes: Collection[str]) -> Resolution:
    """The same resolution, with every take from these nodes unsettled."""
    if not nodes:
        return resolution
    return Resolution(outcomes=[_unsettled(outcome, nodes) for outcome in resolution.outcomes])


def _unsettled(outcome: Plan | Refusal, nodes: Collection[str]) -> Plan | Refusal:
    if not isinstance(outcome, Plan):
        return outcome
    unsettled = tuple(t for t in outcome.takes if t in outcome.unsettled or t.node in nodes)
    return outcome if len(unsettled) == len(outcome.unsettled) else evolve(outcome, unsettled=unsettled)


def _lost(plan: Plan, before: Plan | Refusal) -> bool:
    """Whether something is left out of its declaration now that was not before."""
    was = before.unsettled if isinstance(before, Plan) else ()
    return any(take.every for take in plan.unsettled if take not in was)
