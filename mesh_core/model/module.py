"""A module and what its manifest says: requirements, provisions, claims, capabilities, resources."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum
from typing import Any

from attrs import field, frozen

from mesh_core.faults import NameKind
from mesh_core.model.check import Check
from mesh_core.model.names import name_validator, names_validator, refuse_duplicates
from mesh_core.model.order import sorted_names, sorted_pairs
from mesh_core.model.recipe import Recipe
from mesh_core.model.resource import Resource
from mesh_core.model.text import refuse_surrogates


class Scope(StrEnum):
    """Where a provision is usable, or a claim unique: on one node, or in the whole mesh."""

    NODE = "node"
    MESH = "mesh"


def _each_once(_instance: object, attribute: Any, pairs: tuple[tuple[str, str], ...]) -> None:
    refuse_duplicates(tuple(name for name, _ in pairs), attribute.name)
    refuse_surrogates(attribute.name, *(text for pair in pairs for text in pair))


@frozen(kw_only=True)
class Provision:
    """A name that a module provides, with its scope; `exports` are texts that its takers may use.

    `exports` is kept as sorted pairs and may be given as a mapping. Raises `InvalidValue`.
    """

    name: str = field(validator=name_validator(NameKind.PROVISION))
    scope: Scope = Scope.NODE
    exports: tuple[tuple[str, str], ...] = field(default=(), converter=sorted_pairs, validator=_each_once)


@frozen(kw_only=True)
class Requirement:
    """A provision's name that a module needs answered: by one provider, or by *every* offer of it.

    Raises `InvalidValue`.
    """

    name: str = field(validator=name_validator(NameKind.PROVISION))
    every: bool = False


@frozen(kw_only=True)
class Claim:
    """A name that only one module may hold: on one node, or in the whole mesh. Raises `InvalidValue`."""

    name: str = field(validator=name_validator(NameKind.CLAIM))
    scope: Scope = Scope.NODE


def _name(value: Requirement | Provision | Claim) -> str:
    return value.name


def _requirements(values: Iterable[Requirement]) -> tuple[Requirement, ...]:
    return tuple(sorted(values, key=_name))


def _provisions(values: Iterable[Provision]) -> tuple[Provision, ...]:
    return tuple(sorted(values, key=_name))


def _claims(values: Iterable[Claim]) -> tuple[Claim, ...]:
    return tuple(sorted(values, key=_name))


def _resources(values: Iterable[Resource]) -> tuple[Resource, ...]:
    return tuple(values)


def _checks(values: Iterable[Check]) -> tuple[Check, ...]:
    return tuple(values)


def _distinct(_instance: object, attribute: Any, values: tuple[Requirement | Provision | Claim, ...]) -> None:
    refuse_duplicates(tuple(value.name for value in values), attribute.name)


def _one_identity_each(_instance: object, _attribute: object, values: tuple[Resource, ...]) -> None:
    refuse_duplicates(tuple(sorted(value.identity for value in values)), "resources")


@frozen(kw_only=True)
class Module:
    """A module as its manifest describes it (design, part 2 and 4).

    Requirements, provisions, claims and capabilities are kept sorted by name; resources and checks in the
    order of the manifest. `build` is how it is built from its source, if it is. Raises `InvalidValue` for a
    name that breaks its grammar or stands twice.
    """

    name: str = field(validator=name_validator(NameKind.MODULE))
    version: str = field(validator=name_validator(NameKind.VERSION))
    requires: tuple[Requirement, ...] = field(default=(), converter=_requirements, validator=_distinct)
    provides: tuple[Provision, ...] = field(default=(), converter=_provisions, validator=_distinct)
    claims: tuple[Claim, ...] = field(default=(), converter=_claims, validator=_distinct)
    capabilities: tuple[str, ...] = field(
        default=(), converter=sorted_names, validator=names_validator(NameKind.CAPABILITY)
    )
    resources: tuple[Resource, ...] = field(default=(), converter=_resources, validator=_one_identity_each)
    checks: tuple[Check, ...] = field(default=(), converter=_checks)
    build: Recipe | None = None
