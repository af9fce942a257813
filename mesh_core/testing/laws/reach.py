"""Laws 7, 8 and 10: how far it reaches when something changes elsewhere, or for the better."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import count
from typing import Any

import hypothesis
from attrs import evolve

from mesh_core.change import Assign, Change, DropModule, DropNode, PutModule, Unassign, Unpin, apply
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Claim, Module, Provision, Scope
from mesh_core.model.node import Capability, Node, Pin
from mesh_core.model.resolution import Outcome, Plan, Refusal, Resolution
from mesh_core.problems import key
from mesh_core.testing.laws.law import Law, Resolver, broken, keep, nowhere, whole
from mesh_core.testing.strategies.dice import Dice
from mesh_core.testing.strategies.of_changes import any_changed_mesh


def check_locality(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Design, part 3, law 7:

    > *Locality*: what n gets depends only on n's own entry, on whether the nodes it is pinned at
    > exist, on the manifests of S(n), the modules in the catalogue that provide the names these
    > require, the offers of those names, the holders of their mesh-scoped claims, and (for
    > `unsettled`) on whether the nodes it takes from are refused.

    Whatever changes in a mesh: a node for which none of these changes gets the same. That is seen for
    any few changes, and for each that gives or takes one thing, or makes a version another. Raises
    `AssertionError`.
    """
    resolved = whole(Law.LOCALITY, resolve)

    def locality(mesh: Mesh, dice: Dice) -> None:
        before = resolved(mesh)
        several, other = any_changed_mesh(dice, mesh)
        found = [(several, other), *(((one,), apply(mesh, one)) for one in _single_changes(mesh))]
        for changes, changed in found:
            after = resolved(changed)
            for name in _touched_for_nothing(mesh, before, changed, after):
                what = f"{name} gets something else after {changes}, which is not its business"
                broken(Law.LOCALITY, what, mesh, changed)

    keep(Law.LOCALITY, locality, settings)


def _single_changes(mesh: Mesh) -> Iterator[Change]:
    for node in mesh.nodes:
        yield DropNode(node=node.name)
        yield from (Unpin(node=node.name, provision=pin.provision) for pin in node.pins)
        yield from (Unassign(node=node.name, module=module) for module in node.assigned)
        yield from (Assign(node=node.name, module=module.name) for module in mesh.catalogue)
    for module in mesh.catalogue:
        yield DropModule(module=module.name)
        yield PutModule(module=evolve(module, version="1" if module.version == "2" else "2"))


def _touched_for_nothing(mesh: Mesh, before: Resolution, other: Mesh, after: Resolution) -> Iterator[str]:
    """The nodes that get something else, where all that counts for them is the same."""
    for name, outcome in before.nodes.items():
        if name in after.nodes and after.nodes[name] != outcome:
            counted = (_all_that_counts(m, r, outcome) for m, r in ((mesh, before), (other, after)))
            if next(counted) == next(counted):
                yield name


def _all_that_counts(mesh: Mesh, resolution: Resolution, outcome: Outcome) -> dict[str, Any]:
    """What the law lists, for the node of an outcome and the S(n) in it.

    That S(n) is looked up in this mesh, whatever the resolution gives the node; what other nodes
    offer and hold is by their S in the resolution, which the law binds in its turn.
    """
    node = mesh.node(outcome.node)
    assigned, pins = (node.assigned, node.pins) if node else ((), ())
    manifests = {name: mesh.catalogue.get(name) for name in {*outcome.members, *assigned}}
    found = [module for module in manifests.values() if module is not None]
    required = {requirement.name for module in found for requirement in module.requires}
    claimed = {claim.name for module in found for claim in module.claims}
    members = {other.node: other.members for other in resolution.outcomes}
    members[outcome.node] = outcome.members
    placed = [(at, m) for at, names in members.items() for m in mesh.catalogue if m.name in names]
    provided = [(m.name, p) for m in mesh.catalogue for p in m.provides if p.name in required]
    return {
        "own entry": node,
        "pinned at": {pin.node: mesh.node(pin.node) is not None for pin in pins},
        "manifests": manifests,
        "providers": {(module, p.name, p.scope) for module, p in provided},
        "offers": _standing(placed, required, lambda module: module.provides),
        "holders": _standing(placed, claimed, lambda module: module.claims),
        "refused": {take.node: _refused(resolution, take.node) for take in outcome.takes},
    }


def _standing(
    placed: list[tuple[str, Module]],
    names: set[str],
    said: Callable[[Module], Iterable[Provision | Claim]],
) -> set[tuple[str, str, str]]:
    """Which module on which node stands behind each of these names, with scope mesh."""
    return {
        (node, module.name, entry.name)
        for node, module in placed
        for entry in said(module)
        if entry.scope is Scope.MESH and entry.name in names
    }


def _refused(resolution: Resolution, node: str) -> bool:
    return isinstance(resolution.nodes.get(node), Refusal)


