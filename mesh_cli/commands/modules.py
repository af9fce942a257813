"""`mesh module ...`: the catalogue."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from mesh_cli import reading
from mesh_cli.commands import shipped as shipping
from mesh_cli.commands.sources import PathOption, RefOption, made_source, source_words
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
    checked_name,
)
from mesh_cli.output import note, say, say_json, table
from mesh_cli.recording import Recording
from mesh_cli.wiring import opened_store

if TYPE_CHECKING:
    from mesh_core.change import Change
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.module import Module
    from mesh_core.model.origin import Put
    from mesh_core.model.source import Source

DryRunOption = Annotated[bool, typer.Option("--dry-run", help="Only say what it would do.")]

group = typer.Typer(help="The catalogue.", rich_markup_mode=None, no_args_is_help=True)


@group.command("add")
def add(
    files: Annotated[
        list[str] | None,
        typer.Argument(metavar="FILE", help="Manifests (.toml, .json or -).", show_default=False),
    ] = None,
    *,
    shipped: shipping.AddOption = False,
    source: Annotated[
        str | None, typer.Option("--source", metavar="REPOSITORY", help="Where the module's code lives.")
    ] = None,
    path: PathOption = None,
    ref: RefOption = None,
    keep: KeepOption = False,
    anyway: AnywayOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Put manifests into the catalogue.

    One whose name is there already takes the place of the one before, and keeps its
    source. With --source the module is handed over by hand until it is built. With
    --shipped, modules that come with mesh, by name (`mesh module list --shipped`), or
    all of them.

    Example: mesh module add bash.toml --keep
    """
    if shipped:
        shipping.refuse_source(source, path, ref)
        shipping.add(files or [], keep=keep, anyway=anyway, store=store, as_json=as_json)
        return
    if not files:
        raise Stop(Exit.USAGE, "no-file", "give a manifest, or --shipped for those that come with mesh")
    where = _source(files, source, path, ref)
    manifests = reading.manifests(files)
    same: list[str] = []

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import PutModule, SetSource

        same[:] = [m.name for m in manifests if mesh.catalogue.get(m.name) == m]
        puts = [PutModule(module=manifest) for manifest in manifests if manifest.name not in same]
        if where is None or mesh.source(manifests[0].name) == where:
            return puts
        return [*puts, SetSource(module=manifests[0].name, source=where)]

    words = [*files, *(["--source", source] if source else []), *source_words(path, ref)]
    Recording("module", "add", *words, store=store, as_json=as_json, anyway=anyway, keep=keep).run(decide)
    if len(same) < len(manifests) and not as_json:
        say(f"nothing to change in {name}: it is so already" for name in same)


def _source(
    files: list[str], repository: str | None, path: list[str] | None, ref: str | None
) -> Source | None:
    """The source that was said along with a manifest. Stops where it is of none, or of several."""
    if repository is None and not path and ref is None:
        return None
    if repository is None:
        raise Stop(Exit.USAGE, "no-repository", "--path and --ref are of a source; say it with --source")
    if len(files) > 1:
        raise Stop(Exit.USAGE, "one-source", "--source is of one module; give one manifest")
    return made_source(repository, path, ref)


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
def list_modules(
    *, shipped: shipping.ListOption = False, store: StoreOption = None, as_json: JsonOption = False
) -> None:
    """List the modules, where each came from and who runs it.

    ON are the machines that said so in their last report, whatever they were sent.
    With --shipped, what comes with mesh, whether the catalogue has it or not.

    Example: mesh module list
    """
    if shipped:
        shipping.show_list(as_json=as_json)
        return
    from mesh_cli.looking import states_of_modules
    from mesh_cli.render.modules import catalogue_lines, module_facts
    from mesh_core.resolve import resolve

    with opened_store(store) as opened:
        mesh = opened.mesh()
        states = states_of_modules(opened, mesh)
    others = shipping.another_ships(states.values())
    if as_json:
        planned: dict[str, list[str]] = {name: [] for name in states}
        for plan in resolve(mesh).plans:
            for placed in plan.modules:
                planned[placed.name].append(plan.node)
        facts = [
            module_facts(state, planned[name]) | {"another_ships": name in others}
            for name, state in states.items()
        ]
        say_json({"modules": facts})
        return
    if not states:
        say("the catalogue is empty; add a manifest: mesh module add FILE")
        return
    lines, beside = catalogue_lines([*states.values()])
    from mesh_core.explain.shipping import another

    say(lines)
    note([*beside, *map(another, sorted(others))])


