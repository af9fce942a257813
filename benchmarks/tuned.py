"""A tuned solver: breadth-first closure plus Kahn's algorithm over an index of the catalogue.

It answers the same as `plain`, closure and order, and shares nothing between nodes but the index, in which
a module's requirements are modules already. It is as fast as one seems to get in plain dictionaries, and is
shown beside the floors to tell how near `resolve` comes to that.
"""

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple

Solved = dict[str, tuple[set[str], list[str]]]
"""For each node S(n), and its order, which is shorter where modules are stuck."""


class Index(NamedTuple):
    """What closure and order need to know of a catalogue; made once for a mesh."""

    forced: dict[str, tuple[str, ...]]
    """For each module the modules that it pulls in, each once."""
    choices: dict[str, tuple[str, ...]]
    """For each module the names it requires that several modules provide; most have none."""
    supplies: dict[str, tuple[str, ...]]
    """For each module that provides names of `choices` those names."""
    providers: dict[str, tuple[str, ...]]
    """For each name of `choices` the modules that provide it."""


def solve(document: dict[str, Any]) -> Solved:
    """Closure and order of every node of a mesh document (design, part 4)."""
    index = index_of(document["modules"])
    solved = {}
    for node in document["nodes"]:
        found = closure(node.get("assign", ()), index.forced)
        solved[node["name"]] = (found, order(found, index))
    return solved


def index_of(modules: Sequence[dict[str, Any]]) -> Index:
    """The catalogue, indexed by module."""
    providers = providers_of(modules)
    forced, choices = {}, {}
    for module in modules:
        pulled: dict[str, None] = {}
        chosen = []
        for required in module.get("requires", ()):
            name = required if isinstance(required, str) else required["name"]
            found = providers.get(name, [])
            if len(found) == 1:
                pulled[found[0]] = None
            elif found:
                chosen.append(name)
        forced[module["name"]] = tuple(pulled)
        if chosen:
            choices[module["name"]] = tuple(chosen)
    shared = {name: tuple(found) for name, found in providers.items() if len(found) > 1}
    supplies: dict[str, tuple[str, ...]] = {}
    for name, several in shared.items():
        for provider in several:
            supplies[provider] = (*supplies.get(provider, ()), name)
    return Index(forced, choices, supplies, shared)


def providers_of(modules: Iterable[dict[str, Any]]) -> dict[str, list[str]]:
    """For each node-scoped name the modules that provide it."""
    providers: dict[str, list[str]] = {}
    for module in modules:
        for provided in module.get("provides", ()):
            if isinstance(provided, str):
                providers.setdefault(provided, []).append(module["name"])
            elif provided.get("scope", "node") == "node":
                providers.setdefault(provided["name"], []).append(module["name"])
    return providers


def closure(assigned: Iterable[str], forced: dict[str, tuple[str, ...]]) -> set[str]:
    """S(n): what is assigned and known, and what that pulls in, breadth first."""
    queue = [module for module in assigned if module in forced]
    found = set(queue)
    for module in queue:
        for provider in forced[module]:
            if provider not in found:
                found.add(provider)
                queue.append(provider)
    return found


def order(found: set[str], index: Index) -> list[str]:
    """The order of n: Kahn's algorithm with a heap.

    A requirement with several providers waits for the first of them that comes: its askers are
    taken out of `askers` by that one, and the later ones find nothing there.
    """
    waits, dependents, askers = waiting(found, index)
    supplies = index.supplies
    ready = [module for module in found if module not in waits]
    heapify(ready)
    ordered = []
    while ready:
        module = heappop(ready)
        ordered.append(module)
        released = dependents[module]
        if askers and module in supplies:
            for name in supplies[module]:
                released += askers.pop(name, ())
        for dependent in released:
            waits[dependent] -= 1
            if not waits[dependent]:
                heappush(ready, dependent)
    return ordered


def waiting(
    found: set[str], index: Index
) -> tuple[dict[str, int], dict[str, list[str]], dict[str, list[str]]]:
    """For each module how many it waits for, and who waits: for a module, and for a choice."""
    forced, choices, _, providers = index
    dependents: dict[str, list[str]] = {module: [] for module in found}
    askers: dict[str, list[str]] = {}
    waits: dict[str, int] = {}
    for module in found:
        pulled = forced[module]
        count = len(pulled)
        for provider in pulled:
            dependents[provider].append(module)
        if module in choices:
            for name in choices[module]:
                if not found.isdisjoint(providers[name]):
                    askers.setdefault(name, []).append(module)
                    count += 1
        if count:
            waits[module] = count
    return waits, dependents, askers
