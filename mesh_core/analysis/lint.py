"""What is no problem but likely a mistake (design, part 3): as facts, with the sentence in `explain`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum

from attrs import frozen

from mesh_core.model.check import Check
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Module
from mesh_core.model.node import Node, Pin
from mesh_core.model.resource import Resource
from mesh_core.resolve.catalogue_rules import CatalogueRules
from mesh_core.resolve.resolution import Workings, work_out
from mesh_core.wire.faults import near, under
from mesh_core.wire.kinds import Kinds, kind_faults


class IdleReason(StrEnum):
    """Why a pin does nothing."""

    NOT_MESH_SCOPED = "not-mesh-scoped"
    NOT_REQUIRED = "not-required"
    ONLY_FROM_EVERY = "only-from-every"


@frozen(kw_only=True)
class IdlePin:
    """A pin that does nothing."""

    node: str
    pin: Pin
    why: IdleReason


@frozen(kw_only=True)
class NobodyOffers:
    """A requirement from every that no offer answers: it is met, and has nothing."""

    node: str
    provision: str
    required_by: tuple[str, ...]


@frozen(kw_only=True)
class UnusedModule:
    """A module that no node is given and none pulls in."""

    module: str


@frozen(kw_only=True)
class UnknownKind:
    """A kind of `what` (resource or check) that is not known: nobody here checks its attributes."""

    what: str
    kind: str
    modules: tuple[str, ...]
    near: str | None = None


@frozen(kw_only=True)
class Unfit:
    """A module with something that its kind cannot use: it was recorded before the kind was known."""

    module: str
    why: str


Lint = IdlePin | NobodyOffers | UnusedModule | UnknownKind | Unfit


def lint(mesh: Mesh, kinds: Kinds | None = None) -> tuple[Lint, ...]:
    """Everything of a mesh that is likely a mistake, by node, then the modules that nothing uses.

    Last, with `kinds`, what these have against the modules, and which others there are.
    """
    workings = work_out(mesh)
    found: list[Lint] = []
    for node in mesh.nodes:
        found += _idle_pins(node, workings)
        found += _unanswered(node, workings)
    used = frozenset().union(*(footing.members for footing in workings.footings.values()))
    found += [UnusedModule(module=m.name) for m in mesh.catalogue if m.name not in used]
    if kinds is not None:
        found += [
            Unfit(module=module.name, why=str(fault))
            for module in mesh.catalogue
            for fault in under("$", kind_faults(None, module, kinds))
        ]
        found += _unknown_kinds(mesh, "resource", kinds.names(), lambda module: module.resources)
        found += _unknown_kinds(mesh, "check", kinds.check_names(), lambda module: module.checks)
    return tuple(found)


def _unknown_kinds(
    mesh: Mesh, what: str, known: frozenset[str], of: Callable[[Module], Iterable[Resource | Check]]
) -> Iterator[UnknownKind]:
    using: dict[str, list[str]] = {}
    for module in mesh.catalogue:
        for kind in sorted({item.kind for item in of(module)} - known):
            using.setdefault(kind, []).append(module.name)
    for kind, modules in sorted(using.items()):
        yield UnknownKind(what=what, kind=kind, modules=tuple(modules), near=near(kind, sorted(known)))


def _idle_pins(node: Node, workings: Workings) -> Iterator[IdlePin]:
    rules = workings.world.catalogue
    asks = workings.footings[node.name].asks
    from_one = {ask.provision for ask in asks if not ask.every}
    from_every = {ask.provision for ask in asks if ask.every}
    for pin in node.pins:
        if pin.provision in from_one:
            continue
        if not _mesh_scoped(pin.provision, rules):
            why = IdleReason.NOT_MESH_SCOPED
        elif pin.provision in from_every:
            why = IdleReason.ONLY_FROM_EVERY
        else:
            why = IdleReason.NOT_REQUIRED
        yield IdlePin(node=node.name, pin=pin, why=why)


def _mesh_scoped(provision: str, rules: CatalogueRules) -> bool:
    providers = rules.providers.get(provision, ())
    return any(provision in rules.rules[module].mesh_provisions for module in providers)


def _unanswered(node: Node, workings: Workings) -> Iterator[NobodyOffers]:
    for ask in workings.footings[node.name].asks:
        if ask.every and not workings.world.offers.get(ask.provision):
            yield NobodyOffers(node=node.name, provision=ask.provision, required_by=ask.required_by)
