"""The chain from an assignment to a need: `pi -> web (assigned) -> requires database`."""

from __future__ import annotations

from collections.abc import Iterable

from mesh_core.model.catalogue import Catalogue
from mesh_core.model.module import Scope
from mesh_core.model.resolution import Dependent, Outcome, PlannedModule, Reason


def chain_to(module: str, outcome: Outcome, end: str = "", catalogue: Catalogue | None = None) -> str:
    """How a module of S(n) came onto its node, by the fewest steps, and `end` behind it.

    A module that nobody assigned is there because of another's requirement, and that one in turn. Nothing
    is bound to a module that is stuck: what pulled it in, the catalogue knows.
    """
    placed = {placed.name: placed for placed in outcome.placed}
    steps: list[str] = []
    trail = _shortest(module, placed, catalogue)
    for name, requires in trail:
        said = " (assigned)" if placed[name].reason is Reason.ASSIGNED else ""
        steps.append(f"{name}{said}")
        if requires:
            steps.append(f"requires {requires}")
    return " -> ".join([outcome.node, *steps, *([end] if end else [])])


def _shortest(
    module: str, placed: dict[str, PlannedModule], catalogue: Catalogue | None
) -> list[tuple[str, str]]:
    """The modules from an assigned one to `module`, each with the name it requires of the next."""
    trails: list[list[tuple[str, str]]] = [[(module, "")]]
    seen = {module}
    for trail in trails:
        first = placed[trail[0][0]]
        if first.reason is Reason.ASSIGNED:
            return trail
        for dependent in first.by or _pulling(first.name, placed, catalogue):
            if dependent.module not in seen:
                seen.add(dependent.module)
                trails.append([(dependent.module, dependent.requires), *trail])
    return trails[0]


def _pulling(module: str, placed: Iterable[str], catalogue: Catalogue | None) -> list[Dependent]:
    """The requirements of modules on the node that `module` alone provides."""
    manifest = catalogue.get(module) if catalogue else None
    if catalogue is None or manifest is None:
        return []
    own = {p.name for p in manifest.provides if p.scope is Scope.NODE}
    shared = {p.name for other in catalogue if other is not manifest for p in other.provides}
    members = [member for name in placed if (member := catalogue.get(name)) is not None]
    return [
        Dependent(module=member.name, requires=requirement.name)
        for member in members
        for requirement in member.requires
        if requirement.name in own - shared
    ]
