"""What the control plane keeps of a declaration, and the exports of a provider that is refused now."""

from __future__ import annotations

from collections.abc import Mapping

from mesh_core.declare import Exports
from mesh_core.model.declaration import Declaration
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Module, Scope
from mesh_core.model.resolution import Plan
from mesh_core.model.sent import Answered, Held, Offered, Sent, Standing
from mesh_core.wire.declaration import content_fingerprint


def sent_of(declaration: Declaration, mesh: Mesh) -> Sent:
    """What of it later pushes ask about. `at` and `published` are left to whoever sends it."""
    modules = [mesh.catalogue.get(module.name) for module in declaration.modules]
    known = [module for module in modules if module is not None]
    return Sent(
        node=declaration.node,
        generation=declaration.generation,
        fingerprint=content_fingerprint(declaration),
        modules=[module.name for module in declaration.modules],
        resources={r.identity for module in declaration.modules for r in module.resources},
        claims=[held for module in known for held in _claims(module)],
        offers=[offered for module in known for offered in _offers(module)],
        answers=_answers(declaration, known),
        allow_removals=declaration.allow_removals,
        empty=declaration.empty,
    )


def _claims(module: Module) -> list[Held]:
    return [Held(claim=c.name, module=module.name) for c in module.claims if c.scope is Scope.MESH]


def _offers(module: Module) -> list[Offered]:
    return [
        Offered(provision=p.name, module=module.name, exports=p.exports)
        for p in module.provides
        if p.scope is Scope.MESH
    ]


def _answers(declaration: Declaration, known: list[Module]) -> set[Answered]:
    """Those to mesh-scoped requirements from one provider; what is bound on the node moves no data."""
    local = {(m.name, p.name) for m in known for p in m.provides if p.scope is Scope.NODE}
    return {
        Answered(provision=answer.provision, node=answer.given[0].node, module=answer.given[0].module)
        for module in declaration.modules
        for answer in module.answers
        if not answer.every and (answer.given[0].module, answer.provision) not in local
    }


def last_exports(plan: Plan, standings: Mapping[str, Standing]) -> Exports:
    """The exports of each unsettled take, as the node that it is from was sent them last.

    From node, module and provision to the texts; what it was never sent is not in it.
    """
    found: dict[tuple[str, str, str], tuple[tuple[str, str], ...]] = {}
    for take in plan.unsettled:
        newest = standings[take.node].newest if take.node in standings else None
        for offered in newest.offers if newest is not None else ():
            if (offered.provision, offered.module) == (take.provision, take.module):
                found[take.node, take.module, take.provision] = offered.exports
    return found
