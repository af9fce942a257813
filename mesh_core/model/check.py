"""A check: what says that a module does its work once it is there (design, part 8).

The core takes any kind, as it does of resources; what the attributes mean is the business of the kinds.
"""

from __future__ import annotations

import json
from typing import Any

from attrs import field, frozen

from mesh_core.faults import BadResource, InvalidValue
from mesh_core.model.attributes import canonical_attributes
from mesh_core.model.resource import kind_fault


@frozen(kw_only=True)
class Check:
    """One check of a module, run after it was applied. Raises `InvalidValue`."""

    kind: str
    attributes_json: str = field(default="{}", converter=canonical_attributes)

    def __attrs_post_init__(self) -> None:
        why = kind_fault(self.kind)
        if why is None and "kind" in self.attributes:
            why = "kind is no attribute"
        if why is not None:
            raise InvalidValue(BadResource(why=why))

    @property
    def identity(self) -> str:
        """What stands once in a module: all of it."""
        return f"{self.kind} {self.attributes_json}"

    @property
    def attributes(self) -> dict[str, Any]:
        """A fresh copy of the attributes as plain data."""
        copy: dict[str, Any] = json.loads(self.attributes_json)
        return copy
