"""Laws 3 and 4: a plan holds nothing that nobody asked for, and everything that it needs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import hypothesis
from attrs import evolve

from mesh_core.change import Unassign, apply
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Module, Requirement, Scope
from mesh_core.model.resolution import Plan, PlannedModule, Reason, Refusal, Resolution
from mesh_core.testing.laws.law import Law, Resolver, broken, keep, whole
from mesh_core.testing.strategies.dice import Dice


def check_minimality(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Design, part 3, law 3:

    > *Minimality*: every module in a plan is assigned, or bound by another in the plan.
    > Taking an assignment away gives exactly the resolution of the mesh that never had it.

    Raises `AssertionError`.
    """
    resolved = whole(Law.MINIMALITY, resolve)

    def minimality(mesh: Mesh, _: Dice) -> None:
        without = _each_without_one(mesh)
        never = [resolved(fewer) for taken, fewer in without]
        for plan in resolved(mesh).plans:
            for module in plan.modules:
                wrong = _uncalled_for(mesh, plan, module)
                if wrong:
                    broken(Law.MINIMALITY, f"{module.name} on {plan.node} {wrong}", mesh)
        for (taken, _fewer), expected in zip(without, never, strict=True):
            if resolved(apply(mesh, taken)) != expected:
                broken(Law.MINIMALITY, f"something stays of what was taken away: {taken}", mesh)

    keep(Law.MINIMALITY, minimality, settings)


def _each_without_one(mesh: Mesh) -> list[tuple[Unassign, Mesh]]:
    """For every assignment: what takes it away, and the mesh that never had it, made anew."""
    return [
        (
            Unassign(node=node.name, module=module),
            Mesh(
                catalogue=mesh.catalogue,
                nodes=[
                    evolve(other, assigned=[m for m in other.assigned if m != module])
                    if other.name == node.name
                    else other
                    for other in mesh.nodes
                ],
            ),
        )
        for node in mesh.nodes
        for module in node.assigned
    ]


def _uncalled_for(mesh: Mesh, plan: Plan, module: PlannedModule) -> str:
    """Why a module of a plan should not be there in this way; empty when it should."""
    node = mesh.node(plan.node)
    assigned = node is not None and module.name in node.assigned
    if (module.reason is Reason.ASSIGNED) is not assigned:
        return "is said to be assigned and is not, or the other way round"
    if not assigned and not module.by:
        return "is neither assigned nor bound"
    for dependent in module.by:
        asking = mesh.catalogue.get(dependent.module)
        if asking is None or asking.name == module.name or asking.name not in plan.order:
            return f"is bound by {dependent.module}, which is no other module of the plan"
        if Requirement(name=dependent.requires) not in asking.requires:
            return f"is bound by {asking.name}, which does not require {dependent.requires}"
    return ""


