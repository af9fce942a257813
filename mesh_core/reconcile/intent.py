"""What the journal says of a resource before an act, and after it. Pure; the journal is an adapter.

> keeps a journal of what it owns: intent before the act (design, part 8)
"""

from __future__ import annotations

from typing import Any

from attrs import evolve

from mesh_core.reconcile.actions import Act, Action
from mesh_core.reconcile.owned import Owned
from mesh_core.reconcile.state import State


def intending(action: Action, known: Owned | None) -> Owned:
    """What is owned from the moment on where an act is intended; `known` is what was owned until then."""
    return Owned(
        identity=action.identity,
        kind=action.kind,
        position=action.position,
        before=action.before,
        left=known.left_as(action.observed, action.target) if known is not None else None,
        in_flight=True,
        intended=action.target,
        brought=known is not None and known.brought and action.act is Act.SWEEP,
        stale=bool(action.because) or (known is not None and known.stale),
    )


def settled(owned: Owned, left: State | None, **changes: Any) -> Owned:
    """What is owned once an act is done: it was left so, and nothing is in flight."""
    return evolve(owned, left=left, in_flight=False, intended=None, stale=False, **changes)
