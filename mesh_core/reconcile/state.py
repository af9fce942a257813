"""The state of one resource on a machine, as facts that its kind observes and wants."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeAlias

from attrs import field, frozen

Fact: TypeAlias = str | int | bool

HALFWAY = "halfway"
"""The fact of what is neither as it was nor as it was to be, since an act on it broke off in between."""


def _pairs(facts: Mapping[str, Fact] | Iterable[tuple[str, Fact]]) -> tuple[tuple[str, Fact], ...]:
    # Asking a list whether it is a mapping costs more than sorting it.
    return tuple(sorted(facts if type(facts) is list or type(facts) is tuple else dict(facts).items()))


@frozen(kw_only=True)
class State:
    """Facts by name: `{"sha256": ..., "mode": "0644"}`, given as a mapping, kept as sorted pairs.

    What is not there has no state (None), which is another thing than a state without facts.
    """

    facts: tuple[tuple[str, Fact], ...] = field(converter=_pairs)

    def as_data(self) -> dict[str, Fact]:
        """The facts as plain data."""
        return dict(self.facts)

    def get(self, name: str) -> Fact | None:
        """One fact, or None."""
        return self.as_data().get(name)


def holds(wanted: State | None, observed: State | None) -> bool:
    """Whether everything that is wanted is so; what is observed beyond that is nobody's business."""
    if wanted is None or observed is None:
        return wanted is observed
    return wanted.facts == observed.facts or wanted.as_data().items() <= observed.as_data().items()
