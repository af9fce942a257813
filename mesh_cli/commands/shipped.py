"""`--shipped` of `mesh module`: the modules that come with this program."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.lookup import unknown
from mesh_cli.options import checked_name
from mesh_cli.output import note, say, say_json, table
from mesh_cli.recording import Recording
from mesh_cli.version import __version__
from mesh_cli.wiring import opened_store, shipped_module, shipped_names

if TYPE_CHECKING:
    from mesh_core.analysis.state_of_modules import StateOfModule
    from mesh_core.change import Change
    from mesh_core.model.mesh import Mesh
    from mesh_core.shipping import Adding

AddOption = Annotated[
    bool, typer.Option("--shipped", help="Those that come with mesh: these, or all of them.")
]
ListOption = Annotated[bool, typer.Option("--shipped", help="List those that come with mesh instead.")]


def add(names: Sequence[str], *, keep: bool, anyway: bool, store: Path | None, as_json: bool) -> None:
    """Put modules that ship into the catalogue: these, or all."""
    modules = [shipped_module(_known(name)) for name in dict.fromkeys(names) or shipped_names()]
    found: list[Adding] = []

    def decide(_mesh: Mesh) -> Iterable[Change]:
        from mesh_core.shipping import adding

        with opened_store(store) as opened:
            found[:] = [adding(modules, opened.current(), __version__, named=bool(names))]
        return found[0].puts

    words = ["module", "add", "--shipped", *names]
    Recording(*words, store=store, as_json=as_json, anyway=anyway, keep=keep).run(decide)
    from mesh_core.explain.shipping import left

    note(left(name) for name in found[0].left)
    if found[0].puts and not as_json:
        say(f"nothing to change in {name}: it is so already" for name in found[0].same)


def _known(name: str) -> str:
    ships = shipped_names()
    if checked_name("module", name) not in ships:
        raise unknown("shipped module", name, ships, "mesh module list --shipped")
    return name


def show_list(*, as_json: bool) -> None:
    """Say which there are; no store is looked at."""
    from mesh_core.model.origin import Shipped
    from mesh_core.wire.data import module_to_data
    from mesh_core.wire.origins import origin_to_data

    modules = [shipped_module(name) for name in shipped_names()]
    if as_json:
        came = origin_to_data(Shipped(version=__version__))
        say_json({"modules": [module_to_data(module) | {"from": came} for module in modules]})
        return
    rows = [
        [
            module.name,
            module.version,
            ", ".join(f"{p.name} ({p.scope})" for p in module.provides) or "-",
            ", ".join(r.name for r in module.requires) or "-",
        ]
        for module in modules
    ]
    say(table(rows, ["MODULE", "VERSION", "PROVIDES", "REQUIRES"]))


def another_ships(states: Iterable[StateOfModule]) -> frozenset[str]:
    """The modules of the catalogue of which another one ships now; nothing is read where none shipped."""
    from mesh_core.shipping import another_ships as others
    from mesh_core.shipping import came_shipped

    current = {state.name: state.put for state in states if state.put is not None}
    ships = set(shipped_names()) if came_shipped(current.values()) else set()
    modules = [shipped_module(name) for name in came_shipped(current.values()) if name in ships]
    return frozenset(others(modules, current))


def refuse_source(*said: object) -> None:
    """A module that ships has no source."""
    if any(said):
        line = "--source, --path and --ref are of a manifest that you hand over; what ships has no source"
        raise Stop(Exit.USAGE, "shipped-source", line)
