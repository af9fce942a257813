"""Reconciliation: declared, owned, observed -> actions. Pure; what acts is an adapter (design, part 8)."""

from mesh_core.reconcile.acceptance import (
    EmptyWithoutWord,
    ForAnotherNode,
    NotTaken,
    OlderGeneration,
    SameGeneration,
    Taken,
    TooManyRemovals,
    why_not,
)
from mesh_core.reconcile.actions import LET_GO, ON_THE_MACHINE, TAKEN_OFF, Act, Action
from mesh_core.reconcile.intent import intending, settled
from mesh_core.reconcile.owned import Owned
from mesh_core.reconcile.reconcile import Wanted, reconcile
from mesh_core.reconcile.removals import most_removed, too_many
from mesh_core.reconcile.state import HALFWAY, Fact, State, holds

__all__ = [
    "HALFWAY",
    "LET_GO",
    "ON_THE_MACHINE",
    "TAKEN_OFF",
    "Act",
    "Action",
    "EmptyWithoutWord",
    "Fact",
    "ForAnotherNode",
    "NotTaken",
    "OlderGeneration",
    "Owned",
    "SameGeneration",
    "State",
    "Taken",
    "TooManyRemovals",
    "Wanted",
    "holds",
    "intending",
    "most_removed",
    "reconcile",
    "settled",
    "too_many",
    "why_not",
]
