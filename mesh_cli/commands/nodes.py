"""`mesh node ...`: the machines, and what they said of themselves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mesh_cli import at_broker, reading, wiring_broker
from mesh_cli.exits import Exit, Stop
from mesh_cli.looking import how_it_stands
from mesh_cli.lookup import known_node
from mesh_cli.options import (
    AnywayOption,
    BrokerOption,
    JsonOption,
    NodeArgument,
    NoInputOption,
    StoreOption,
    YesOption,
    checked_name,
)
from mesh_cli.output import note, say, say_json, table
from mesh_cli.recording import Recording
from mesh_cli.wiring import opened_store

if TYPE_CHECKING:
    from mesh_core.analysis.material import Settled
    from mesh_core.change import Change
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.node import Node

group = typer.Typer(help="The machines.", rich_markup_mode=None, no_args_is_help=True)


@group.command("add")
def add(
    names: Annotated[list[str], typer.Argument(metavar="NODE", show_default=False, hidden=True)],
    *,
    broker: BrokerOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Add nodes. A node that never reported counts as having no capability.

    Where a broker is named, their queues are made there as well. It is no
    failure when that cannot be done now: the first push makes them too.

    Example: mesh node add nas
    """
    for name in names:
        checked_name("node", name)
    wiring_broker.check_flag(broker)

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import PutNode
        from mesh_core.model.node import Node

        there = [name for name in names if mesh.node(name) is not None]
        if there:
            line = f"there is a node {there[0]!r} already"
            raise Stop(Exit.FAILED, "exists", line, {"name": there[0]})
        return [PutNode(node=Node(name=name)) for name in dict.fromkeys(names)]

    def also() -> dict[str, Any]:
        return _queues_made(broker, list(dict.fromkeys(names)))

    Recording("node", "add", *names, store=store, as_json=as_json).run(decide, also=also)


def _queues_made(broker: str | None, nodes: list[str]) -> dict[str, Any]:
    beside = at_broker.beside(broker, lambda reached: reached.add_nodes(nodes))
    if beside is None:
        return {}
    if beside.failed is not None:
        makes = "the first push, `mesh node invite` or `mesh broker setup` makes them"
        note(f"the queues of {', '.join(nodes)} are not made yet: {beside.failed.lines[0]}; {makes}")
    return {"queues": beside.facts("made")}


