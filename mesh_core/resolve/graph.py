"""The one door to networkx: the graph of who needs whom, its order, its closures and its cycles.

It is imported where it is used: a host, which never resolves, has no memory to spare for it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:
    import networkx as nx

Graph: TypeAlias = "nx.DiGraph[str]"


def needs_graph(modules: Iterable[str], needs: Iterable[tuple[str, str]]) -> Graph:
    """A graph with an edge to each module from each provider that it needs.

    `needs` are pairs (provider, module); `modules` makes those with no needs stand in it too.
    """
    import networkx as nx

    graph: Graph = nx.DiGraph()
    graph.add_nodes_from(modules)
    graph.add_edges_from(needs)
    return graph


def providers_first(graph: Graph) -> list[str]:
    """The lexicographical topological order, as far as it goes.

    Modules on a cycle, or behind one, can never be appended and are left out.
    """
    import networkx as nx

    order: list[str] = []
    # It yields all that can be appended before it finds that something is left.
    with suppress(nx.NetworkXUnfeasible):
        order += nx.lexicographical_topological_sort(graph)
    return order


def closures(graph: Graph, needs: Mapping[str, Iterable[str]]) -> dict[str, frozenset[str]]:
    """For each module, itself and everything that it needs, directly or not; `needs` made the graph."""
    import networkx as nx

    closure: dict[str, frozenset[str]] = {}
    # A component comes before every component that it needs; all in it have one closure.
    for component in reversed(list(nx.strongly_connected_components(graph))):
        needed = {provider for module in component for provider in needs[module]} - component
        whole = frozenset(component).union(*[closure[provider] for provider in needed])
        for module in component:
            closure[module] = whole
    return closure


def cycles(graph: Graph) -> list[tuple[str, ...]]:
    """The strongly connected components of two or more, each sorted, in order of their first name."""
    import networkx as nx

    components = nx.strongly_connected_components(graph)
    return sorted(tuple(sorted(component)) for component in components if len(component) > 1)
