"""What resolution answers: for each node a plan or a refusal (design, parts 3 and 5)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from functools import partial
from types import MappingProxyType

from attrs import field, frozen

from mesh_core.problems import Problem


class Reason(StrEnum):
    """Why a module is on a node."""

    ASSIGNED = "assigned"
    PULLED_IN = "pulled-in"


@frozen(kw_only=True)
class Dependent:
    """A module of the node, and the name that it requires and has bound to another module there."""

    module: str
    requires: str


@frozen(kw_only=True)
class PlannedModule:
    """A module on a node, why it is there, and every requirement there that is bound to it.

    `by` is sorted by module, then name; a module that is pulled in has at least one.
    """

    name: str
    version: str
    reason: Reason
    by: tuple[Dependent, ...] = ()


@frozen(kw_only=True)
class Binding:
    """A node-scoped requirement of a module, and the module on the same node that answers it."""

    module: str
    requires: str
    provider: str


@frozen(kw_only=True)
class Answer:
    """An offer that answers a mesh-scoped requirement of a node; `required_by` asks in that way."""

    provision: str
    every: bool
    node: str
    module: str
    required_by: tuple[str, ...]


@frozen(kw_only=True)
class Outcome:
    """What is public of every node, planned or refused (law 6, *Verdicts do not choose*).

    `modules` are those of S(n) in the order of the node. `answers` are sorted by provision, every, node
    and module, and name the node itself where it answers itself.
    """

    node: str
    modules: tuple[PlannedModule, ...]
    answers: tuple[Answer, ...]

    @property
    def placed(self) -> tuple[PlannedModule, ...]:
        """Every module of S(n): those in the order, then those that are stuck, by name."""
        return self.modules

    @property
    def members(self) -> frozenset[str]:
        """S(n): the names of the node's modules."""
        return frozenset(module.name for module in self.placed)

    @property
    def order(self) -> tuple[str, ...]:
        """The order of n, providers first; stuck modules are not in it."""
        return tuple(module.name for module in self.modules)

    @property
    def bindings(self) -> tuple[Binding, ...]:
        """Every answered node-scoped requirement with its provider, sorted by module, then name."""
        bound = (
            Binding(module=dependent.module, requires=dependent.requires, provider=provider.name)
            for provider in self.placed
            for dependent in provider.by
        )
        return tuple(sorted(bound, key=lambda binding: (binding.module, binding.requires)))

    @property
    def takes(self) -> tuple[Answer, ...]:
        """The answers that live on another node."""
        return tuple([answer for answer in self.answers if answer.node != self.node])


@frozen(kw_only=True)
class Plan(Outcome):
    """What a node would be. `unsettled` are the takes whose node is refused."""

    unsettled: tuple[Answer, ...] = ()


@frozen(kw_only=True)
class Refusal(Outcome):
    """Why a node gets no new plan: every problem, sorted by code, then by canonical JSON.

    `stuck` are the modules of S(n) that can never be appended to its order, by name.
    """

    problems: tuple[Problem, ...]
    stuck: tuple[PlannedModule, ...] = ()

    @property
    def placed(self) -> tuple[PlannedModule, ...]:
        """Every module of S(n): those in the order, then those that are stuck, by name."""
        return self.modules + self.stuck


def _by_node(outcomes: Iterable[Plan | Refusal]) -> tuple[Plan | Refusal, ...]:
    return tuple(sorted(outcomes, key=lambda outcome: outcome.node))


@frozen(kw_only=True)
class Resolution:
    """The outcome of every node, sorted by node."""

    outcomes: tuple[Plan | Refusal, ...] = field(converter=_by_node)
    _index: Mapping[str, Plan | Refusal] = field(init=False, eq=False, repr=False)

    def __attrs_post_init__(self) -> None:
        by_node = {outcome.node: outcome for outcome in self.outcomes}
        object.__setattr__(self, "_index", MappingProxyType(by_node))

    def __reduce__(self) -> tuple[Callable[[], Resolution], tuple[()]]:
        """Copied and pickled by what it was made of: what it is looked up in cannot be."""
        return partial(Resolution, outcomes=self.outcomes), ()

    @property
    def nodes(self) -> Mapping[str, Plan | Refusal]:
        """Plan or refusal by the node's name; every node of the mesh, sorted."""
        return self._index

    @property
    def refusals(self) -> tuple[Refusal, ...]:
        """The refused nodes' refusals, sorted by node."""
        return tuple(o for o in self.outcomes if isinstance(o, Refusal))

    @property
    def plans(self) -> tuple[Plan, ...]:
        """The planned nodes' plans, sorted by node."""
        return tuple(o for o in self.outcomes if isinstance(o, Plan))
