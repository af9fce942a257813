"""`mesh push`: say to every node what it is to be."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from mesh_cli import wiring_flows as wiring
from mesh_cli.exits import Exit, Stop
from mesh_cli.lookup import known_node
from mesh_cli.options import BrokerOption, JsonOption, NodesArgument, StoreOption, checked_name
from mesh_cli.wiring import opened_broker, opened_store

if TYPE_CHECKING:
    from mesh_cli.render.push.teller import Teller
    from mesh_cli.wiring_flows import Asked, Looked, Publishing
    from mesh_core.model.mesh import Mesh
    from mesh_core.ports import Broker, Store

SHORTEST = 7
"""Characters of a plan's fingerprint that are shown, and that do to name it."""
PATIENCE = 120.0
"""Seconds that `--wait` waits, where nothing else is said."""


def push(
    nodes: NodesArgument = None,
    *,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Only show what would be sent.")] = False,
    wait: Annotated[
        bool, typer.Option("--wait", help="Watch until every node that was sent something is done.")
    ] = False,
    timeout: Annotated[
        float, typer.Option("--timeout", metavar="SECONDS", min=0, help="How long --wait waits.")
    ] = PATIENCE,
    move: Annotated[
        list[str] | None,
        typer.Option("--move", metavar="NODE/PROVISION", help="This answer may be another than before."),
    ] = None,
    allow_removals: Annotated[
        list[str] | None,
        typer.Option("--allow-removals", metavar="NODE", help="It may take off as much as it has to."),
    ] = None,
    plan: Annotated[
        str | None,
        typer.Option("--plan", metavar="FINGERPRINT", help="Only if this is still what `mesh plan` shows."),
    ] = None,
    broker: BrokerOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Send every node what it is to be, where that has changed.

    A refused node keeps what it has, and the others go out (ends with 4). With --wait a
    terminal shows a table of how the machines take it, and ctrl-c stops watching, not the
    change; elsewhere there is a line for each piece of news. With --json it prints one object
    a line.

    Example: mesh push --wait
    """
    from mesh_cli.render.push.choosing import teller

    with opened_store(store) as opened:
        asked = _asked(opened.mesh(), nodes or [], move or [], allow_removals or [])
        tell = teller(as_json=as_json, watches=wait)
        if dry_run:
            looked = wiring.look(opened, asked)
            _as_shown(looked, plan)
            tell.looked(looked, dry_run=True)
            code = _exit_code(looked, None)
        else:
            with opened_broker(broker) as reached, tell.at_work():
                code = _pushed(opened, reached, asked, plan, tell, timeout if wait else None)
    if code is not Exit.DONE:
        raise typer.Exit(code)


def _pushed(
    store: Store, broker: Broker, asked: Asked, plan: str | None, tell: Teller, patience: float | None
) -> Exit:
    """Take in what waits, decide and write down, publish, and watch if that is wanted."""
    tell.doing("taking in what the machines have said")
    wiring.collect(store, broker)
    tell.doing("working out what every machine is to be")
    with store.writing() as session:
        looked = wiring.write_down(session, asked)
        _as_shown(looked, plan)
    tell.looked(looked, dry_run=False)
    try:
        published = _published(store, broker, asked, tell)
    except KeyboardInterrupt:
        raise _not_marked(looked) from None
    tell.published(looked, published)
    code = _exit_code(looked, published)
    if patience is not None and published.confirmed:
        done = _watched(store, broker, published, patience, tell)
        code = code if done else Exit.SOME_REFUSED
    tell.ended()
    return code


def _watched(store: Store, broker: Broker, published: Publishing, patience: float, tell: Teller) -> bool:
    """Whether all of them are done, and well."""
    try:
        with tell.watching(published.confirmed, store.standings()):
            return wiring.watch(store, broker, published.confirmed, patience, tell.state)
    except KeyboardInterrupt:
        line = "stopped watching; what was sent is sent, and `mesh status` says how it goes"
        raise Stop(Exit.INTERRUPTED, "interrupted", line, {"sent": dict(published.confirmed)}) from None


def _published(store: Store, broker: Broker, asked: Asked, tell: Teller) -> Publishing:
    if not tell.counts:
        return wiring.publish(store, broker, asked.nodes)
    return wiring.publish_counted(
        store, broker, asked.nodes, lambda done, of: tell.doing(f"sending, {done} of {of} are sent")
    )


def _not_marked(looked: Looked) -> Stop:
    line = "interrupted; what was to be sent is written down, and goes out with the next `mesh push`"
    return Stop(Exit.INTERRUPTED, "interrupted", line, {"nodes": sorted(looked.going)})


def _exit_code(looked: Looked, published: Publishing | None) -> Exit:
    from mesh_core.push import Held, TurnedDown

    some = any(isinstance(one, TurnedDown | Held) for one in looked.outcomes.values())
    failed = published is not None and bool(published.failed)
    return Exit.SOME_REFUSED if some or failed else Exit.DONE


def _as_shown(looked: Looked, plan: str | None) -> None:
    """Stops where the mesh has moved since the plan that somebody was shown; nothing is written then."""
    if plan is None:
        return
    from mesh_core.push import plan_fingerprint

    found = plan_fingerprint(looked.mesh, looked.found)
    if len(plan) < SHORTEST or not found.startswith(plan):
        lines = [
            f"refused: the mesh has moved since plan {plan} was shown; it is {found[:SHORTEST]} now",
            "nothing was sent; `mesh plan` shows what would be now",
        ]
        raise Stop(Exit.REFUSED, "stale-plan", lines, {"plan": plan, "now": found})


def _asked(mesh: Mesh, nodes: list[str], moves: list[str], allow_removals: list[str]) -> Asked:
    for name in (*nodes, *allow_removals):
        known_node(mesh, name)
    pairs = [_pair(mesh, move) for move in moves]
    return wiring.asked(frozenset(nodes) or None, frozenset(pairs), frozenset(allow_removals))


def _pair(mesh: Mesh, move: str) -> tuple[str, str]:
    node, slash, provision = move.partition("/")
    if not slash:
        line = f"--move wants NODE/PROVISION, and {move!r} has no '/': mesh push --move pi/database"
        raise Stop(Exit.USAGE, "bad-move", line, {"move": move})
    known_node(mesh, node)
    return node, checked_name("provision", provision)


def overlay_push(_words: Annotated[list[str] | None, typer.Argument(hidden=True)] = None) -> Any:
    """Was renamed: use mesh push."""
    raise Stop(Exit.USAGE, "renamed", "use: mesh push", {"use": "mesh push"})
