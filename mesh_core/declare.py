"""From a plan to a declaration: what the node is told (design, part 8)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import TypeAlias

from mesh_core.model.declaration import Declaration, DeclaredAnswer, DeclaredModule, Given
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Module
from mesh_core.model.network import DeclaredNetwork
from mesh_core.model.resolution import Plan

Exports: TypeAlias = Mapping[tuple[str, str, str], tuple[tuple[str, str], ...]]
"""Texts that are exported, by node, module and provision."""


def declare(
    plan: Plan,
    mesh: Mesh,
    *,
    generation: int,
    allow_removals: bool = False,
    exports: Exports = MappingProxyType({}),
    network: DeclaredNetwork | None = None,
) -> Declaration:
    """The declaration of one planned node; `mesh` is the one that the plan was resolved from.

    `exports` are those that stand in place of what the catalogue says of a provider now; `network` is what
    the node is told of the overlay. Its modules are in the order of the plan, providers first. Each has what
    answers its requirements, also those that the node answers itself. An unsettled take from every is left
    out (design, part 3); one from one provider is not: whoever sends a declaration looks after it.
    """
    modules = [mesh.catalogue.get(planned.name) for planned in plan.modules]
    known = [module for module in modules if module is not None]
    declaring = _Declaring(plan, mesh, exports)
    return Declaration(
        node=plan.node,
        generation=generation,
        network=network,
        modules=[declaring.module(module) for module in known],
        allow_removals=allow_removals,
        empty=allow_removals and not known,
    )


class _Declaring:
    def __init__(self, plan: Plan, mesh: Mesh, exports: Exports) -> None:
        self._plan = plan
        self._mesh = mesh
        self._exports = exports

    def module(self, module: Module) -> DeclaredModule:
        return DeclaredModule(
            name=module.name,
            version=module.version,
            resources=module.resources,
            answers=(*self._from_the_node(module), *self._from_the_mesh(module)),
            checks=module.checks,
        )

    def _from_the_node(self, module: Module) -> Iterator[DeclaredAnswer]:
        for provider in self._plan.modules:
            for dependent in provider.by:
                if dependent.module == module.name:
                    given = self._given(self._plan.node, provider.name, dependent.requires)
                    yield DeclaredAnswer(provision=dependent.requires, given=[given])

    def _from_the_mesh(self, module: Module) -> Iterator[DeclaredAnswer]:
        """> An unsettled take from every is left out of the declaration instead."""
        plan = self._plan
        for answer in plan.answers:
            if not answer.every and module.name in answer.required_by:
                given = self._given(answer.node, answer.module, answer.provision)
                yield DeclaredAnswer(provision=answer.provision, given=[given])
        left_out = set(plan.unsettled)
        for requirement in module.requires:
            if requirement.every:
                offers = [a for a in plan.answers if a.every and a.provision == requirement.name]
                every = [self._given(a.node, a.module, a.provision) for a in offers if a not in left_out]
                yield DeclaredAnswer(provision=requirement.name, every=True, given=every)

    def _given(self, node: str, module: str, provision: str) -> Given:
        known = self._exports.get((node, module, provision))
        if known is None:
            provider = self._mesh.catalogue.get(module)
            provisions = provider.provides if provider is not None else ()
            known = next((p.exports for p in provisions if p.name == provision), ())
        return Given(node=node, module=module, exports=known, address=self._address(node))

    def _address(self, node: str) -> str | None:
        """Without a network an address is only text: nobody is reached there."""
        there = self._mesh.node(node)
        return there.network.address if there is not None and self._mesh.network is not None else None
