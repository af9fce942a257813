"""Whether a change of the network stays: a pure decision (design, part 11).

> Only the network part goes back when the broker is lost after a change, only if it was in reach before, and
> the same generation is not tried again.
"""

from __future__ import annotations

from enum import Enum
from typing import Final

MINUTE: Final = 60.0
"""Seconds after a change within which the broker has to be reached again."""


class Verdict(Enum):
    """What becomes of a change that is being tried."""

    STAYS = "stays"
    UNDONE = "undone"
    OPEN = "open"


def verdict(*, changed_at: float, reached_at: float | None, now: float) -> Verdict:
    """How a trial stands; all are seconds of one clock that only goes on.

    `reached_at` is when that was sent which the broker has confirmed last: what was sent before the change
    says nothing of it.
    """
    if reached_at is not None and reached_at > changed_at:
        return Verdict.STAYS
    return Verdict.OPEN if now - changed_at < MINUTE else Verdict.UNDONE
