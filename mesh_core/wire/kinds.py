"""What a reader of documents asks of the kinds that are known: the attributes of theirs are checked here.

> The core takes any kind; the control plane checks the attributes of the kinds that it knows and lints the
> others (design, part 4).

The core knows none itself: whoever reads a document hands them in.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, Protocol, TypeVar

from mesh_core.model.check import Check
from mesh_core.model.module import Module
from mesh_core.model.resource import Resource
from mesh_core.wire.faults import Fault, Misfit, step, under
from mesh_core.wire.shape import structure

_Value = TypeVar("_Value", Resource, Check)


class Kinds(Protocol):
    """The kinds of resources and checks that are known. Pure; the paths of faults begin at the resource."""

    def names(self) -> frozenset[str]:
        """The kinds of resources that are known."""

    def check_names(self) -> frozenset[str]:
        """The kinds of checks that are known."""

    def takes(self, kind: str, attribute: str) -> bool:
        """Whether a resource of that kind may have that attribute; so it is of a kind that is not known."""

    def resource_faults(self, resource: Resource) -> Iterable[Fault]:
        """What its kind has against a resource; nothing where the kind is not known."""

    def check_faults(self, check: Check) -> Iterable[Fault]:
        """The same of a check."""


def kind_faults(raw: Any, module: Module | None, kinds: Kinds) -> Iterator[Fault]:
    """What the known kinds have against a manifest; `module` is it as a value, if it is well-formed.

    Of one that is not, those resources and checks are looked at that are.
    """
    resources = _fitting(raw, "resources", Resource) if module is None else enumerate(module.resources)
    for place, resource in resources:
        yield from under(f".resources{step(place)}", kinds.resource_faults(resource))
    checks = _fitting(raw, "checks", Check) if module is None else enumerate(module.checks)
    for place, check in checks:
        yield from under(f".checks{step(place)}", kinds.check_faults(check))


def _fitting(raw: Any, key: str, of: type[_Value]) -> Iterator[tuple[int, _Value]]:
    items = raw.get(key) if isinstance(raw, dict) else None
    for place, item in enumerate(items if isinstance(items, list) else ()):
        try:
            yield place, structure(item, of)
        except Misfit:
            continue
