"""Who depends on whom in a resolution, as a networkx graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeAlias

from mesh_core.model.resolution import Outcome, Plan, Resolution

if TYPE_CHECKING:
    import networkx as nx

DependencyGraph: TypeAlias = "nx.DiGraph[tuple[str, str]]"


def dependency_graph(resolution: Resolution) -> DependencyGraph:
    """A directed graph of every module on every node, with an edge from each to what answers it.

    Its nodes are pairs (node, module) with the attributes `version`, `reason` (`assigned`, `pulled-in`) and
    `planned` (whether the node is). An edge goes from the module that requires to the one that provides,
    with `requirements` (the names, sorted) and `crosses` (whether it leads to another machine).
    """
    import networkx as nx

    graph: DependencyGraph = nx.DiGraph()
    for outcome in resolution.outcomes:
        for module in outcome.placed:
            graph.add_node(
                (outcome.node, module.name),
                version=module.version,
                reason=module.reason.value,
                planned=isinstance(outcome, Plan),
            )
    for outcome in resolution.outcomes:
        _add_bindings(graph, outcome)
        _add_answers(graph, outcome)
    return graph


def _add_bindings(graph: DependencyGraph, outcome: Outcome) -> None:
    node = outcome.node
    for binding in outcome.bindings:
        _add(graph, (node, binding.module), (node, binding.provider), binding.requires)


def _add_answers(graph: DependencyGraph, outcome: Outcome) -> None:
    for answer in outcome.answers:
        for module in answer.required_by:
            _add(graph, (outcome.node, module), (answer.node, answer.module), answer.provision)


def _add(graph: DependencyGraph, asking: tuple[str, str], answering: tuple[str, str], name: str) -> None:
    before = graph.edges[asking, answering]["requirements"] if graph.has_edge(asking, answering) else ()
    graph.add_edge(
        asking,
        answering,
        requirements=tuple(sorted({*before, name})),
        crosses=asking[0] != answering[0],
    )
