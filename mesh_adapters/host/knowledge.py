"""What the control plane knows of kinds: it checks their attributes, and renders only to check.

Nothing here looks at a machine. A kind that is not known has no faults: `mesh lint` tells of it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mesh_adapters.host.attributes import faults_of
from mesh_adapters.host.checking import KINDS, check_faults
from mesh_adapters.host.kind import AttributeFault, Kind
from mesh_core import Fault, Resource
from mesh_core.model.check import Check
from mesh_core.wire.faults import step


class Knowledge:
    """The kinds that are known here, as `mesh_core.wire.kinds.Kinds` asks for them."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self.kinds = kinds

    def names(self) -> frozenset[str]:
        """The kinds of resources that are known."""
        return frozenset(self.kinds)

    def check_names(self) -> frozenset[str]:
        """The kinds of checks that are known."""
        return frozenset(KINDS)

    def takes(self, kind: str, attribute: str) -> bool:
        """Whether a resource of that kind may have that attribute; so it is of a kind that is not known."""
        known = self.kinds.get(kind)
        return known is None or any(own.name == attribute for own in known.attributes)

    def resource_faults(self, resource: Resource) -> Iterator[Fault]:
        """What its kind has against a resource; nothing where the kind is not known."""
        kind = self.kinds.get(resource.kind)
        if kind is not None:
            yield from map(_fault, faults_of(resource, kind))

    def check_faults(self, check: Check) -> Iterator[Fault]:
        """What its kind has against a check; nothing where the kind is not known."""
        yield from map(_fault, check_faults(check))


def _fault(fault: AttributeFault) -> Fault:
    path = step(fault.key) if fault.key else ""
    return Fault(path=path, found=fault.found, wanted=fault.wanted, suggestion=fault.suggestion)
