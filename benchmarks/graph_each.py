"""The second floor: one networkx graph built and sorted for every node.

The straightforward way to use networkx for design, part 3; again closure and order only. The
closure is the plain one, so what is compared is the graph.
"""

from collections.abc import Iterator
from itertools import product
from typing import Any

import networkx as nx

from benchmarks.tuned import Index, Solved, closure, index_of


def solve(document: dict[str, Any]) -> Solved:
    """Closure and order of every node of a mesh document (design, part 4).

    The order is empty where modules are stuck: networkx then gives none.
    """
    index = index_of(document["modules"])
    solved = {}
    for node in document["nodes"]:
        found = closure(node.get("assign", ()), index.forced)
        solved[node["name"]] = (found, order(found, index))
    return solved


def order(found: set[str], index: Index) -> list[str]:
    """The order of n by `networkx.lexicographical_topological_sort`, providers first.

    A graph cannot say "one of these comes first", so where a node has several providers of a name
    one is bound, alphabetically, and the next combination tried if another came earlier after all.
    """
    answered = {
        name: [provider for provider in sorted(index.providers[name]) if provider in found]
        for module in found
        if module in index.choices
        for name in index.choices[module]
    }
    answered = {name: present for name, present in answered.items() if present}
    for combination in product(*answered.values()):
        bound = dict(zip(answered, combination, strict=True))
        try:
            ordered = list(nx.lexicographical_topological_sort(graph(found, index, bound)))
        except nx.NetworkXUnfeasible:
            continue
        if all(
            bound[name] == min(present, key=ordered.index)
            for name, present in answered.items()
            if len(present) > 1
        ):
            return ordered
    return []


def graph(found: set[str], index: Index, bound: dict[str, str]) -> "nx.DiGraph[str]":
    """The dependency graph of one node, with an edge from each provider to what waits for it."""
    built: nx.DiGraph[str] = nx.DiGraph()
    built.add_nodes_from(found)
    built.add_edges_from(edges(found, index, bound))
    return built


def edges(found: set[str], index: Index, bound: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Each provider with each module that waits for it."""
    for module in found:
        for provider in index.forced[module]:
            yield provider, module
        if module in index.choices:
            for name in index.choices[module]:
                if name in bound:
                    yield bound[name], module
