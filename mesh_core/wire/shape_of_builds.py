"""Plain data -> entries: sources, recipes, and what is asked of builders and said by them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from mesh_core.faults import InvalidValue, NameKind
from mesh_core.model.build import DIGEST_RULE, ID_RULE, Shut, Step, digest_fault, id_fault
from mesh_core.model.recipe import SECONDS, Container, Files, Recipe, Shell
from mesh_core.model.source import (
    COMMIT_RULE,
    PATH_RULE,
    REF_RULE,
    REPOSITORY_RULE,
    commit_fault,
    ref_fault,
    repository_fault,
    source_path_fault,
    without_password,
)
from mesh_core.wire import entries
from mesh_core.wire.faults import Misfit, listed, misfit, near, shown, step, under
from mesh_core.wire.strict import (
    CONVERTER,
    entry_or,
    named,
    one_of,
    strict_class,
    structure,
    table,
    text,
    tried,
)

_RECIPES: dict[str, type[Any]] = {
    "files": entries.FilesEntry,
    "shell": entries.ShellEntry,
    "container": entries.ContainerEntry,
}


def register() -> None:
    """Tell the converter."""
    hook = CONVERTER.register_structure_hook
    hook(entries.Repository, _ruled(repository_fault, "a repository", REPOSITORY_RULE))
    hook(entries.SourcePath, _ruled(source_path_fault, "a path", PATH_RULE))
    hook(entries.Ref, _ruled(ref_fault, "a ref", REF_RULE))
    hook(entries.CommitId, _ruled(commit_fault, "a commit", COMMIT_RULE))
    hook(entries.Digest, _ruled(digest_fault, "a digest", DIGEST_RULE))
    hook(entries.RequestId, _ruled(id_fault, "the id of a build", ID_RULE))
    hook(entries.Instant, text)
    hook(entries.Lines, _lines)
    hook(entries.SourcePaths, _paths)
    hook(Step, lambda value, _: Step(one_of(tuple(Step))(value, None)))
    hook(Shut, lambda value, _: Shut(one_of(tuple(Shut))(value, None)))
    hook(Recipe, _recipe)
    hook(entries.SourceEntry, entry_or(entries.SourceEntry, _address, "an address or an object"))
    hook(entries.Sources, table(lambda key: _module_name(key, None), _source))
    for whole in (
        *_RECIPES.values(),
        entries.RequestEntry,
        entries.TakenEntry,
        entries.BuiltEntry,
        entries.FailedEntry,
    ):
        hook(whole, strict_class(whole, CONVERTER))


_module_name = named(NameKind.MODULE)


def _ruled(fault: Callable[[str], str | None], what: str, rule: str) -> Callable[[Any, object], str]:
    """A hook for text with a rule of its own."""

    def structure_ruled(value: Any, _type: object = None) -> str:
        found = text(value)
        if fault(found) is not None:
            raise misfit(f"found {shown(without_password(found))}", f"{what} is {rule}")
        return found

    return structure_ruled


def _lines(value: Any, _type: object = None) -> tuple[str, ...]:
    """A list of texts, where one may stand again."""
    if type(value) is not list:
        raise misfit(f"found {shown(value)}", "wanted a list")
    faults = [
        fault
        for place, item in enumerate(value)
        for fault in under(step(place), tried(partial(text, item))[1])
    ]
    if faults:
        raise Misfit(*faults)
    return tuple(value)


def _paths(value: Any, _type: object = None) -> tuple[str, ...]:
    """A list of paths, none of them twice, and one at least."""
    paths = structure(value, tuple[entries.SourcePath, ...])
    if not paths:
        raise misfit("found an empty list", "wanted a path; . is all of the repository")
    return paths


def _address(value: Any) -> entries.SourceEntry:
    return entries.SourceEntry(repository=structure(value, entries.Repository))


def _source(_module: str, value: Any) -> entries.SourceEntry:
    return structure(value, entries.SourceEntry)


def _recipe(value: Any, _type: object = None) -> Recipe:
    """A recipe; its kind alone where there is nothing more to say."""
    data = {"kind": value} if type(value) is str else value
    if not isinstance(data, dict):
        raise misfit(f"found {shown(value)}", "wanted the kind of a build or an object")
    if "kind" not in data:
        raise misfit("missing", "this key is needed", path=step("kind"))
    kind = data["kind"]
    if type(kind) is not str or kind not in _RECIPES:
        meant = near(kind, _RECIPES) if type(kind) is str else None
        wanted = f"wanted {listed(shown(known) for known in _RECIPES)}"
        at = "" if data is not value else step("kind")
        raise misfit(f"found {shown(kind)}", wanted, shown(meant) if meant else None, path=at)
    try:
        return _made(structure(data, _RECIPES[kind]))
    except InvalidValue as error:
        raise misfit("found no such build", str(error)) from None


def _made(entry: entries.FilesEntry | entries.ShellEntry | entries.ContainerEntry) -> Recipe:
    if isinstance(entry, entries.FilesEntry):
        return Files()
    seconds = SECONDS if entry.seconds is None else entry.seconds
    if isinstance(entry, entries.ShellEntry):
        return Shell(commands=entry.commands, output=entry.output, network=entry.network, seconds=seconds)
    return Container(file=entry.file, network=entry.network, seconds=seconds)