@group.command("remove")
def remove(
    node: NodeArgument,
    *,
    yes: YesOption = False,
    no_input: NoInputOption = False,
    anyway: AnywayOption = False,
    broker: BrokerOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget a node, and every pin at it.

    Its assignments, its pins and what it reported go as well; where a broker
    is named, so do its queues there. Its machine's account stays until
    `mesh node revoke`.

    Example: mesh node remove attic
    """
    wiring_broker.check_flag(broker)

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import DropNode

        known_node(mesh, node)
        return [DropNode(node=node)]

    def also() -> dict[str, Any]:
        if not as_json:
            say("  its machine keeps what it has until `mesh-host leave` there")
        return _queues_removed(broker, node, as_json=as_json)

    asks = not (yes or no_input)
    recording = Recording("node", "remove", node, store=store, as_json=as_json, anyway=anyway, asks=asks)
    recording.run(decide, also=also)


def _queues_removed(broker: str | None, node: str, *, as_json: bool) -> dict[str, Any]:
    beside = at_broker.beside(broker, lambda reached: reached.remove_node(node))
    if beside is None:
        return {}
    if beside.failed is not None:
        takes = f"`mesh node revoke {node}` takes them away"
        note(f"the queues of {node} stay at the broker: {beside.failed.lines[0]}; {takes}")
    elif not as_json:
        say(f"  its queues at the broker are gone; `mesh node revoke {node}` shuts its machine out there")
    return {"queues": beside.facts("removed")}


@group.command("report")
def report(
    node: NodeArgument,
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE", help='A JSON object like {"systemd": true}, or -.', show_default=False
        ),
    ],
    *,
    anyway: AnywayOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Record what a machine said of itself.

    That is its capabilities, each present or absent. It takes the place of whatever the machine said before.

    Example: mesh node report nas capabilities.json
    """
    capabilities = reading.report(file)

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import Report

        known_node(mesh, node)
        return [Report(node=node, capabilities=capabilities)]

    Recording("node", "report", node, file, store=store, as_json=as_json, anyway=anyway).run(decide)


@group.command("list")
def list_nodes(*, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the nodes, their plans and their states.

    PLAN is whether the mesh resolves for it; what it wants and has is as in `mesh status`.

    Example: mesh node list
    """
    from mesh_cli.render.status import HEAD, cells
    from mesh_core.explain.state_of_nodes import state_to_data
    from mesh_core.model.resolution import Plan
    from mesh_core.wire.data import node_to_data

    with opened_store(store) as opened:
        mesh, found, states, _ = how_it_stands(opened)
    if as_json:
        entries = [(node, {"status": _status(node.name, found)}) for node in mesh.nodes]
        say_json({"nodes": [node_to_data(n) | plan | state_to_data(states[n.name]) for n, plan in entries]})
        return
    if not mesh.nodes:
        say("there are no nodes yet; add one: mesh node add NAME")
        return
    rows, networked = [], mesh.network is not None
    for node in mesh.nodes:
        outcome = found.resolution.nodes[node.name]
        takes = sorted({answer.node for answer in outcome.takes}) if isinstance(outcome, Plan) else []
        modules = str(len(outcome.placed))
        reported = "never" if node.capabilities is None else _present(node.capabilities)
        planned = [node.name, *([node.network.address or "-"] if networked else [])]
        planned += [_status(node.name, found), modules, ", ".join(takes) or "-"]
        rows.append([*planned, *cells(states[node.name]), reported])
    named = ["NODE", *(["ADDRESS"] if networked else [])]
    say(table(rows, [*named, "PLAN", "MODULES", "TAKES FROM", *HEAD, "CAPABILITIES"]))


@group.command("show")
def show(node: NodeArgument, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Show what was said of a node, its state, and what it reported.

    Example: mesh node show nas
    """
    from mesh_cli.render.status import rows_of
    from mesh_core.explain.material import material_to_data
    from mesh_core.explain.state_of_nodes import state_to_data
    from mesh_core.wire.data import node_to_data, outcome_to_data

    with opened_store(store) as opened:
        mesh, found, states, _ = how_it_stands(opened)
    entry = known_node(mesh, node)
    outcome = found.resolution.nodes[node]
    if as_json:
        material = [material_to_data(fault) for fault in found.faults if fault.node == node]
        data = {"node": node_to_data(entry), "outcome": outcome_to_data(outcome)}
        say_json(data | state_to_data(states[node]) | ({"material": material} if material else {}))
        return
    rows = [["node", entry.name], ["plan", f"{_status(node, found)} (`mesh plan {node}` says what and why)"]]
    rows.append(["assigned", ", ".join(entry.assigned) or "-"])
    pulled = sorted(module.name for module in outcome.placed if module.reason == "pulled-in")
    rows.append(["pulled in", ", ".join(pulled) or "-"])
    rows += [["pin", f"{pin.provision} from {pin.target}"] for pin in entry.pins]
    rows += _network_rows(mesh, entry)
    say(table([*rows, *rows_of(states[node]), *_reported(entry)]))


def _network_rows(mesh: Mesh, entry: Node) -> Iterator[list[str]]:
    """How it is attached to the network, where that was said, and by which key the others know it."""
    from mesh_core.explain.network import attachment
    from mesh_core.model.network import UNATTACHED

    if mesh.network is not None or entry.network != UNATTACHED:
        yield ["network", attachment(entry.network)]
        yield ["key", entry.network.key or "none yet: its machine has not reported one"]


def _reported(entry: Node) -> Iterator[list[str]]:
    """What a machine has, by its own word."""
    if entry.capabilities is None:
        yield ["reported", "never: it counts as having nothing until it does"]
    for capability in entry.capabilities or ():
        said = "present" if capability.present else "absent"
        detail = f": {capability.detail}" if capability.detail else ""
        yield ["reported", f"{capability.name} {said}{detail}"]


def _status(node: str, found: Settled) -> str:
    return "refused" if node in found.refused else "planned"


def _present(capabilities: Iterable[Any]) -> str:
    return ", ".join(c.name for c in capabilities if c.present) or "nothing"
