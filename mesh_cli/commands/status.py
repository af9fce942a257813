"""`mesh status`: what every machine wants and has, and why it has not what it wants."""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.looking import how_it_stands
from mesh_cli.lookup import known_node
from mesh_cli.options import JsonOption, NodesArgument, StoreOption
from mesh_cli.output import FORMAT, give_up, say, say_json
from mesh_cli.wiring import now, opened_store

if TYPE_CHECKING:
    from mesh_core.analysis.state_of_nodes import StateOfNode
    from mesh_core.ports import Store

    States = dict[str, StateOfNode]

PAUSE = 2.0
"""Seconds between two looks of `--watch`."""
_FROM_THE_TOP = "\x1b[H\x1b[J"


def _nobody_asks() -> int | None:
    """How many reports wait at the broker: None, since nobody has asked it."""
    return None


reports_waiting: Callable[[], int | None] = _nobody_asks
"""How many reports wait at the broker; None where none is set, or it does not answer at once."""


def status(
    nodes: NodesArgument = None,
    *,
    watch: Annotated[bool, typer.Option("--watch", help="Look again every 2 s, until ctrl-c.")] = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show what every node wants and has, and why.

    Most of why is in the words of the node's own host. Nothing is written, and it ends with 0
    also where nodes have failed. A node that was not heard of for 15 minutes is silent,
    whatever it last said. With --watch, where stdout is no terminal, it prints a line for each
    change; with --json an object for each change.

    Example: mesh status
    """
    with opened_store(store) as opened:
        if nodes:
            mesh = opened.mesh()
            for name in nodes:
                known_node(mesh, name)
        if watch:
            _watch(opened, nodes or (), as_json=as_json)
        states, waiting = _states(opened, nodes or ()), reports_waiting()
    from mesh_cli.render.status import lines, to_data

    if as_json:
        say_json(to_data(states, waiting))
    else:
        say(lines([*states.values()], waiting, everything=bool(nodes)))


def _states(store: Store, names: Collection[str]) -> States:
    """How it stands with these nodes, or with all; one that is not there any more is left out."""
    found = how_it_stands(store).states
    return {name: one for name, one in found.items() if not names or name in names}


def _watch(store: Store, names: Collection[str], *, as_json: bool) -> NoReturn:
    """Look again and again, and tell what is news, until ctrl-c, or until nobody reads it."""
    redraws = not as_json and sys.stdout.isatty() and os.environ.get("TERM") != "dumb"
    told: States = {}
    try:
        while True:
            states = _states(store, names)
            text = _drawn(states, everything=bool(names)) if redraws else _news(states, told, as_json=as_json)
            if text and not _printed(text):
                raise typer.Exit(Exit.DONE)
            told = states
            time.sleep(PAUSE)
    except KeyboardInterrupt:
        raise Stop(Exit.INTERRUPTED, "interrupted", "stopped watching") from None


def _drawn(states: States, *, everything: bool) -> str:
    """The whole table, in place of the one before."""
    from mesh_cli.render.status import lines

    told = lines([*states.values()], reports_waiting(), everything=everything)
    return "\n".join([f"{_FROM_THE_TOP}{now()}   ctrl-c stops watching", "", *told])


def _news(states: States, told: States, *, as_json: bool) -> str:
    """What has changed since it was told, a line for each node, or one object; nothing where nothing has."""
    from mesh_cli.render.status import line

    changed = {name: one for name, one in states.items() if _as_told(one) != _as_told(told.get(name))}
    gone = sorted(told.keys() - states.keys())
    if as_json:
        return _object(changed, gone) if changed or gone else ""
    return "\n".join([*map(line, changed.values()), *(f"{name}  is no node any more" for name in gone)])


def _as_told(one: StateOfNode | None) -> StateOfNode | None:
    """Without what changes from look to look although nothing is new."""
    from attrs import evolve

    return None if one is None else evolve(one, seconds=None, seen_at=None)


def _object(changed: Mapping[str, StateOfNode], gone: Collection[str]) -> str:
    """What `mesh status --json` gives, on one line and of these nodes; null for one that is gone."""
    from mesh_core.explain.state_of_nodes import state_to_data

    nodes: dict[str, Any] = {name: state_to_data(one) for name, one in changed.items()}
    return json.dumps({"format": FORMAT, "at": now(), "nodes": nodes | dict.fromkeys(gone)})


def _printed(text: str) -> bool:
    """Print it at once; whether somebody reads it."""
    try:
        print(text, flush=True)
    except OSError as error:
        give_up(sys.stdout, error)
        return False
    return True