@group.command("show")
def show(module: ModuleArgument, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Show a module, and every version that was ever recorded.

    Example: mesh module show postgres
    """
    from mesh_core.wire.data import module_to_data

    with opened_store(store) as opened:
        found = known_module(opened.mesh(), module)
        recorded = opened.manifests(module)
        puts = opened.puts(module)
    from mesh_cli.render.modules import put_facts, put_rows

    if as_json:
        versions = [
            {"version": r.module.version, "recorded_at": r.recorded_at, "current": r.current}
            for r in recorded
        ]
        history = [put_facts(put) for put in puts]
        say_json({"module": module_to_data(found), "recorded": versions, "history": history})
        return
    rows = [["module", f"{found.name} {found.version}"], ["provides", _provides(found)]]
    rows.append(["requires", ", ".join(r.name + " (every)" * r.every for r in found.requires) or "-"])
    rows.append(["claims", ", ".join(f"{c.name} ({c.scope})" for c in found.claims) or "-"])
    rows.append(["needs", ", ".join(found.capabilities) or "-"])
    rows += [["resource", resource.identity] for resource in found.resources]
    rows += put_rows(puts)
    say(table(rows))


@group.command("accept")
def accept(
    module: ModuleArgument,
    *,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Take what was built and is held.

    A manifest that was built does not become current by itself where it would leave a
    node refused, or move an answer.
    With --dry-run it is only said what it would do.

    Example: mesh module accept web --dry-run
    """
    name = checked_name("module", module)

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.builds.becoming import put
        from mesh_core.model.build import Built

        with opened_store(store) as opened:
            held = opened.held().get(name)
        if held is None or not isinstance(held.answer, Built):
            raise Stop(Exit.FAILED, "nothing-held", f"nothing of {name} is held; `mesh builds` shows builds")
        return [put(held.answer, held.answered_at)]

    words = ["module", "accept", name]
    Recording(
        *words, store=store, as_json=as_json, meant=not dry_run, dry_run=dry_run, takes_no_word=True
    ).run(decide)


@group.command("rollback")
def rollback(
    module: ModuleArgument,
    *,
    to: Annotated[
        str | None,
        typer.Option("--to", metavar="VERSION|COMMIT", help="Which one (default: the one before)."),
    ] = None,
    keep: KeepOption = False,
    anyway: AnywayOption = False,
    dry_run: DryRunOption = False,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Make an earlier manifest of a module the current one again.

    It is planned like any change: what would leave a node refused is refused. `mesh
    module show` lists what there was; the next build takes its place.

    Example: mesh module rollback web --to 1.4.0
    """

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import PutModule

        known_module(mesh, module)
        with opened_store(store) as opened:
            earlier = _earlier([*opened.puts(module)], module, to)
        return [PutModule(module=earlier.manifest, origin=earlier.origin)]

    words = ["module", "rollback", module, *(["--to", to] if to else [])]
    recording = Recording(*words, store=store, as_json=as_json, anyway=anyway, keep=keep, dry_run=dry_run)
    recording.run(decide)


def _earlier(puts: list[Put], module: str, to: str | None) -> Put:
    """The newest that is meant and is not what is current. Stops where there is none."""
    from mesh_core.builds.history import earlier

    found = earlier(puts, to)
    if found is not None:
        return found
    what = f"earlier manifest that is {to!r}" if to else "earlier manifest"
    line = f"{module} has no {what}; `mesh module show {module}` lists those that it had"
    raise Stop(Exit.FAILED, "nothing-earlier", line)


def _provides(module: Module) -> str:
    return ", ".join(f"{p.name} ({p.scope})" for p in module.provides) or "-"
