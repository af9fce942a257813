"""From a plan to a declaration: what the node is told (design, part 8)."""

from __future__ import annotations

from collections.abc import Iterator

from mesh_core.model.declaration import Declaration, DeclaredAnswer, DeclaredModule, Given
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Module
from mesh_core.model.resolution import Plan


def declare(plan: Plan, mesh: Mesh, *, generation: int, allow_removals: bool = False) -> Declaration:
    """The declaration of one planned node; `mesh` is the one that the plan was resolved from.

    Its modules are in the order of the plan, providers first. Each has what answers its requirements, also
    those that the node answers itself. An unsettled take from every is left out (design, part 3); one from
    one provider is not: whoever sends a declaration looks after it.
    """
    modules = [mesh.catalogue.get(planned.name) for planned in plan.modules]
    known = [module for module in modules if module is not None]
    return Declaration(
        node=plan.node,
        generation=generation,
        modules=[_declared(module, plan, mesh) for module in known],
        allow_removals=allow_removals,
        empty=allow_removals and not known,
    )


def _declared(module: Module, plan: Plan, mesh: Mesh) -> DeclaredModule:
    return DeclaredModule(
        name=module.name,
        version=module.version,
        resources=module.resources,
        answers=(*_from_the_node(module, plan, mesh), *_from_the_mesh(module, plan, mesh)),
        checks=module.checks,
    )


def _from_the_node(module: Module, plan: Plan, mesh: Mesh) -> Iterator[DeclaredAnswer]:
    for provider in plan.modules:
        for dependent in provider.by:
            if dependent.module == module.name:
                given = _given(plan.node, provider.name, dependent.requires, mesh)
                yield DeclaredAnswer(provision=dependent.requires, given=[given])


def _from_the_mesh(module: Module, plan: Plan, mesh: Mesh) -> Iterator[DeclaredAnswer]:
    """> An unsettled take from every is left out of the declaration instead."""
    for answer in plan.answers:
        if not answer.every and module.name in answer.required_by:
            given = _given(answer.node, answer.module, answer.provision, mesh)
            yield DeclaredAnswer(provision=answer.provision, given=[given])
    left_out = set(plan.unsettled)
    for requirement in module.requires:
        if requirement.every:
            offers = [a for a in plan.answers if a.every and a.provision == requirement.name]
            every = [_given(a.node, a.module, a.provision, mesh) for a in offers if a not in left_out]
            yield DeclaredAnswer(provision=requirement.name, every=True, given=every)


def _given(node: str, module: str, provision: str, mesh: Mesh) -> Given:
    provider = mesh.catalogue.get(module)
    provisions = provider.provides if provider is not None else ()
    exports = next((p.exports for p in provisions if p.name == provision), ())
    return Given(node=node, module=module, exports=exports)
