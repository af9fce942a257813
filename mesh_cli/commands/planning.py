"""`mesh plan`, `graph`, `lint`: what would be, without changing anything."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.looking import mesh_of, other_networks
from mesh_cli.lookup import known_node
from mesh_cli.options import FileOption, JsonOption, OptionalNode, StoreOption
from mesh_cli.output import say, say_json, visible
from mesh_cli.wiring import known_kinds, opened_store, settled

if TYPE_CHECKING:
    from mesh_core.analysis.material import Settled
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.sent import Standing
    from mesh_core.push import Outcome


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

    Below each module stands what it takes from elsewhere. Ends with 3 where a node is refused,
    or a template on it names what does not exist. With --file it needs no store.

    Example: mesh plan --file examples/homelab/mesh.toml
    """
    from mesh_cli.render.plan import PlanView
    from mesh_core.explain.material import material_to_data
    from mesh_core.resolve import resolve
    from mesh_core.wire.data import resolution_to_data

    mesh, declared = mesh_of(file, store)
    if node is not None:
        known_node(mesh, node)
    found = settled(mesh, resolve(mesh))
    nodes = found.resolution.nodes
    shown = nodes if node is None else {node: nodes[node]}
    outcomes, standings, networks = (
        _as_pushed(mesh, found, shown, store) if file is None else (None, {}, frozenset())
    )
    view = PlanView(mesh, found, declared, outcomes, standings, networks)
    if as_json:
        document = resolution_to_data(found.resolution)
        document["nodes"] = {name: document["nodes"][name] for name in shown}
        material = [material_to_data(fault) for fault in found.faults if fault.node in shown]
        document |= {"material": material} if material else {}
        say_json(document | _network_facts(mesh, found, shown))
    else:
        say(view.whole() if node is None else view.of_node(node))
        say(_what_would_wait(outcomes or {}))
    if not found.refused.isdisjoint(shown):
        raise typer.Exit(Exit.REFUSED)
    if detailed_exitcode and view.changes(shown):
        raise typer.Exit(Exit.CHANGES_PENDING)


def _network_facts(mesh: Mesh, found: Settled, nodes: Collection[str]) -> dict[str, Any]:
    """Which addresses these nodes have and what is amiss in the overlay; nothing where there is none."""
    from mesh_cli.render.network import facts
    from mesh_core.network.overlay import overlay

    return {} if mesh.network is None else {"network": facts(mesh, overlay(mesh, found.resolution), nodes)}


def _as_pushed(
    mesh: Mesh, found: Settled, nodes: Collection[str], store: Path | None
) -> tuple[Mapping[str, Outcome], Mapping[str, Standing], Collection[str]]:
    """What a push would come to of those nodes that were sent something, and what they were sent.

    Behind it those of them that would be told of another network, and of nothing else.
    """
    from mesh_core.push import Words, decide

    with opened_store(store) as opened:
        standings = opened.standings()
        sent = {name for name in nodes if name in standings and standings[name].sent}
        outcomes = decide(mesh, found, standings, Words(), sent)
        return outcomes, standings, other_networks(opened, outcomes)


def _what_would_wait(outcomes: Mapping[str, Outcome]) -> Iterator[str]:
    """What a push would hold back, and which word it wants."""
    from mesh_core.explain.push import why_it_waits
    from mesh_core.push import Held

    for name, outcome in outcomes.items():
        for why in outcome.whys if isinstance(outcome, Held) else ():
            first, *more = why_it_waits(name, why)
            yield visible(f"{name} would wait: {first}")
            yield from (visible(f"  {line}") for line in more)


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
    mesh, _ = mesh_of(file, store)
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

    mesh, _ = mesh_of(file, store)
    found = find(mesh, known_kinds())
    if as_json:
        say_json({"lint": [lint_to_data(entry) for entry in found]})
    else:
        say([sentence(entry) for entry in found] or "nothing looks like a mistake")
