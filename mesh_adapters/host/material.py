"""Material faults of a declaration: it is prepared as a host would, and nothing is looked at.

> The control plane renders only to check; the host renders from values in the declaration.

A kind that is not known here is no fault: the host may know it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from attrs import evolve

from mesh_adapters.host.gathering import prepare
from mesh_adapters.host.kind import Kind
from mesh_core import Module, Resource
from mesh_core.model.declaration import Declaration
from mesh_core.model.material import MaterialFault

TEMPLATE = "template"
"""The attribute whose text is rendered; nothing else of a resource depends on the node."""
ARTIFACT = "artifact"
"""The attribute that a build puts in: before that, what has it cannot be made on any node."""


class Rendering:
    """What finds material faults with the kinds that are known here."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self._kinds = kinds
        self._rendered = _with_attribute(kinds, TEMPLATE)
        self._built = _with_attribute(kinds, ARTIFACT)

    def may_have(self, module: Module) -> bool:
        """Whether a module has a template, or waits for a build: another has no material fault anywhere."""
        return any(map(self._may_have, module.resources))

    def find(self, declaration: Declaration) -> Iterator[MaterialFault]:
        """Every template that names what does not exist, and what was never built, in order."""
        modules = [
            evolve(module, resources=list(filter(self._may_have, module.resources)), checks=())
            for module in declaration.modules
        ]
        suspects = evolve(declaration, modules=[module for module in modules if module.resources])
        of_all = (resource for module in suspects.modules for resource in module.resources)
        unbuilt = {resource.identity for resource in of_all if self._waits(resource)}
        _, troubles = prepare(suspects, self._kinds)
        for trouble in troubles:
            yield MaterialFault(
                node=declaration.node,
                module=trouble.modules[0],
                resource=trouble.identity,
                why=trouble.why,
                unbuilt=trouble.identity in unbuilt,
            )

    def _may_have(self, resource: Resource) -> bool:
        return self._waits(resource) or self._is_template(resource)

    def _waits(self, resource: Resource) -> bool:
        return resource.kind in self._built and ARTIFACT not in resource.attributes

    def _is_template(self, resource: Resource) -> bool:
        # The text first: reading the attributes of every resource of a large catalogue costs.
        text = f'"{TEMPLATE}":'
        return (
            resource.kind in self._rendered
            and text in resource.attributes_json
            and TEMPLATE in resource.attributes
        )


def _with_attribute(kinds: Mapping[str, Kind], attribute: str) -> set[str]:
    return {name for name, kind in kinds.items() if any(own.name == attribute for own in kind.attributes)}
