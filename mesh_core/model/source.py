"""Where a module's code lives, and what was last seen there (design, parts 2, 10 and 11).

What a repository, a path or a ref may be is said here once, for whoever writes one down and for whoever
hands one to git: one that begins with `-` would be read as an option there, and `ext::` runs a command.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any, TypeAlias

from attrs import field, frozen

from mesh_core.faults import BadSource, InvalidValue

HEAD = "HEAD"
"""The ref of a source that names none: the branch that the repository itself shows first."""

_LONGEST = 1024
_COMMIT = re.compile("[0-9a-f]{40}")
_USER = r"[A-Za-z0-9._~][A-Za-z0-9._~-]*@"
_HOST = r"[A-Za-z0-9][A-Za-z0-9.-]*"
_URL = re.compile(rf"(?:https|ssh)://(?:{_USER})?(?:{_HOST}|\[[0-9A-Fa-f:.]+\])(?::[0-9]{{1,5}})?/\S+")
_SHORT_SSH = re.compile(rf"{_USER}{_HOST}:(?![:-])\S+")
_ON_DISK = re.compile(r"(?:file://)?/\S*")
_NOT_IN_REFS = re.compile(r"[\x00-\x20\x7f~^:?*\[\\]|\.\.|@\{|//|\.lock(?:/|$)|/\.|/$|\.$|^[-./]|^@$")

REPOSITORY_RULE = (
    "an address like https://HOST/PATH, ssh://USER@HOST/PATH or USER@HOST:PATH,"
    " or the absolute path of a repository, without spaces and passwords"
)
PATH_RULE = "a folder inside the repository, like modules/web, or . for all of it"
REF_RULE = "a branch, a tag, or one in full like refs/heads/main"
COMMIT_RULE = "40 of 0-9 and a-f"


def repository_fault(repository: str) -> str | None:
    """What is wrong with a repository's address; None when it is right."""
    fits = any(form.fullmatch(repository) for form in (_URL, _SHORT_SSH, _ON_DISK))
    if fits and len(repository) <= _LONGEST and repository.isprintable():
        return None
    return f"{without_password(repository)!r} is no repository: {REPOSITORY_RULE}"


def without_password(repository: str) -> str:
    """An address as it may be shown: whoever gave a password with it has that hidden."""
    return re.sub(r"(://[^/@:]*):[^/@]*@", r"\1:***@", repository)


def source_path_fault(path: str) -> str | None:
    """What is wrong with a path inside a repository; None when it is right."""
    parts = path.split("/")
    odd = any(part in ("", ".", "..", ".git") or part.startswith("-") for part in parts)
    unfit = "\\" in path or not path.isprintable() or path.startswith(":") or len(path) > _LONGEST
    if path == "." or not (odd or unfit):
        return None
    return f"{path!r} is no path: {PATH_RULE}"


def ref_fault(ref: str) -> str | None:
    """What is wrong with a ref; None when it is right.

    The grammar is that of `git check-ref-format`, less what cannot be printed or begins with `-`.
    """
    if 0 < len(ref) <= _LONGEST and ref.isprintable() and not _NOT_IN_REFS.search(ref):
        return None
    return f"{ref!r} is no ref: {REF_RULE}"


def commit_fault(commit: str) -> str | None:
    """What is wrong with a commit's name; None when it is right."""
    return None if _COMMIT.fullmatch(commit) else f"{commit!r} is no commit: {COMMIT_RULE}"


def _refuse(why: str | None) -> None:
    if why is not None:
        raise InvalidValue(BadSource(why=why))


def repository_validator(_instance: object, _attribute: Any, value: str) -> None:
    """An attrs validator; raises `InvalidValue`."""
    _refuse(repository_fault(value))


def paths_validator(_instance: object, _attribute: Any, value: tuple[str, ...]) -> None:
    """An attrs validator for one or more paths, each once; raises `InvalidValue`."""
    _refuse(None if value else "a source has a path: . is all of the repository")
    for path in value:
        _refuse(source_path_fault(path))
    _refuse(None if len(set(value)) == len(value) else "a path stands twice in one source")


def ref_validator(_instance: object, _attribute: Any, value: str) -> None:
    """An attrs validator; raises `InvalidValue`."""
    _refuse(ref_fault(value))


def commit_validator(_instance: object, _attribute: Any, value: str) -> None:
    """An attrs validator; raises `InvalidValue`."""
    _refuse(commit_fault(value))


def check_commit(repository: str, commit: str, paths: tuple[str, ...]) -> None:
    """Raise `InvalidValue` where one of these is not what it should be."""
    _refuse(repository_fault(repository) or commit_fault(commit))
    paths_validator(None, None, paths)


def in_order(paths: Iterable[str]) -> tuple[str, ...]:
    """As given: the first path is where the manifest is."""
    return tuple(paths)


@frozen(kw_only=True)
class Source:
    """Where a module's code lives: a repository, a ref, and one or more paths in it.

    The manifest is in the first path; the others are folders that it shares with other modules. Raises
    `InvalidValue`.
    """

    repository: str = field(validator=repository_validator)
    paths: tuple[str, ...] = field(default=(".",), converter=in_order, validator=paths_validator)
    ref: str = field(default=HEAD, validator=ref_validator)


@frozen(kw_only=True)
class Commit:
    """A commit, and when it was committed: an instant in UTC like `2026-12-01T22:20:02Z`.

    Raises `InvalidValue`.
    """

    id: str = field(validator=commit_validator)
    at: str


@frozen(kw_only=True)
class Newest:
    """The newest commit of the ref that touched a path of the source."""

    commit: Commit


@frozen(kw_only=True)
class RepositoryAway:
    """The repository is out of reach, or lets nobody in; `why` has git's words."""

    why: str


@frozen(kw_only=True)
class RefGone:
    """The repository was reached, and has no such ref."""

    ref: str


@frozen(kw_only=True)
class RefUnclear:
    """The ref is a branch and a tag; one of them has to be said in full."""

    ref: str


@frozen(kw_only=True)
class PathGone:
    """The ref is there, and has no such path."""

    path: str


@frozen(kw_only=True)
class CommitGone:
    """The repository was reached, and the commit is no part of it (any more)."""

    commit: str


Unfound: TypeAlias = RepositoryAway | RefGone | RefUnclear | PathGone | CommitGone
"""Why a source has no commit to show. Each asks for something else of a person."""

Looked: TypeAlias = Newest | Unfound
"""What a look at a source came to."""


@frozen(kw_only=True)
class Seen:
    """What is known of a source: its head as last seen, when that was, and what a later look ran into.

    Without a `head` nobody has looked yet, or no look has found one. `unfound` is what the last look ran
    into, at `unfound_at`; None where it found the head.
    """

    head: Commit | None = None
    head_at: str | None = None
    unfound: Unfound | None = None
    unfound_at: str | None = None
