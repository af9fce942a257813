"""A material fault: what keeps a planned node's declaration from being made (design, part 6).

> A template that names what does not exist, or a file beside a manifest that is missing, is a *material
> fault*: it keeps that node's declaration from being made, beside the resolution and not as one of its
> problems; for everything after the resolution (exit codes, unsettled takes, push) that node counts as
> refused.
"""

from __future__ import annotations

from attrs import field, frozen

from mesh_core.faults import NameKind
from mesh_core.model.names import name_validator


@frozen(kw_only=True)
class MaterialFault:
    """A resource of a module that cannot be made for a node, and why, in the words of its kind.

    `resource` is its identity; `unbuilt` is whether it waits for a build. Raises `InvalidValue`.
    """

    node: str = field(validator=name_validator(NameKind.NODE))
    module: str = field(validator=name_validator(NameKind.MODULE))
    resource: str
    why: str
    unbuilt: bool = False
