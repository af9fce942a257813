"""`mesh status`: what every machine wants and has, and why it has not what it wants."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.looking import how_it_stands, states_of_modules
from mesh_cli.lookup import node_or_module
from mesh_cli.options import BrokerOption, JsonOption, NamesArgument, StoreOption
from mesh_cli.output import FORMAT, give_up, note, redraws, say, say_json
from mesh_cli.wiring import now, opened_store

if TYPE_CHECKING:
    from mesh_core.analysis.ladder import OnNode
    from mesh_core.analysis.state_of_modules import StateOfModule
    from mesh_core.analysis.state_of_nodes import StateOfNode, Waiting
    from mesh_core.network.overlay import Note
    from mesh_core.ports import Store

    States = dict[str, StateOfNode]

PAUSE = 2.0
"""Seconds between two looks of `--watch`."""
_FROM_THE_TOP = "\x1b[H\x1b[J"
ASKS_EVERY = 10.0
"""Seconds between two times that `--watch` asks the broker: that is a connection each time."""


def status(
    names: NamesArgument = None,
    *,
    watch: Annotated[bool, typer.Option("--watch", help="Look again every 2 s, until ctrl-c.")] = False,
    no_look: Annotated[
        bool, typer.Option("--no-look", help="Do not ask the broker what waits there.")
    ] = False,
    broker: BrokerOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Show where modules and nodes stand, and why.

    Of a module that is named it shows the way of its last change: from the commit to the build, to what
    each node was sent, to what it runs; of a node that is named, the same of each of its modules. Most of
    why is in the words of the node's own host. Nothing is written, and it ends with 0 also where nodes have
    failed. A node that was not heard of for 15 minutes is silent, whatever it last said, and a report that
    waited at the broker is as old as it is. Where a broker is named it is asked for reports that wait there,
    for a second at most, and said so where it does not answer. With --watch, where stdout is no terminal, it
    prints a line for each change; with --json an object for each change.

    Example: mesh status
    """
    with opened_store(store) as opened:
        _refuse_unknown(opened, names or ())
        asking = _Asking(broker, never=no_look)
        if watch:
            _watch(opened, names or (), asking, as_json=as_json)
        look = _Look(opened, names or ())
        waiting = asking.about(look.nodes) if look.nodes or not names else None
        if as_json:
            say_json(look.data(waiting))
        else:
            say(look.lines(waiting))
            note(look.beside())


def _refuse_unknown(store: Store, names: Collection[str]) -> None:
    if names:
        mesh = store.mesh()
        for name in names:
            node_or_module(mesh, name)