def check_soundness(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Design, part 3, law 4:

    > *Soundness*: in a plan every requirement from one provider is bound on the node or answered
    > by an offer, every capability is present, and no claim stands twice on a planned node, no
    > mesh-scoped one twice among them. The takes from refused nodes are exactly its unsettled
    > ones: where there is none, wiping every planned node and giving it its plan gives a mesh
    > that works. (What a refused node still has from before is outside the resolution; `push`
    > looks after it.)

    Raises `AssertionError`.
    """
    resolved = whole(Law.SOUNDNESS, resolve)

    def soundness(mesh: Mesh, _: Dice) -> None:
        resolution = resolved(mesh)
        for wrong in (*_unmet(mesh, resolution), *_claimed_twice(mesh, resolution)):
            broken(Law.SOUNDNESS, wrong, mesh)
        for plan in resolution.plans:
            refused = [t for t in plan.takes if isinstance(resolution.nodes[t.node], Refusal)]
            if list(plan.unsettled) != refused:
                broken(Law.SOUNDNESS, f"{plan.node} does not say which takes are unsettled", mesh)
        if not any(plan.unsettled for plan in resolution.plans):
            wiped = _wiped(mesh, resolution)
            if _works(resolution) != _works(resolved(wiped)):
                broken(Law.SOUNDNESS, "planned nodes that get their plans do not work", mesh, wiped)

    keep(Law.SOUNDNESS, soundness, settings)


def _unmet(mesh: Mesh, resolution: Resolution) -> Iterator[str]:
    """Every requirement and capability of a planned module that its plan does not see to."""
    scopes = {p.name: p.scope for module in mesh.catalogue for p in module.provides}
    for plan in resolution.plans:
        node = mesh.node(plan.node)
        for module in _manifests(mesh, plan):
            for requirement in module.requires:
                met = _met_in_mesh if scopes.get(requirement.name) is Scope.MESH else _met_on_node
                if not met(mesh, resolution, plan, module, requirement):
                    yield f"{module.name} on {plan.node} has no {requirement}"
            for capability in module.capabilities:
                if node is None or node.lacks(capability):
                    yield f"{module.name} on {plan.node} lacks the capability {capability}"


def _met_on_node(
    mesh: Mesh, resolution: Resolution, plan: Plan, module: Module, requirement: Requirement
) -> bool:
    """Whether it is bound once, to the first module of the plan that provides it, which comes before."""
    bound = [
        binding.provider
        for binding in plan.bindings
        if (binding.module, binding.requires) == (module.name, requirement.name)
    ]
    providing = [other.name for other in _manifests(mesh, plan) if _provides(other, requirement)]
    before = plan.order[: plan.order.index(module.name)]
    return not requirement.every and bound == providing[:1] and {*bound} <= {*before} and bool(bound)


def _met_in_mesh(
    mesh: Mesh, resolution: Resolution, plan: Plan, module: Module, requirement: Requirement
) -> bool:
    """Whether one offer answers it; or, asked from every, all that there are."""
    answering = [
        (answer.node, answer.module)
        for answer in plan.answers
        if (answer.provision, answer.every) == (requirement.name, requirement.every)
        and module.name in answer.required_by
    ]
    offers = [
        (outcome.node, other.name)
        for outcome in resolution.outcomes
        for other in mesh.catalogue
        if other.name in outcome.members and _provides(other, requirement)
    ]
    if requirement.every:
        return answering == offers
    return len(answering) == 1 and answering[0] in offers


def _claimed_twice(mesh: Mesh, resolution: Resolution) -> Iterator[str]:
    held: Counter[str] = Counter()
    for plan in resolution.plans:
        claims = [claim for module in _manifests(mesh, plan) for claim in module.claims]
        held.update(claim.name for claim in claims if claim.scope is Scope.MESH)
        for name, count in Counter(claim.name for claim in claims).items():
            if count > 1:
                yield f"the claim {name} stands twice on {plan.node}"
    yield from (f"planned nodes hold the claim {name} twice" for name in held if held[name] > 1)


def _manifests(mesh: Mesh, plan: Plan) -> list[Module]:
    """The manifests of a plan, in its order."""
    found = (mesh.catalogue.get(name) for name in plan.order)
    return [module for module in found if module is not None]


def _provides(module: Module, requirement: Requirement) -> bool:
    return any(provision.name == requirement.name for provision in module.provides)


def _wiped(mesh: Mesh, resolution: Resolution) -> Mesh:
    """The planned nodes alone, each given exactly the modules of its plan."""
    return evolve(
        mesh,
        nodes=[
            evolve(node, assigned=outcome.order)
            for node, outcome in zip(mesh.nodes, resolution.outcomes, strict=True)
            if isinstance(outcome, Plan)
        ],
    )


def _works(resolution: Resolution) -> list[object]:
    """Who is planned, and how what its modules need is met."""
    return [(plan.node, plan.order, plan.bindings, plan.answers, plan.unsettled) for plan in resolution.plans]
