"""`mesh source ...`: where modules' code lives, and what is there now."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from mesh_cli.exits import Exit, Stop
from mesh_cli.lookup import known_source
from mesh_cli.options import (
    JsonOption,
    ModuleArgument,
    StoreOption,
    checked_name,
    completed,
)
from mesh_cli.output import ago, note, say, say_json, table
from mesh_cli.recording import Recording
from mesh_cli.wiring import now, opened_store

if TYPE_CHECKING:
    from mesh_core.analysis.state_of_modules import StateOfModule
    from mesh_core.change import Change
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.source import Looked, Source

group = typer.Typer(help="Where modules' code lives.", rich_markup_mode=None, no_args_is_help=True)

SomeSources = Annotated[
    list[str] | None,
    typer.Argument(metavar="MODULE", autocompletion=completed("sources"), show_default=False, hidden=True),
]
PathOption = Annotated[
    list[str] | None,
    typer.Option(
        "--path", metavar="DIR", help="The module's folder there (default: all of it); more are shared ones."
    ),
]
RefOption = Annotated[
    str | None,
    typer.Option("--ref", metavar="REF", help="A branch or a tag (default: what the repository shows)."),
]


@group.command("set")
def set_source(
    module: ModuleArgument,
    repository: Annotated[
        str, typer.Argument(metavar="REPOSITORY", help="https://, ssh:// or a path.", show_default=False)
    ],
    *,
    path: PathOption = None,
    ref: RefOption = None,
    store: StoreOption = None,
    as_json: JsonOption = False,
) -> None:
    """Say where a module's code lives.

    Its folder there has the manifest, module.toml or module.json. The module need not
    be in the catalogue yet: a build puts it there.

    Example: mesh source set web https://git.example/web --path deploy
    """
    name = checked_name("module", module)
    source = made_source(repository, path, ref)

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import SetSource

        return [SetSource(module=name, source=source)]

    words = [name, repository, *source_words(path, ref)]
    Recording("source", "set", *words, store=store, as_json=as_json).run(decide)


@group.command("remove")
def remove(module: ModuleArgument, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Forget where a module's code lives; its manifest stays.

    Example: mesh source remove web
    """

    def decide(mesh: Mesh) -> Iterable[Change]:
        from mesh_core.change import DropSource

        known_source(mesh, module)
        return [DropSource(module=module)]

    Recording("source", "remove", module, store=store, as_json=as_json).run(decide)


@group.command("show")
def show(modules: SomeSources = None, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Show where modules' code lives, and what was last seen there.

    Nothing is looked at: `mesh source check` does that.

    Example: mesh source show web
    """
    from mesh_cli.looking import states_of_modules

    with opened_store(store) as opened:
        mesh = opened.mesh()
        names = _wanted(mesh, modules)
        states = states_of_modules(opened, mesh)
    _tell([states[name] for name in names], as_json=as_json)


@group.command("check")
def check(modules: SomeSources = None, *, store: StoreOption = None, as_json: JsonOption = False) -> None:
    """Look for the newest commit that touched each module.

    Without a module all sources are looked at. A repository that is out of reach leaves
    what was seen there before, and the command ends with 4.

    Example: mesh source check
    """
    from mesh_cli.looking import states_of_modules
    from mesh_cli.wiring_builds import check as look_at

    with opened_store(store) as opened:
        mesh = opened.mesh()
        names = _wanted(mesh, modules)
        found = look_at(opened, names)
        states = states_of_modules(opened, opened.mesh())
    _tell([states[name] for name in names if name in states], as_json=as_json)
    missed = [name for name in names if not _has_head(found[name])]
    if missed:
        raise typer.Exit(Exit.SOME_REFUSED)


def made_source(repository: str, path: list[str] | None, ref: str | None) -> Source:
    """The source that was said. Stops at what is none, before anything is opened."""
    from mesh_core.faults import InvalidValue
    from mesh_core.model.source import HEAD, Source

    try:
        return Source(repository=repository, paths=path or ["."], ref=ref or HEAD)
    except InvalidValue as error:
        raise Stop(Exit.USAGE, "bad-source", str(error)) from None


def source_words(path: list[str] | None, ref: str | None) -> list[str]:
    """The options of a source, as they were typed."""
    return [word for one in path or () for word in ("--path", one)] + (["--ref", ref] if ref else [])


def _wanted(mesh: Mesh, modules: list[str] | None) -> list[str]:
    if modules:
        return [known_source(mesh, module) for module in dict.fromkeys(modules)]
    return [name for name, _ in mesh.sources]


def _has_head(looked: Looked) -> bool:
    from mesh_core.model.source import Newest

    return isinstance(looked, Newest)


def _tell(states: list[StateOfModule], *, as_json: bool) -> None:
    from mesh_core.explain.builds import STATES, notes, source_has

    at = now()
    if as_json:
        say_json({"sources": [source_facts(state) for state in states]})
        return
    if not states:
        say("no module has a source; mesh source set MODULE REPOSITORY gives it one")
        return
    rows = [
        [
            state.name,
            source_has(state),
            "-" if state.seen.head_at is None else ago(state.seen.head_at, at),
            STATES[state.delivery],
            _where(state),
        ]
        for state in states
    ]
    say(table(rows, ["MODULE", "SOURCE HAS", "SEEN", "STATE", "SOURCE"]))
    note(line for state in states for line in notes(state, lambda then: ago(then, at)))


def _where(state: StateOfModule) -> str:
    from mesh_core.explain.changes import source

    return "-" if state.source is None else source(state.source)


def source_facts(state: StateOfModule) -> dict[str, Any]:
    """A module's source and what is known of it, as plain data."""
    from mesh_core.explain.sources import unfound

    source, seen = state.source, state.seen
    missed = seen.unfound
    return {
        "module": state.name,
        "repository": None if source is None else source.repository,
        "paths": [] if source is None else list(source.paths),
        "ref": None if source is None else source.ref,
        "state": state.delivery.value,
        "head": None if seen.head is None else {"commit": seen.head.id, "committed_at": seen.head.at},
        "head_at": seen.head_at,
        "missed": None
        if missed is None
        else {"code": type(missed).__name__, "message": unfound(missed), "at": seen.unfound_at},
    }
