"""Push: what each node is to be told now, what waits, and why (design, parts 3, 8 and 11).

Pure: from the mesh, its resolution and what was sent and heard before, to one outcome for each node.
"""

from mesh_core.push.decide import Words, decide
from mesh_core.push.ending import ended_well, has_ended, plan_fingerprint
from mesh_core.push.outcomes import (
    ClaimHeld,
    Held,
    Moved,
    NeedsWord,
    NothingToSay,
    Outcome,
    Send,
    TooLarge,
    TurnedDown,
    Unchanged,
    UnsettledTake,
    Why,
)

__all__ = [
    "ClaimHeld",
    "Held",
    "Moved",
    "NeedsWord",
    "NothingToSay",
    "Outcome",
    "Send",
    "TooLarge",
    "TurnedDown",
    "Unchanged",
    "UnsettledTake",
    "Why",
    "Words",
    "decide",
    "ended_well",
    "has_ended",
    "plan_fingerprint",
]
