"""The catalogue: the modules that exist, one current manifest for each name, agreeing on scopes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from types import MappingProxyType

from attrs import field, frozen

from mesh_core.faults import (
    CatalogueError,
    CatalogueFault,
    EveryOfNodeScope,
    ScopeDisagreement,
    SelfRequirement,
)
from mesh_core.model.module import Claim, Module, Provision, Scope
from mesh_core.model.names import refuse_duplicates


def _by_name(modules: Iterable[Module]) -> tuple[Module, ...]:
    return tuple(sorted(modules, key=lambda module: module.name))


@frozen(kw_only=True)
class Catalogue:
    """Modules, sorted by name.

    Raises `InvalidValue` for two modules of one name, and `CatalogueError` (with every fault) where
    scopes disagree, a node-scoped name is required from every, or a module requires from one provider
    what it provides itself (design, parts 2 to 4).
    """

    modules: tuple[Module, ...] = field(default=(), converter=_by_name)
    _index: Mapping[str, Module] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        refuse_duplicates(tuple(module.name for module in self.modules), "modules")
        faults = tuple(fault for _, fault in catalogue_faults(self.modules))
        if faults:
            raise CatalogueError(*faults)
        by_name = {module.name: module for module in self.modules}
        object.__setattr__(self, "_index", MappingProxyType(by_name))

    def __reduce__(self) -> tuple[Callable[[], Catalogue], tuple[()]]:
        """Copied and pickled by what it was made of: what it is looked up in cannot be."""
        return partial(Catalogue, modules=self.modules), ()

    def get(self, name: str) -> Module | None:
        """The module of that name, or None."""
        return self._index.get(name)

    def __contains__(self, name: object) -> bool:
        return name in self._index

    def __iter__(self) -> Iterator[Module]:
        return iter(self.modules)


def catalogue_faults(modules: Sequence[Module]) -> list[tuple[int, CatalogueFault]]:
    """Everything that keeps these modules out of one catalogue, each with the place of the module at fault.

    Of two modules that disagree on a scope the one that comes later is at fault; so give the modules in
    the order in which they were written, or handed over.
    """
    faults: list[tuple[int, CatalogueFault]] = []
    provided: _Scopes = {}
    claimed: _Scopes = {}
    for place, module in enumerate(modules):
        found = _scope_faults("provision", module.name, module.provides, provided)
        found += _scope_faults("claim", module.name, module.claims, claimed)
        faults += [(place, fault) for fault in found]
    for place, module in enumerate(modules):
        faults += [(place, fault) for fault in _requirement_faults(module, provided)]
    return faults


_Scopes = dict[str, tuple[str, Scope]]
"""By name, the module that gave it a scope first, and that scope."""


def _scope_faults(
    what: str, module: str, said: Iterable[Provision | Claim], known: _Scopes
) -> list[CatalogueFault]:
    faults: list[CatalogueFault] = []
    for entry in said:
        other_module, other_scope = known.setdefault(entry.name, (module, entry.scope))
        if entry.scope is not other_scope:
            fault = ScopeDisagreement(
                what=what,
                name=entry.name,
                module=module,
                scope=entry.scope,
                other_module=other_module,
                other_scope=other_scope,
            )
            faults.append(fault)
    return faults


def _requirement_faults(module: Module, provided: _Scopes) -> Iterator[CatalogueFault]:
    own = {provision.name for provision in module.provides}
    for requirement in module.requires:
        name = requirement.name
        provider, scope = provided.get(name, ("", Scope.MESH))
        if requirement.every and scope is Scope.NODE:
            yield EveryOfNodeScope(module=module.name, name=name, provider=provider)
        if not requirement.every and name in own:
            yield SelfRequirement(module=module.name, name=name)
