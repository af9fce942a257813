"""Gather: what is declared, as its kinds read it; what is owned; what is there.

Nothing on the machine is changed here. What cannot be prepared or looked at is *trouble*: it is reported, and
nothing is done to it - above all it is not taken off.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve, field, frozen

from mesh_adapters.host.attributes import faults_of
from mesh_adapters.host.journal import Entry
from mesh_adapters.host.kind import Immaterial, Kind, Prepared, Unobservable
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.templates import context_of
from mesh_core import Resource
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.reconcile import State


@frozen(kw_only=True)
class Declared:
    """A declared resource, the modules that declare it, and how its kind reads it."""

    resource: Resource
    modules: tuple[str, ...]
    prepared: Prepared


@frozen(kw_only=True)
class Trouble:
    """A resource to which nothing is done, and why; `elsewhere` as with what cannot be observed."""

    identity: str
    kind: str
    modules: tuple[str, ...]
    why: str
    elsewhere: bool = False


@frozen(kw_only=True)
class Gathered:
    """What reconciliation needs to know, by identity.

    `turned` is what is declared as another kind than that as which it is owned (a file where a directory
    was): it is not in `declared`, since the old has to go before the new is looked at.
    """

    declared: Mapping[str, Declared]
    entries: Mapping[str, Entry]
    observed: Mapping[str, State | None]
    troubles: tuple[Trouble, ...]
    turned: Mapping[str, Declared] = field(factory=dict)

    def resource(self, identity: str) -> Resource:
        """The resource as it is declared, or as it was when it was declared last."""
        declared = self.declared.get(identity)
        return declared.resource if declared is not None else self.entries[identity].resource

    def modules(self, identity: str) -> tuple[str, ...]:
        """The modules that declare it."""
        declared = self.declared.get(identity)
        return declared.modules if declared is not None else ()


def gather(
    declaration: Declaration, entries: Iterable[Entry], kinds: Mapping[str, Kind], machine: Machine
) -> Gathered:
    """Read the declaration by its kinds, and look at everything declared or owned."""
    declared, troubles = prepare(declaration, kinds)
    declared = {identity: _on(machine, one, kinds) for identity, one in declared.items()}
    troubled = {trouble.identity for trouble in troubles}
    owned = {e.owned.identity: e for e in entries if e.owned.identity not in troubled}
    turned = {
        identity: one
        for identity, one in declared.items()
        if identity in owned and one.resource.kind != owned[identity].owned.kind
    }
    declared = {identity: one for identity, one in declared.items() if identity not in turned}
    resources = {identity: entry.resource for identity, entry in owned.items()}
    resources |= {identity: one.resource for identity, one in declared.items()}
    observed, unseen = observe(resources.values(), kinds, machine)
    modules = {identity: one.modules for identity, one in declared.items()}
    troubles += [
        Trouble(
            identity=identity,
            kind=resources[identity].kind,
            modules=modules.get(identity, ()),
            why=found.why,
            elsewhere=found.elsewhere,
        )
        for identity, found in unseen.items()
    ]
    return Gathered(
        declared=declared,
        entries=owned,
        observed=observed,
        troubles=tuple(troubles),
        turned=turned,
    )


def prepare(declaration: Declaration, kinds: Mapping[str, Kind]) -> tuple[dict[str, Declared], list[Trouble]]:
    """Every declared resource once, in order; and those that cannot be made of what is there."""
    declared: dict[str, Declared] = {}
    troubles: dict[str, Trouble] = {}
    for module in declaration.modules:
        for resource in module.resources:
            identity = resource.identity
            one = _prepare(resource, module, declaration, kinds)
            known = declared.get(identity)
            if isinstance(one, Declared) and known is not None:
                one = _shared(known, one)
            if isinstance(one, Trouble):
                troubles.setdefault(identity, one)
            else:
                declared[identity] = one
    return {i: one for i, one in declared.items() if i not in troubles}, list(troubles.values())


def _prepare(
    resource: Resource, module: DeclaredModule, declaration: Declaration, kinds: Mapping[str, Kind]
) -> Declared | Trouble:
    kind = kinds.get(resource.kind)
    if kind is None:
        why = f"this host knows no kind {resource.kind!r} (it knows {', '.join(sorted(kinds))})"
        return _trouble(resource, (module.name,), why)
    faults = "; ".join(str(fault) for fault in faults_of(resource, kind))
    if faults:
        return _trouble(resource, (module.name,), faults)
    try:
        prepared = kind.prepare(resource, context_of(declaration, module))
    except Immaterial as error:
        return _trouble(resource, (module.name,), str(error))
    return Declared(resource=resource, modules=(module.name,), prepared=prepared)


def _trouble(resource: Resource, modules: tuple[str, ...], why: str) -> Trouble:
    return Trouble(identity=resource.identity, kind=resource.kind, modules=modules, why=why)


def _shared(first: Declared, other: Declared) -> Declared | Trouble:
    """One resource of several modules: a template of it has to come out the same for all."""
    modules = (*first.modules, *other.modules)
    if first.prepared != other.prepared:
        why = f"{' and '.join(modules)} share it, and its template does not come out the same for them"
        return _trouble(first.resource, modules, why)
    return evolve(first, modules=modules)


def _on(machine: Machine, one: Declared, kinds: Mapping[str, Kind]) -> Declared:
    """What is wanted on this machine, whose kind may know facts that it cannot have."""
    wanted = one.prepared.wanted
    state = kinds[wanted.kind].on(machine, wanted.state)
    if state == wanted.state:
        return one
    return evolve(one, prepared=evolve(one.prepared, wanted=evolve(wanted, state=state)))


def observe(
    resources: Iterable[Resource], kinds: Mapping[str, Kind], machine: Machine
) -> tuple[dict[str, State | None], dict[str, Unobservable]]:
    """What is there, by identity; and of what could not be looked at, why."""
    observed: dict[str, State | None] = {}
    unseen: dict[str, Unobservable] = {}
    for kind, group in _by_kind(resources):
        known = kinds.get(kind)
        if known is None:
            unknown = Unobservable(why=f"this host knows no kind {kind!r}")
            unseen |= {r.identity: unknown for r in group}
            continue
        for identity, found in known.observe(group, machine).items():
            if isinstance(found, Unobservable):
                unseen[identity] = found
            else:
                observed[identity] = found
    return observed, unseen


def _by_kind(resources: Iterable[Resource]) -> Iterator[tuple[str, Sequence[Resource]]]:
    groups: dict[str, list[Resource]] = {}
    for resource in resources:
        groups.setdefault(resource.kind, []).append(resource)
    yield from groups.items()
