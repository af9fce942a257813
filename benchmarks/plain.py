"""The first floor: breadth-first closure plus Kahn's algorithm, in plain dictionaries.

What one writes from design, part 3, to get S(n) and the order of n, node by node: requirements are names, and
each is looked up when it is met. It makes no values, looks for no problem, keeps no reasons, and shares
nothing between nodes but the dictionaries of the catalogue.
"""

from collections import deque
from collections.abc import Iterable, Mapping
from heapq import heapify, heappop, heappush
from typing import Any

Requires = Mapping[str, list[str]]
Providers = Mapping[str, list[str]]


def solve(document: dict[str, Any]) -> dict[str, tuple[set[str], list[str]]]:
    """Closure and order of every node of a mesh document (design, part 4).

    The order is shorter than the closure where modules are stuck.
    """
    requires = {module["name"]: names(module.get("requires", ())) for module in document["modules"]}
    providers: dict[str, list[str]] = {}
    for module in document["modules"]:
        for provided in module.get("provides", ()):
            if isinstance(provided, str):
                providers.setdefault(provided, []).append(module["name"])
            elif provided.get("scope", "node") == "node":
                providers.setdefault(provided["name"], []).append(module["name"])
    solved = {}
    for node in document["nodes"]:
        found = closure(node.get("assign", ()), requires, providers)
        solved[node["name"]] = (found, order(found, requires, providers))
    return solved


def names(entries: Iterable[str | dict[str, Any]]) -> list[str]:
    """The names of a list of short and long forms."""
    return [entry if isinstance(entry, str) else entry["name"] for entry in entries]


def closure(assigned: Iterable[str], requires: Requires, providers: Providers) -> set[str]:
    """S(n): what is assigned and known, and what that pulls in, breadth first."""
    found: set[str] = set()
    queue = deque(assigned)
    while queue:
        module = queue.popleft()
        if module in found or module not in requires:
            continue
        found.add(module)
        for name in requires[module]:
            candidates = providers.get(name, ())
            if len(candidates) == 1:
                queue.append(candidates[0])
    return found


def order(found: set[str], requires: Requires, providers: Providers) -> list[str]:
    """The order of n: Kahn's algorithm with a heap; a name is answered by the first of its providers."""
    unanswered: dict[str, set[str]] = {}
    waiting: dict[str, list[tuple[str, str]]] = {}
    for module in found:
        unanswered[module] = set()
        for name in requires[module]:
            for provider in providers.get(name, ()):
                if provider in found:
                    unanswered[module].add(name)
                    waiting.setdefault(provider, []).append((module, name))
    ready = [module for module, answers in unanswered.items() if not answers]
    heapify(ready)
    ordered = []
    while ready:
        provider = heappop(ready)
        ordered.append(provider)
        for module, name in waiting.get(provider, ()):
            if name in unanswered[module]:
                unanswered[module].remove(name)
                if not unanswered[module]:
                    heappush(ready, module)
    return ordered
