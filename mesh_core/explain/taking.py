"""Why a host does not take a declaration, in sentences and as plain data (design, part 8)."""

from __future__ import annotations

from typing import Any, assert_never

from mesh_core.explain.host import named
from mesh_core.explain.words import some
from mesh_core.reconcile import (
    EmptyWithoutWord,
    ForAnotherNode,
    NotTaken,
    OlderGeneration,
    SameGeneration,
    TooManyRemovals,
)


def not_taken(why: NotTaken) -> tuple[str, ...]:
    """Why a declaration was not taken, and what would do."""
    match why:
        case ForAnotherNode():
            anew = "`mesh-host forget --everything` lets it be another"
            return (
                f"it is for the node {why.node}, and this machine is {why.this}",
                f"`mesh declare {why.this}` says what this one is to be; {anew}",
            )
        case OlderGeneration():
            return (
                f"it is of generation {why.generation}, and {why.taken} was taken before",
                f"one of generation {why.taken + 1} or newer would be taken",
            )
        case SameGeneration():
            return (
                f"another declaration of generation {why.generation} was taken before",
                f"one of generation {why.generation + 1} or newer would be taken",
            )
        case EmptyWithoutWord():
            return (
                f"generation {why.generation} says nothing at all, and not that this is meant",
                'if the machine is to give everything back, it has to say "empty": true',
            )
        case TooManyRemovals():
            going = some([named(identity) for identity in why.going])
            return (
                f"it takes off {len(why.going)} of the {why.owned} things that the mesh has here: {going}",
                f'at most {why.most} go at once; if all are to go, it has to say "allow_removals": true',
            )
        case _:
            assert_never(why)


def not_taken_to_data(why: NotTaken) -> dict[str, Any]:
    """The same as plain data, with a code."""
    match why:
        case ForAnotherNode():
            return {"code": "for-another-node", "node": why.node, "this": why.this}
        case OlderGeneration():
            return {"code": "older-generation", "generation": why.generation, "taken": why.taken}
        case SameGeneration():
            return {"code": "same-generation", "generation": why.generation}
        case EmptyWithoutWord():
            return {"code": "empty-without-word", "generation": why.generation}
        case TooManyRemovals():
            numbers = {"generation": why.generation, "owned": why.owned, "most": why.most}
            return {"code": "too-many-removals", **numbers, "going": list(why.going)}
        case _:
            assert_never(why)
