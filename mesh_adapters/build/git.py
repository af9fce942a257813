"""Repositories of strangers, as clones below a folder: what their refs and paths are, and their trees.

Nothing of a repository is ever run: no hook, filter, helper or submodule. What a git command may reach, and
what it is told, is said in `git_running`; how long it may take, and whose keys it uses, in `git_settings`.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from mesh_adapters.build.git_checkout import Tree, gather, write
from mesh_adapters.build.git_clone import Clone, CloneUnreadable, locked, place_of
from mesh_adapters.build.git_history import find, first_missing, is_part, newest_touch
from mesh_adapters.build.git_running import Git
from mesh_adapters.build.git_settings import GitSettings, read_secrets
from mesh_adapters.build.git_tree import Unsafe
from mesh_core.model.source import (
    Commit,
    CommitGone,
    Looked,
    Newest,
    PathGone,
    RepositoryAway,
    Source,
    Unfound,
    check_commit,
)

__all__ = ["GitSettings", "Repositories", "Unsafe"]

_Answer = TypeVar("_Answer")


class Repositories:
    """Clones of repositories below a directory, one for each address; made and updated as they are needed.

    Several processes and threads may have one each for the same directory: whoever uses a clone locks it.
    A disk that is full or may not be written raises `OSError`.
    """

    def __init__(self, directory: Path, *, settings: GitSettings | None = None) -> None:
        self._directory = directory.absolute()
        self._settings = settings or GitSettings()

    def look(self, source: Source) -> Looked:
        """The newest commit of the source's ref, as it is now, that touched one of its paths."""
        return self._with_clone(source.repository, lambda clone: _look(clone, source))

    def look_at(self, sources: Sequence[Source]) -> tuple[Looked, ...]:
        """As `look`, of several, in their order: a repository that many share is asked once."""
        found: dict[Source, Looked] = {}
        for repository in dict.fromkeys(source.repository for source in sources):
            there = [source for source in dict.fromkeys(sources) if source.repository == repository]
            answers = self._with_clone(repository, partial(_look_at, sources=there))
            for source in there:
                found[source] = answers if isinstance(answers, RepositoryAway) else answers[source]
        return tuple(found[source] for source in sources)

    def newest(self, repository: str, commit: str, paths: tuple[str, ...]) -> Looked:
        """The newest commit that touched one of the paths, from a commit on.

        The repository is asked only where the clone has no such commit, or no ref leads to it there. Raises
        `InvalidValue` for what is no repository, commit or path.
        """
        check_commit(repository, commit, paths)
        return self._with_clone(repository, lambda clone: _newest(clone, commit, paths))

    def check_out(
        self, repository: str, commit: str, paths: tuple[str, ...], into: Path
    ) -> Commit | Unfound | Unsafe:
        """Write the trees of the paths at a commit under `into`, a folder that is empty or not there yet.

        Paths are kept, relative to the repository. There are plain files (0644, 0755), folders, and links
        that stay inside; a submodule is an empty folder. What is given is the newest commit that touched the
        paths; with anything else nothing was written. Raises as `newest` does, and `FileExistsError`.
        """
        check_commit(repository, commit, paths)
        return self._with_clone(repository, lambda clone: _check_out(clone, commit, paths, into))

    def _with_clone(self, repository: str, ask: Callable[[Clone], _Answer]) -> _Answer | RepositoryAway:
        until = time.monotonic() + self._settings.seconds
        secrets = read_secrets(self._settings)
        if isinstance(secrets, str):
            return RepositoryAway(why=secrets)
        home = self._directory / "home"
        home.mkdir(mode=0o700, parents=True, exist_ok=True)
        place = place_of(self._directory, repository)
        with locked(place, until) as lock:
            if lock is None:
                why = f"another process has used the copy of it for {self._settings.seconds:g} s"
                return RepositoryAway(why=why)
            git = Git(home=home, settings=self._settings, secrets=secrets, until=until, lock=lock)
            return _mended(Clone(repository=repository, place=place, git=git), ask)


def _mended(clone: Clone, ask: Callable[[Clone], _Answer]) -> _Answer | RepositoryAway:
    """Ask; where the clone turns out to be damaged, make it anew and ask once more."""
    try:
        return ask(clone)
    except CloneUnreadable as damage:
        if damage.late:
            return RepositoryAway(why=damage.why)
    clone.remove()
    try:
        return ask(clone)
    except CloneUnreadable as damage:
        return RepositoryAway(why=damage.why)


def _look(clone: Clone, source: Source) -> Looked:
    away = clone.update()
    return _found(clone, source) if away is None else away


def _look_at(clone: Clone, sources: Sequence[Source]) -> dict[Source, Looked] | RepositoryAway:
    """Several sources of one repository. A clone that turns out damaged is told for all of them."""
    away = clone.update()
    return {source: _found(clone, source) for source in sources} if away is None else away


def _found(clone: Clone, source: Source) -> Looked:
    tip = find(clone, source.ref)
    if not isinstance(tip, str):
        return tip
    return _touched(clone, tip, source.paths)


def _newest(clone: Clone, commit: str, paths: tuple[str, ...]) -> Looked:
    if not (clone.is_there() and is_part(clone, commit)):
        away = clone.update()
        if away is not None:
            return away
        if not is_part(clone, commit):
            return CommitGone(commit=commit)
    return _touched(clone, commit, paths)


def _touched(clone: Clone, commit: str, paths: tuple[str, ...]) -> Looked:
    missing = first_missing(clone, commit, paths)
    if missing is not None:
        return PathGone(path=missing)
    return Newest(commit=newest_touch(clone, commit, paths))


def _check_out(clone: Clone, commit: str, paths: tuple[str, ...], into: Path) -> Commit | Unfound | Unsafe:
    newest = _newest(clone, commit, paths)
    if not isinstance(newest, Newest):
        return newest
    tree = gather(clone, commit, paths)
    if not isinstance(tree, Tree):
        return tree
    write(clone, tree, into)
    return newest.commit
