"""How a dependency graph looks: as text, mermaid, dot, or plain data."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from mesh_core.analysis.dependency_graph import DependencyGraph

_Place = tuple[str, str]


class Drawing:
    """A graph; of one node, with what it leads to and what leads to it, where one is named."""

    def __init__(self, graph: DependencyGraph, node: str | None) -> None:
        self._graph = graph
        self._edges = sorted(
            (asking, answering, data)
            for asking, answering, data in graph.edges(data=True)
            if node is None or node in (asking[0], answering[0])
        )
        near = {place for edge in self._edges for place in edge[:2]}
        self._places = sorted(place for place in graph if node is None or place[0] == node or place in near)

    def text(self) -> Iterator[str]:
        """For each node its modules, and below each what answers it."""
        current = None
        for place in self._places:
            node, module = place
            if node != current:
                yield ("" if current is None else "\n") + node + self._state(place)
                current = node
            attributes = self._graph.nodes[place]
            yield f"  {module} {attributes['version']}  {attributes['reason']}"
            for asking, answering, data in self._edges:
                if asking == place:
                    names = ", ".join(data["requirements"])
                    where = f"{answering[1]} on {answering[0]}" if data["crosses"] else answering[1]
                    yield f"    {names} -> {where}"

    def mermaid(self) -> Iterator[str]:
        """A mermaid flowchart, with a subgraph for each node."""
        yield "flowchart LR"
        number = {place: f"m{at}" for at, place in enumerate(self._places)}
        for at, (node, places) in enumerate(self._by_node().items()):
            yield f"  subgraph n{at}[{_quoted(node + self._state(places[0]))}]"
            yield from (f"    {number[place]}[{_quoted(place[1])}]" for place in places)
            yield "  end"
        for asking, answering, data in self._edges:
            arrow = "-.->" if data["crosses"] else "-->"
            label = _quoted(", ".join(data["requirements"]))
            yield f"  {number[asking]} {arrow}|{label}| {number[answering]}"

    def dot(self) -> Iterator[str]:
        """A digraph for Graphviz, with a cluster for each node."""
        yield "digraph mesh {"
        yield "  rankdir=LR;"
        for at, (node, places) in enumerate(self._by_node().items()):
            yield f"  subgraph cluster_{at} {{"
            yield f"    label={_quoted(node + self._state(places[0]))};"
            yield from (f"    {_quoted('/'.join(p))} [label={_quoted(p[1])}];" for p in places)
            yield "  }"
        for asking, answering, data in self._edges:
            style = ", style=dashed" if data["crosses"] else ""
            label = _quoted(", ".join(data["requirements"]))
            yield f"  {_quoted('/'.join(asking))} -> {_quoted('/'.join(answering))} [label={label}{style}];"
        yield "}"

    def data(self) -> dict[str, Any]:
        """Plain data: the modules on nodes, and the edges between them."""
        return {
            "nodes": [
                {"node": place[0], "module": place[1], **self._graph.nodes[place]} for place in self._places
            ],
            "edges": [
                {
                    "from": {"node": asking[0], "module": asking[1]},
                    "to": {"node": answering[0], "module": answering[1]},
                    "requirements": list(data["requirements"]),
                    "crosses": data["crosses"],
                }
                for asking, answering, data in self._edges
            ],
        }

    def _by_node(self) -> dict[str, list[_Place]]:
        by_node: dict[str, list[_Place]] = {}
        for place in self._places:
            by_node.setdefault(place[0], []).append(place)
        return by_node

    def _state(self, place: _Place) -> str:
        return "" if self._graph.nodes[place]["planned"] else " (refused)"


def _quoted(text: str) -> str:
    return json.dumps(text)
