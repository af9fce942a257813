"""Small pieces of sentences: lists of names, what is near, how a step is typed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from typing import assert_never

from mesh_core.analysis.what_if import Step
from mesh_core.change import Assign, SetPin, Unassign, Unpin
from mesh_core.problems import Offer

FEW = 5
_UNITS = ((86400, "d"), (3600, "h"), (60, "min"))


def both(names: Sequence[str]) -> str:
    """`a`, `a and b`, `a, b and c`; of many the first few and how many more there are."""
    shown = list(names) if len(names) <= FEW + 1 else [*names[:FEW], f"{len(names) - FEW} more"]
    *most, last = shown
    return f"{', '.join(most)} and {last}" if most else last


def some(names: Sequence[str]) -> str:
    """`a, b, c`; of many the first few and how many more there are."""
    if len(names) <= FEW + 1:
        return ", ".join(names)
    return f"{', '.join(names[:FEW])} and {len(names) - FEW} more"


def verb(names: Sequence[str], one: str, several: str) -> str:
    """The form of a verb that goes with so many names."""
    return one if len(names) == 1 else several


def counted(count: int, one: str, several: str | None = None) -> str:
    """`1 node`, `2 nodes`."""
    return f"{count} {one if count == 1 else several or one + 's'}"


def offer(offered: Offer) -> str:
    """`nas (postgres)`."""
    return f"{offered.node} ({offered.module})"


def near(name: str, known: Iterable[str]) -> list[str]:
    """The known names nearest in spelling, the nearest first, at most three."""
    return get_close_matches(name, list(known), n=3, cutoff=0.6)


def command(step: Step) -> str:
    """The command line that says a step."""
    match step:
        case Assign(node=node, module=module):
            return f"mesh assign {node} {module}"
        case Unassign(node=node, module=module):
            return f"mesh unassign {node} {module}"
        case SetPin(node=node, pin=pin):
            return f"mesh pin {node} {pin.provision} {pin.target}"
        case Unpin(node=node, provision=provision):
            return f"mesh unpin {node} {provision}"
        case _:
            assert_never(step)


def span(seconds: float) -> str:
    """How long something is, roughly: `8 s`, `5 min`, `3 h`, `2 d`."""
    whole = max(int(seconds), 0)
    for size, unit in _UNITS:
        if whole >= size:
            return f"{whole // size} {unit}"
    return f"{whole} s"
