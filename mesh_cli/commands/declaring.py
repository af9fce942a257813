"""`mesh declare`: what a node would be told, without telling it."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.looking import mesh_of
from mesh_cli.lookup import known_node
from mesh_cli.options import FileOption, JsonOption, NodeArgument, StoreOption
from mesh_cli.output import say, unstyled, visible
from mesh_cli.wiring import opened_store, settled

if TYPE_CHECKING:
    from mesh_core.analysis.material import Settled
    from mesh_core.model.declaration import Declaration
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.resolution import Plan
    from mesh_core.model.sent import Standing


def declare(
    node: NodeArgument,
    *,
    file: FileOption = None,
    generation: Annotated[
        int | None,
        typer.Option(
            "--generation", metavar="N", min=0, help="Its generation, which only grows (default: the next)."
        ),
    ] = None,
    allow_removals: Annotated[
        bool, typer.Option("--allow-removals", help="The node may take off as much as it has to.")
    ] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show the declaration that a push would send to a node.

    With --json it is the document itself, which `mesh-host apply -` reads. Ends with 3 where
    the node is refused. With --file it needs no store.

    Example: mesh declare nas --file examples/homelab/mesh.toml --json
    """
    from mesh_core.declare import declare as declaration_of
    from mesh_core.network.overlay import overlay
    from mesh_core.push.content import kept_takes
    from mesh_core.resolve import resolve

    mesh, declared = mesh_of(file, store)
    known_node(mesh, node)
    found = settled(mesh, resolve(mesh))
    plan = _planned(node, mesh, found, declared)
    standings = _standings(file, store)
    standing = standings.get(node)
    last = standing.last if standing is not None else 0
    declaration = declaration_of(
        plan,
        mesh,
        generation=last + 1 if generation is None else generation,
        allow_removals=allow_removals,
        network=overlay(mesh, found.resolution, kept_takes(found.refused, standings)).networks.get(node),
    )
    document = _document(declaration)
    if as_json:
        say(document)
        return
    from mesh_core.explain.declaration import summary

    say(visible(line) for line in summary(declaration, plan))


def _standings(file: str | None, store: Path | None) -> Mapping[str, Standing]:
    """What each node was sent, as a push looks at it; a document knows of nothing."""
    if file is not None:
        return {}
    with opened_store(store) as opened:
        return opened.standings()


def _planned(node: str, mesh: Mesh, found: Settled, declared: Mapping[str, tuple[str, ...]]) -> Plan:
    """The node's plan. Stops where it is refused, as `mesh plan` says it."""
    from mesh_cli.render.plan import PlanView
    from mesh_core.explain.material import material_to_data
    from mesh_core.model.resolution import Plan
    from mesh_core.wire.data import outcome_to_data

    outcome = found.resolution.nodes[node]
    if isinstance(outcome, Plan) and node not in found.refused:
        return outcome
    lines = [unstyled(line) for line in PlanView(mesh, found, declared).of_node(node)]
    problems = outcome_to_data(outcome).get("problems", [])
    material = [material_to_data(fault) for fault in found.faults if fault.node == node]
    raise Stop(Exit.REFUSED, "refused", lines, {"node": node, "problems": problems, "material": material})


def _document(declaration: Declaration) -> str:
    """The document as it is printed: indented, where it is not too large for that."""
    from mesh_cli.output import json_text
    from mesh_core.canonical import canonical_json
    from mesh_core.explain.declaration import largest
    from mesh_core.wire.declaration import declaration_to_data
    from mesh_core.wire.text import DECLARATION_LIMIT

    data = declaration_to_data(declaration)
    text = json_text(data)
    if len(text.encode()) <= DECLARATION_LIMIT:
        return text
    short = canonical_json(data)
    size = len(short.encode())
    if size <= DECLARATION_LIMIT:
        return short
    lines = [
        f"the declaration of {declaration.node} has {size} bytes, and at most {DECLARATION_LIMIT} are sent",
        "its largest parts:",
        *(f"  {part}" for part in largest(declaration)),
    ]
    facts = {"node": declaration.node, "bytes": size, "limit": DECLARATION_LIMIT}
    raise Stop(Exit.FAILED, "too-large", lines, facts)