class _Look:
    """How it stands with these nodes and modules, or with all; one that is not there any more is left out."""

    def __init__(self, store: Store, names: Collection[str]) -> None:
        self._found = how_it_stands(store)
        self._puts = store.puts
        self._named = bool(names)
        self.nodes: States = {
            name: one for name, one in self._found.states.items() if not names or name in names
        }
        self._all = states_of_modules(store, self._found.mesh, self._found.standings)
        self._modules = {name: one for name, one in self._all.items() if not names or name in names}

    def _ladders(self) -> dict[str, tuple[OnNode, ...]]:
        """How far each module that was named has come, on each node."""
        from mesh_core.analysis.ladder import ladder

        whose = self._found.whose()
        return {
            name: ladder(one, whose, self._found.standings, self._puts(name))
            for name, one in self._modules.items()
        }

    def _of_nodes(self) -> dict[str, tuple[tuple[StateOfModule, OnNode], ...]]:
        """How far each module has come, on each node that was named."""
        from mesh_core.analysis.ladder import modules_of

        whose = self._found.whose()
        return {
            name: modules_of(self._all, whose, self._found.standings[name], self._puts) for name in self.nodes
        }

    def lines(self, waiting: Waiting | None) -> list[str]:
        """Modules first, machines second."""
        from mesh_cli.render.ladder import ladder_lines, modules_lines
        from mesh_cli.render.modules import status_lines
        from mesh_cli.render.status import lines

        nodes = [*self.nodes.values()]
        machines = lines(nodes, waiting, everything=self._named) if nodes or not self._named else []
        if not self._named:
            return [*_parted([status_lines([*self._modules.values()]), machines])]
        of_modules = [ladder_lines(self._modules[name], rungs) for name, rungs in self._ladders().items()]
        of_nodes = [modules_lines(name, found) for name, found in self._of_nodes().items()]
        return [*_parted([*of_modules, machines, *of_nodes])]

    def beside(self) -> list[str]:
        """What is to be said of modules, and of the network, that is in no table."""
        from mesh_cli.render.modules import beside
        from mesh_cli.render.network import notes

        return [*beside(self._modules.values()), *notes(self._found.mesh, self._network_notes())]

    def _network_notes(self) -> tuple[Note, ...]:
        """What is amiss in the network with the nodes that are looked at."""
        from mesh_cli.render.network import amiss

        return amiss(self._found.mesh, self._found.found.resolution, self.nodes)

    def data(self, waiting: Waiting | None) -> dict[str, Any]:
        """The same as plain data."""
        from mesh_cli.render.ladder import ladder_facts, modules_facts
        from mesh_cli.render.modules import module_facts
        from mesh_cli.render.status import to_data
        from mesh_core.explain.network import note_to_data

        ladders = self._ladders() if self._named else {}
        modules = {
            name: module_facts(one, self._found.planned(name))
            | ({"nodes": ladder_facts(ladders[name])} if self._named else {})
            for name, one in self._modules.items()
        }
        told = {"modules": modules} | to_data(self.nodes, waiting)
        if self._named:
            told["on"] = {name: modules_facts(found) for name, found in self._of_nodes().items()}
        if self._found.mesh.network is None:
            return told
        return told | {"network": {"notes": [note_to_data(note) for note in self._network_notes()]}}


def _parted(parts: Iterable[list[str]]) -> Iterator[str]:
    """The lines of all that say something, an empty one between two."""
    for number, part in enumerate(part for part in parts if part):
        if number:
            yield ""
        yield from part


class _Asking:
    """Asks the broker what waits there, and not again at once."""

    def __init__(self, flag: str | None, *, never: bool) -> None:
        self._flag = flag
        self._never = never
        self._due = 0.0
        self._answer: Waiting | None = None

    def about(self, states: States) -> Waiting | None:
        """What waits of these nodes; where the time is short, of those first that it may be news of."""
        if self._never:
            return None
        if time.monotonic() >= self._due:
            from mesh_cli.wiring_flows import waiting
            from mesh_core.analysis.state_of_nodes import NodeState

            well = (NodeState.APPLIED, NodeState.DRIFTED, NodeState.FAILED)
            self._answer = waiting(self._flag, sorted(states, key=lambda name: states[name].state in well))
            self._due = time.monotonic() + ASKS_EVERY
        return self._answer


def _watch(store: Store, names: Collection[str], asking: _Asking, *, as_json: bool) -> NoReturn:
    """Look again and again, and tell what is news, until ctrl-c, or until nobody reads it."""
    whole = not as_json and redraws()
    told: States = {}
    try:
        while True:
            look = _Look(store, names)
            text = _drawn(look, asking) if whole else _news(look.nodes, told, as_json=as_json)
            if text and not _printed(text):
                raise typer.Exit(Exit.DONE)
            told = look.nodes
            time.sleep(PAUSE)
    except KeyboardInterrupt:
        raise Stop(Exit.INTERRUPTED, "interrupted", "stopped watching") from None


def _drawn(look: _Look, asking: _Asking) -> str:
    """All of it, in place of what stood there before."""
    told = [*look.lines(asking.about(look.nodes)), *look.beside()]
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

    return None if one is None else evolve(one, seconds=None, seen_at=None, said_at=None, heard_at=None)


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