def check_isolation(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Design, part 3, law 8:

    > *Isolation*: a node's problems are worked out without any other node's problems.

    All other nodes are refused, and then as few of them as can be: the node's problems, modules and
    answers stay. Raises `AssertionError`.
    """
    resolved = whole(Law.ISOLATION, resolve)

    def isolation(mesh: Mesh, _: Dice) -> None:
        before = resolved(mesh)
        for name, outcome in before.nodes.items():
            for other in (_spoilt_but(mesh, name), _mended_but(mesh, name)):
                after = resolved(other)
                now = after.nodes[name]
                if _settled(now) != _settled(outcome):
                    what = f"other nodes' problems change what {name} gets"
                    broken(Law.ISOLATION, what, mesh, other)
                unsettled = [take for take in outcome.takes if _refused(after, take.node)]
                if isinstance(now, Plan) and list(now.unsettled) != unsettled:
                    what = f"the unsettled takes of {name} are not those from refused nodes"
                    broken(Law.ISOLATION, what, mesh, other)

    keep(Law.ISOLATION, isolation, settings)


def _settled(outcome: Plan | Refusal) -> Plan | Refusal:
    return evolve(outcome, unsettled=()) if isinstance(outcome, Plan) else outcome


def _unknown(mesh: Mesh) -> str:
    """A module that the catalogue does not have."""
    return next(name for n in count() if (name := f"unknown{n}") not in mesh.catalogue)


def _spoilt_but(mesh: Mesh, name: str) -> Mesh:
    """The mesh with every problem for all other nodes that does not change what they offer."""
    unknown, away = _unknown(mesh), nowhere(mesh)
    names = {p.name for module in mesh.catalogue for p in module.provides}
    pins = [Pin(provision=provision, node=away) for provision in names]

    def spoilt(node: Node) -> Node:
        return evolve(node, assigned=(*node.assigned, unknown), capabilities=(), pins=pins)

    return _with_others(mesh, name, spoilt)


def _mended_but(mesh: Mesh, name: str) -> Mesh:
    """The mesh without those problems of other nodes that do not come from what they offer."""

    def mended(node: Node) -> Node:
        assigned = [module for module in node.assigned if module in mesh.catalogue]
        return evolve(node, assigned=assigned, capabilities=_all_present(mesh), pins=())

    return _with_others(mesh, name, mended)


def _with_others(mesh: Mesh, name: str, changed: Callable[[Node], Node]) -> Mesh:
    return evolve(mesh, nodes=[node if node.name == name else changed(node) for node in mesh.nodes])


def _all_present(mesh: Mesh) -> list[Capability]:
    return [Capability(name=name) for name in sorted(_needed(mesh))]


def _needed(mesh: Mesh) -> set[str]:
    return {capability for module in mesh.catalogue for capability in module.capabilities}


def check_monotone_capabilities(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Design, part 3, law 10:

    > *Monotone capabilities*: turning a verdict to present refuses no planned node, and adds to
    > no node a problem with a new key (part 5).

    Each verdict on each node by itself, and all of a mesh one after the other. Raises
    `AssertionError`.
    """
    law = Law.MONOTONE_CAPABILITIES
    resolved = whole(law, resolve)

    def monotone_capabilities(mesh: Mesh, _: Dice) -> None:
        before = resolved(mesh)
        every = mesh
        for node, capability in _not_present(mesh):
            every = _turned(every, node, capability)
            for better in (_turned(mesh, node, capability), every):
                wrong = _worse(before, resolved(better))
                if wrong:
                    broken(law, f"{capability} turns present on {node}, and {wrong}", mesh, better)

    keep(law, monotone_capabilities, settings)


def _not_present(mesh: Mesh) -> list[tuple[str, str]]:
    return [
        (node.name, capability)
        for node in mesh.nodes
        for capability in sorted(_needed(mesh) | {c.name for c in node.capabilities or ()})
        if node.lacks(capability)
    ]


def _turned(mesh: Mesh, name: str, capability: str) -> Mesh:
    """The mesh in which that node reports that capability present, and all else as before."""
    present = Capability(name=capability)

    def turned(node: Node) -> Node:
        kept = [said for said in node.capabilities or () if said.name != capability]
        return evolve(node, capabilities=[*kept, present])

    return evolve(mesh, nodes=[turned(node) if node.name == name else node for node in mesh.nodes])


def _worse(before: Resolution, after: Resolution) -> str:
    """What is refused or wrong after that was not before; empty where nothing is."""
    for outcome in after.refusals:
        earlier = before.nodes[outcome.node]
        if isinstance(earlier, Plan):
            return f"{outcome.node} is refused"
        new = {key(p) for p in outcome.problems} - {key(p) for p in earlier.problems}
        if new:
            return f"{outcome.node} has a new problem: {sorted(new)[0]}"
    return ""
