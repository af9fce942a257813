"""`mesh plan`, `graph`, `lint`: what would be, without changing anything."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mesh_cli import reading
from mesh_cli.exits import Exit, Stop
from mesh_cli.lookup import known_node
from mesh_cli.options import FileOption, JsonOption, OptionalNode, StoreOption
from mesh_cli.output import say, say_json
from mesh_cli.wiring import opened_store

if TYPE_CHECKING:
    from mesh_core.model.mesh import Mesh


class GraphFormat(StrEnum):
    """How a graph is written."""

    TEXT = "text"
    MERMAID = "mermaid"
    DOT = "dot"
    JSON = "json"


def plan(
    node: OptionalNode = None,
    *,
    file: FileOption = None,
    detailed_exitcode: Annotated[
        bool, typer.Option("--detailed-exitcode", help="End with 2 where something would change.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what every node would be and why, or why it is refused.

    Below each module stands what it takes from elsewhere. Ends with 3 where a node is refused.
    With --file it needs no store.

    Example: mesh plan --file examples/homelab/mesh.toml
    """
    from mesh_cli.render.plan import PlanView
    from mesh_core.resolve import resolve
    from mesh_core.wire.data import resolution_to_data

    mesh, declared = _mesh(file, store)
    if node is not None:
        known_node(mesh, node)
    resolution = resolve(mesh)
    shown = resolution.nodes if node is None else {node: resolution.nodes[node]}
    refused = any(name in shown for name in (refusal.node for refusal in resolution.refusals))
    view = PlanView(mesh, resolution, declared)
    if as_json:
        document = resolution_to_data(resolution)
        document["nodes"] = {name: document["nodes"][name] for name in shown}
        say_json(document)
    else:
        say(view.whole() if node is None else view.of_node(node))
    if refused:
        raise typer.Exit(Exit.REFUSED)
    if detailed_exitcode and view.changes(shown):
        raise typer.Exit(Exit.CHANGES_PENDING)


def graph(
    node: OptionalNode = None,
    *,
    file: FileOption = None,
    written: Annotated[
        GraphFormat, typer.Option("--format", "-f", help="text, mermaid, dot or json.")
    ] = GraphFormat.TEXT,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show which module needs which, on every node and between nodes.

    Example: mesh graph --format mermaid
    """
    from mesh_cli.render import graph as render
    from mesh_core.analysis.dependency_graph import dependency_graph
    from mesh_core.resolve import resolve

    if as_json and written in (GraphFormat.MERMAID, GraphFormat.DOT):
        raise Stop(Exit.USAGE, "two-formats", f"--json and --format {written} are two formats; give one")
    mesh, _ = _mesh(file, store)
    if node is not None:
        known_node(mesh, node)
    drawn = render.Drawing(dependency_graph(resolve(mesh)), node)
    if as_json or written is GraphFormat.JSON:
        say_json(drawn.data())
    elif written is GraphFormat.MERMAID:
        say(drawn.mermaid())
    elif written is GraphFormat.DOT:
        say(drawn.dot())
    else:
        say(list(drawn.text()) or "there is nothing to draw: no module is on any node here")


def lint(*, file: FileOption = None, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Show what is no problem but likely a mistake.

    Pins that do nothing, say, or modules that nobody uses.

    Example: mesh lint --file examples/homelab/mesh.toml
    """
    from mesh_core.analysis.lint import lint as find
    from mesh_core.explain.lint import lint_to_data, sentence

    mesh, _ = _mesh(file, store)
    found = find(mesh)
    if as_json:
        say_json({"lint": [lint_to_data(entry) for entry in found]})
    else:
        say([sentence(entry) for entry in found] or "nothing looks like a mistake")


def _mesh(file: str | None, store: Path | None) -> tuple[Mesh, Mapping[str, tuple[str, ...]]]:
    """The mesh to look at, and what was last declared on its nodes."""
    if file is not None and store is not None:
        raise Stop(Exit.USAGE, "two-meshes", "--file and --store are two meshes; give one")
    if file is not None:
        return reading.mesh_document(file).mesh, {}
    with opened_store(store) as opened:
        return opened.mesh(), opened.declared()
