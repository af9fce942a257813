"""The limit on removals (design, part 8).

> refuses to remove more than max(5, 20 %) of what it owns without the control plane's word for that
> generation
"""

from __future__ import annotations

from collections.abc import Iterable

from mesh_core.reconcile.actions import TAKEN_OFF, Action
from mesh_core.reconcile.owned import Owned

LEAST = 5
SHARE = 5
"""One in five: 20 %."""


def most_removed(owned: int) -> int:
    """How many of that many owned resources may go at once without a word."""
    return max(LEAST, owned // SHARE)


def too_many(actions: Iterable[Action], owned: Iterable[Owned]) -> tuple[str, ...]:
    """The identities that would be taken off, where they are too many; else none.

    What came along with something is not counted on either side.
    """
    going = tuple(action.identity for action in actions if action.act in TAKEN_OFF)
    known = sum(not entry.brought for entry in owned)
    return going if len(going) > most_removed(known) else ()
