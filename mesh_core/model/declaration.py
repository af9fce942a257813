"""A declaration: what one node is told to be, whole (design, part 8)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from attrs import field, frozen

from mesh_core.faults import NameKind
from mesh_core.model.check import Check
from mesh_core.model.names import name_validator, refuse_duplicates
from mesh_core.model.network import DeclaredNetwork, address_validator
from mesh_core.model.order import sorted_pairs
from mesh_core.model.resource import Resource


@frozen(kw_only=True)
class Given:
    """Who answers a requirement: a module on a node, and the texts that it exports with what it provides.

    `address` is the node's in the overlay, where there is one.
    """

    node: str = field(validator=name_validator(NameKind.NODE))
    module: str = field(validator=name_validator(NameKind.MODULE))
    exports: tuple[tuple[str, str], ...] = field(default=(), converter=sorted_pairs)
    address: str | None = field(default=None, validator=address_validator)


def _givens(givens: Iterable[Given]) -> tuple[Given, ...]:
    return tuple(sorted(givens, key=lambda given: (given.node, given.module)))


@frozen(kw_only=True)
class DeclaredAnswer:
    """What answers one requirement of a module: one offer, or *every* one there is, none included."""

    provision: str = field(validator=name_validator(NameKind.PROVISION))
    every: bool = False
    given: tuple[Given, ...] = field(converter=_givens)

    def __attrs_post_init__(self) -> None:
        if not self.every and len(self.given) != 1:
            raise ValueError(f"{self.provision} is answered by one, not by {len(self.given)}")


def _resources(resources: Iterable[Resource]) -> tuple[Resource, ...]:
    return tuple(resources)


def _checks(checks: Iterable[Check]) -> tuple[Check, ...]:
    return tuple(checks)


def _answers(answers: Iterable[DeclaredAnswer]) -> tuple[DeclaredAnswer, ...]:
    return tuple(sorted(answers, key=lambda answer: answer.provision))


@frozen(kw_only=True)
class DeclaredModule:
    """A module as a node is told of it: what it consists of, what answers it, what says that it works."""

    name: str = field(validator=name_validator(NameKind.MODULE))
    version: str = field(validator=name_validator(NameKind.VERSION))
    resources: tuple[Resource, ...] = field(default=(), converter=_resources)
    answers: tuple[DeclaredAnswer, ...] = field(default=(), converter=_answers)
    checks: tuple[Check, ...] = field(default=(), converter=_checks)


def _in_order(modules: Iterable[DeclaredModule]) -> tuple[DeclaredModule, ...]:
    return tuple(modules)


def _distinct(_instance: object, _attribute: Any, modules: tuple[DeclaredModule, ...]) -> None:
    refuse_duplicates(tuple(module.name for module in modules), "modules")


@frozen(kw_only=True)
class Declaration:
    """What a node should be, at one generation; `modules` are in the order of the node.

    `allow_removals` is the control plane's word, for this generation, that more may go at once than a host
    takes off by itself; `empty` is its word that there is to be nothing. Raises `InvalidValue`.
    """

    node: str = field(validator=name_validator(NameKind.NODE))
    generation: int
    network: DeclaredNetwork | None = None
    modules: tuple[DeclaredModule, ...] = field(default=(), converter=_in_order, validator=_distinct)
    allow_removals: bool = False
    empty: bool = False

    @property
    def items(self) -> int:
        """How many things it says: its modules, and the resources and checks of each."""
        return sum(1 + len(module.resources) + len(module.checks) for module in self.modules)
