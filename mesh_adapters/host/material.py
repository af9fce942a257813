"""Material faults of a declaration: its templates are rendered as a host would, and nothing is looked at.

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


class Rendering:
    """What finds material faults with the kinds that are known here."""

    def __init__(self, kinds: Mapping[str, Kind]) -> None:
        self._kinds = kinds
        self._rendered = {
            name for name, kind in kinds.items() if any(a.name == TEMPLATE for a in kind.attributes)
        }

    def may_have(self, module: Module) -> bool:
        """Whether a module has a template: one without has no material fault on any node."""
        return any(map(self._is_template, module.resources))

    def find(self, declaration: Declaration) -> Iterator[MaterialFault]:
        """Every template of a declaration that names what does not exist, in the declaration's order."""
        modules = [
            evolve(module, resources=list(filter(self._is_template, module.resources)), checks=())
            for module in declaration.modules
        ]
        templates = evolve(declaration, modules=[module for module in modules if module.resources])
        _, troubles = prepare(templates, self._kinds)
        for trouble in troubles:
            yield MaterialFault(
                node=declaration.node, module=trouble.modules[0], resource=trouble.identity, why=trouble.why
            )

    def _is_template(self, resource: Resource) -> bool:
        # The text first: reading the attributes of every resource of a large catalogue costs.
        text = f'"{TEMPLATE}":'
        return (
            resource.kind in self._rendered
            and text in resource.attributes_json
            and TEMPLATE in resource.attributes
        )
