"""A root of a package manager with a host on it: what is declared is applied through the real journal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mesh_adapters.host.acting import Event
from mesh_adapters.host.applied import Applied
from mesh_adapters.host.applying import Decided, Host, apply, decide
from mesh_adapters.host.files import Files
from mesh_adapters.host.journal import Entry, Journal
from mesh_adapters.host.kinds.package import Package
from mesh_adapters.host.machine import Machine
from mesh_core import Resource
from mesh_core.canonical import canonical_json
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.wire.declaration import declaration_to_data
from tests.integration.host.packages.tiny import PackageRoot


def package(name: str, **attributes: Any) -> Resource:
    return Resource(kind="package", name=name, attributes_json=attributes)


class Site:
    """`packages` is what a person sees of the root, and `declare` what the mesh says."""

    def __init__(self, packages: PackageRoot, state: Path) -> None:
        self.packages = packages
        self._state = state
        self._generation = 0

    @property
    def root(self) -> Path:
        return self.packages.root

    @contextmanager
    def host(self) -> Iterator[Host]:
        journal = Journal.open(self._state)
        try:
            machine = Machine(root=self.root, files=Files(self.root), privileged=True, kept=journal.kept)
            yield Host(machine=machine, journal=journal, kinds={"package": Package()})
        finally:
            journal.close()

    def declare(self, *packages: str | Resource) -> Applied:
        """Apply a declaration of these packages, each in a module of its own."""
        return self.declare_modules(*([one] for one in packages))

    def declare_modules(self, *modules: Sequence[str | Resource]) -> Applied:
        """Apply a declaration of modules, each given as its packages."""
        self._generation += 1
        return self._apply(modules)

    def again(self, *packages: str | Resource) -> Applied:
        """Apply the declaration that was applied last once more."""
        return self._apply([[one] for one in packages])

    def _apply(self, modules: Sequence[Sequence[str | Resource]]) -> Applied:
        told = Declaration(
            node="pi",
            generation=self._generation,
            modules=[
                DeclaredModule(name=f"m{number}", version="1", resources=[_resource(one) for one in module])
                for number, module in enumerate(modules)
            ],
            allow_removals=True,
            empty=not modules,
        )
        with self.host() as host:
            decided = decide(canonical_json(declaration_to_data(told)).encode(), host)
            assert isinstance(decided, Decided), decided
            return apply(decided, host)

    def owned(self) -> dict[str, Entry]:
        with self.host() as host:
            return {entry.resource.name or "": entry for entry in host.journal.entries()}


def _resource(one: str | Resource) -> Resource:
    return package(one) if isinstance(one, str) else one


def told(applied: Applied, name: str) -> Event:
    """What came of one package."""
    (event,) = [event for event in applied.events if event.action.identity == f"package:{name}"]
    return event
