"""The chain from an assignment to a need: `pi -> web (assigned) -> requires database`."""

from __future__ import annotations

from mesh_core.model.resolution import Outcome, Reason


def chain_to(module: str, outcome: Outcome, end: str = "") -> str:
    """How a module of S(n) came onto its node, by the fewest steps, and `end` behind it.

    A module that nobody assigned is there because of another's requirement, and that one in turn.
    """
    placed = {placed.name: placed for placed in outcome.placed}
    steps: list[str] = []
    trail = _shortest(module, outcome)
    for name, requires in trail:
        said = " (assigned)" if placed[name].reason is Reason.ASSIGNED else ""
        steps.append(f"{name}{said}")
        if requires:
            steps.append(f"requires {requires}")
    return " -> ".join([outcome.node, *steps, *([end] if end else [])])


def _shortest(module: str, outcome: Outcome) -> list[tuple[str, str]]:
    """The modules from an assigned one to `module`, each with the name it requires of the next."""
    placed = {placed.name: placed for placed in outcome.placed}
    trails: list[list[tuple[str, str]]] = [[(module, "")]]
    seen = {module}
    for trail in trails:
        first = placed[trail[0][0]]
        if first.reason is Reason.ASSIGNED:
            return trail
        for dependent in first.by:
            if dependent.module not in seen:
                seen.add(dependent.module)
                trails.append([(dependent.module, dependent.requires), *trail])
    return trails[0]
