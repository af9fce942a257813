"""`mesh module ...`: the catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from mesh_cli import reading
from mesh_cli.exits import Exit, Stop
from mesh_cli.lookup import known_module
from mesh_cli.options import (
    AnywayOption,
    JsonOption,
    KeepOption,
    ModuleArgument,
    NoInputOption,
    StoreOption,
    YesOption,
)
from mesh_cli.output import say, say_json, table
from mesh_cli.recording import Recording
from mesh_cli.wiring import opened_store

if TYPE_CHECKING:
    from mesh_core.change import Change
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.module import Module

group = typer.Typer(help="The catalogue.", rich_markup_mode=None, no_args_is_help=True)


@group.command("add")
def add(
    files: Annotated[
        list[str],
        typer.Argument(metavar="FILE", help="Manifests (.toml, .json or -).", show_default=False),
    ],
    *,
    keep: KeepOption = False,
    anyway: AnywayOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put manifests into the catalogue.

    One whose name is there already takes the place of the one before.

    Example: mesh module add bash.toml --keep
    """
    if files.count("-") > 1:
        raise Stop(Exit.USAGE, "stdin-twice", "- is standard input, which can be read once; give it once")
    manifests = [reading.manifest(file) for file in files]
    _refuse_twice(manifests)
    same: list[str] = []

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import PutModule

        same[:] = [m.name for m in manifests if mesh.catalogue.get(m.name) == m]
        return [PutModule(module=manifest) for manifest in manifests if manifest.name not in same]

    Recording("module", "add", *files, store=store, as_json=as_json, anyway=anyway, keep=keep).run(decide)
    if len(same) < len(manifests) and not as_json:
        say(f"nothing to change in {name}: it is so already" for name in same)


@group.command("remove")
def remove(
    module: ModuleArgument,
    *,
    yes: YesOption = False,
    no_input: NoInputOption = False,
    anyway: AnywayOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Forget a module that is not in use.

    One that is assigned, or was last declared on a node, cannot be forgotten.

    Example: mesh module remove redis
    """

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import DropModule
        from mesh_core.ports import ModuleInUse

        known_module(mesh, module)
        using = tuple(node.name for node in mesh.nodes if module in node.assigned)
        if using:
            raise ModuleInUse(module, using, ())
        return [DropModule(module=module)]

    asks = not (yes or no_input)
    Recording("module", "remove", module, store=store, as_json=as_json, anyway=anyway, asks=asks).run(decide)


@group.command("list")
def list_modules(*, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """List the modules, and the nodes that each is planned for.

    Example: mesh module list
    """
    from mesh_core.resolve import resolve
    from mesh_core.wire.data import module_to_data

    with opened_store(store) as opened:
        mesh = opened.mesh()
    on: dict[str, list[str]] = {module.name: [] for module in mesh.catalogue}
    for plan in resolve(mesh).plans:
        for placed in plan.modules:
            on[placed.name].append(plan.node)
    if as_json:
        modules = [{**module_to_data(m), "planned_on": on[m.name]} for m in mesh.catalogue]
        say_json({"modules": modules})
        return
    if not on:
        say("the catalogue is empty; add a manifest: mesh module add FILE")
        return
    from mesh_core.explain.words import some

    rows = [[m.name, m.version, _provides(m), some(on[m.name]) or "-"] for m in mesh.catalogue]
    say(table(rows, ["MODULE", "VERSION", "PROVIDES", "PLANNED ON"]))


@group.command("show")
def show(module: ModuleArgument, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Show a module, and every version that was ever recorded.

    Example: mesh module show postgres
    """
    from mesh_core.wire.data import module_to_data

    with opened_store(store) as opened:
        found = known_module(opened.mesh(), module)
        recorded = opened.manifests(module)
    if as_json:
        versions = [
            {"version": r.module.version, "recorded_at": r.recorded_at, "current": r.current}
            for r in recorded
        ]
        say_json({"module": module_to_data(found), "recorded": versions})
        return
    rows = [["module", f"{found.name} {found.version}"], ["provides", _provides(found)]]
    rows.append(["requires", ", ".join(r.name + " (every)" * r.every for r in found.requires) or "-"])
    rows.append(["claims", ", ".join(f"{c.name} ({c.scope})" for c in found.claims) or "-"])
    rows.append(["needs", ", ".join(found.capabilities) or "-"])
    rows += [["resource", resource.identity] for resource in found.resources]
    rows += [
        ["recorded", f"{r.module.version} at {r.recorded_at}{' (current)' if r.current else ''}"]
        for r in recorded
    ]
    say(table(rows))


def _provides(module: Module) -> str:
    return ", ".join(f"{p.name} ({p.scope})" for p in module.provides) or "-"


def _refuse_twice(manifests: list[Module]) -> None:
    names = [manifest.name for manifest in manifests]
    for name in names:
        if names.count(name) > 1:
            raise Stop(Exit.USAGE, "named-twice", f"two of the files are manifests of {name!r}; give one")
