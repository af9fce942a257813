"""What the control plane keeps of a declaration, and the exports of a provider that is refused now."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from mesh_core.declare import Exports
from mesh_core.model.declaration import Declaration
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Module, Scope
from mesh_core.model.resolution import Answer, Plan
from mesh_core.model.sent import Answered, Held, Offered, Sent, Standing
from mesh_core.wire.declaration import content_fingerprint, on_machine


class Digests:
    """What a mesh's modules are on a machine, each worked out once: many nodes have the same ones."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, module: Module) -> str:
        """See `on_machine`."""
        if module.name not in self._known:
            self._known[module.name] = on_machine(module)
        return self._known[module.name]


def sent_of(declaration: Declaration, mesh: Mesh, digests: Digests) -> Sent:
    """What of it later pushes ask about. `at` and `published` are left to whoever sends it."""
    modules = [mesh.catalogue.get(module.name) for module in declaration.modules]
    known = [module for module in modules if module is not None]
    return Sent(
        node=declaration.node,
        generation=declaration.generation,
        fingerprint=content_fingerprint(declaration),
        modules=[module.name for module in declaration.modules],
        manifests=[(module.name, digests.of(module)) for module in known],
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
    offers = {
        (take.node, take.module, take.provision): last_offer(take, standings) for take in plan.unsettled
    }
    return {take: offered.exports for take, offered in offers.items() if offered is not None}


def last_offer(take: Answer, standings: Mapping[str, Standing]) -> Offered | None:
    """What is taken, as the node that it is taken from was sent it last."""
    standing = standings.get(take.node, Standing(node=take.node))
    return standing.last_offer(take.provision, take.module)


def kept_takes(nodes: Iterable[str], standings: Mapping[str, Standing]) -> Iterator[tuple[str, str]]:
    """Who takes from whom as these nodes were sent last: whoever is sent nothing new keeps that."""
    for node in sorted(nodes):
        newest = standings[node].newest if node in standings else None
        for answer in newest.answers if newest is not None else ():
            if answer.node != node:
                yield node, answer.node
