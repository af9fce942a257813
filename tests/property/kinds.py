"""The kinds of problems and plans that a resolution can have (design, parts 3 and 5).

`kinds` says which of `KINDS` a resolution shows; the strategies and the cases are counted with it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import assert_never

from mesh_core import Answer, Mesh, Plan, Refusal, Resolution
from mesh_core.model.module import Module, Scope
from mesh_core.model.resolution import Outcome, Reason
from mesh_core.problems import (
    AmbiguousInMesh,
    AmbiguousOnNode,
    ClaimedElsewhere,
    ClaimedTwice,
    Cycle,
    MissingCapability,
    NoProvider,
    PinUnsatisfied,
    Problem,
    ResourceConflict,
    UnknownModule,
)

PROBLEMS = frozenset(
    {
        "unknown-module",
        "no-provider, asked from one",
        "no-provider, asked from every",
        "no-provider, asked both ways",
        "no-provider in the mesh",
        "ambiguous-provider on the node",
        "ambiguous-provider in the mesh",
        "ambiguous-provider with a pin",
        "pin-unsatisfied, no-such-node",
        "pin-unsatisfied, not-provided",
        "pin-unsatisfied, not-provided by that module",
        "missing-capability, absent",
        "missing-capability, unreported",
        "missing-capability, never-reported",
        "claim-conflict on the node, scope node",
        "claim-conflict on the node, scope mesh",
        "claim-conflict across nodes",
        "claim-conflict across nodes and on the node",
        "resource-conflict",
        "cycle",
        "cycle of three",
        "cycle, two of them",
        "cycle, and a module that only waits",
        "several codes",
    }
)
PLANS = frozenset(
    {
        "nothing",
        "assigned only",
        "pulled in",
        "pulled in by what is pulled in",
        "assigned and bound",
        "bound to the first of two",
        "own answer",
        "take",
        "from every, none",
        "from every, one",
        "from every, several",
        "from one and from every",
        "unsettled take from one",
        "unsettled take from every",
        "settled beside unsettled",
        "pinned by node",
        "pinned by module",
        "pinned against another offer",
        "shared resource",
        "refused, with answers",
    }
)
KINDS = PROBLEMS | PLANS


def kinds(mesh: Mesh, resolution: Resolution) -> frozenset[str]:
    """Every kind of problem and plan that a resolution of a mesh has."""
    found: set[str] = set()
    for outcome in resolution.outcomes:
        if isinstance(outcome, Refusal):
            found |= set(_refusal_kinds(mesh, outcome))
        else:
            found |= set(_plan_kinds(mesh, outcome, resolution))
    assert found <= KINDS, found - KINDS
    return frozenset(found)


def _refusal_kinds(mesh: Mesh, refusal: Refusal) -> Iterator[str]:
    problems = refusal.problems
    elsewhere = {p.claim for p in problems if isinstance(p, ClaimedElsewhere)}
    twice = {p.claim for p in problems if isinstance(p, ClaimedTwice)}
    cycles = [p for p in problems if isinstance(p, Cycle)]
    for problem in problems:
        yield _problem_kind(mesh, problem)
    if elsewhere & twice:
        yield "claim-conflict across nodes and on the node"
    if len(cycles) > 1:
        yield "cycle, two of them"
    if any(len(p.modules) > 2 for p in cycles):
        yield "cycle of three"
    if len(refusal.stuck) > sum(len(p.modules) for p in cycles):
        yield "cycle, and a module that only waits"
    if len({p.code for p in problems}) > 1:
        yield "several codes"
    if refusal.answers:
        yield "refused, with answers"


def _problem_kind(mesh: Mesh, problem: Problem) -> str:
    match problem:
        case NoProvider():
            return f"no-provider{_ways(mesh, problem)}"
        case AmbiguousOnNode():
            return "ambiguous-provider on the node"
        case AmbiguousInMesh():
            return f"ambiguous-provider {'with a pin' if problem.pin else 'in the mesh'}"
        case PinUnsatisfied():
            by = " by that module" if problem.exists and problem.pin.module else ""
            return f"pin-unsatisfied, {problem.why}{by}"
        case MissingCapability():
            return f"missing-capability, {problem.verdict}"
        case ClaimedTwice():
            return f"claim-conflict on the node, scope {problem.scope}"
        case ClaimedElsewhere():
            return "claim-conflict across nodes"
        case UnknownModule() | ResourceConflict() | Cycle():
            return problem.code
        case _:
            assert_never(problem)


def _ways(mesh: Mesh, problem: NoProvider) -> str:
    if problem.scope is Scope.MESH:
        return " in the mesh"
    ways = {
        requirement.every
        for module in mesh.catalogue
        for requirement in module.requires
        if module.name in problem.required_by and requirement.name == problem.provision
    }
    told = "both ways" if len(ways) == 2 else "from every" if ways == {True} else "from one"
    return f", asked {told}"


def _plan_kinds(mesh: Mesh, plan: Plan, resolution: Resolution) -> Iterator[str]:
    if not plan.modules:
        yield "nothing"
    elif all(module.reason is Reason.ASSIGNED and not module.by for module in plan.modules):
        yield "assigned only"
    yield from _module_kinds(mesh, plan)
    for answer in plan.answers:
        yield from _answer_kinds(mesh, plan, answer, resolution)
    yield from _every_kinds(mesh, plan)
    if plan.unsettled and len(plan.unsettled) < len(plan.takes):
        yield "settled beside unsettled"


def _module_kinds(mesh: Mesh, plan: Plan) -> Iterator[str]:
    reasons = {module.name: module.reason for module in plan.modules}
    for module in plan.modules:
        if module.reason is Reason.PULLED_IN:
            yield "pulled in"
            if any(reasons[by.module] is Reason.PULLED_IN for by in module.by):
                yield "pulled in by what is pulled in"
        elif module.by:
            yield "assigned and bound"
    here = list(_manifests(mesh, plan))
    for binding in plan.bindings:
        if sum(_provides(module, binding.requires) for module in here) > 1:
            yield "bound to the first of two"
    declared = [resource.identity for module in here for resource in module.resources]
    if len(set(declared)) < len(declared):
        yield "shared resource"


def _answer_kinds(mesh: Mesh, plan: Plan, answer: Answer, resolution: Resolution) -> Iterator[str]:
    yield "own answer" if answer.node == plan.node else "take"
    if answer in plan.unsettled:
        yield f"unsettled take from {'every' if answer.every else 'one'}"
    node = mesh.node(plan.node)
    pin = node.pin(answer.provision) if node and not answer.every else None
    if pin is not None:
        yield "pinned by module" if pin.module else "pinned by node"
        if _offers(mesh, answer.provision, resolution) > 1:
            yield "pinned against another offer"


def _every_kinds(mesh: Mesh, plan: Plan) -> Iterator[str]:
    scopes = {p.name: p.scope for module in mesh.catalogue for p in module.provides}
    asked = {
        (requirement.name, requirement.every)
        for module in _manifests(mesh, plan)
        for requirement in module.requires
        if scopes[requirement.name] is Scope.MESH
    }
    for name in {name for name, every in asked if every}:
        count = sum(answer.every and answer.provision == name for answer in plan.answers)
        yield f"from every, {('none', 'one', 'several')[min(count, 2)]}"
        if (name, False) in asked:
            yield "from one and from every"


def _manifests(mesh: Mesh, outcome: Outcome) -> Iterator[Module]:
    return (module for module in mesh.catalogue if module.name in outcome.members)


def _provides(module: Module, name: str) -> bool:
    return any(provision.name == name for provision in module.provides)


def _offers(mesh: Mesh, name: str, resolution: Resolution) -> int:
    return sum(
        _provides(module, name) for outcome in resolution.outcomes for module in _manifests(mesh, outcome)
    )
