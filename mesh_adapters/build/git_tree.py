"""What is in a commit's tree, and whether it may be written to a disk. Nothing here touches either.

A tree is a stranger's: names may be `..` or have a slash in them, one name may stand twice, and a link may
lead anywhere.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping

from attrs import frozen

DIRECTORY = "040000"
SUBMODULE = "160000"
LINK = "120000"
PROGRAM = "100755"
FILES = ("100644", "100664", PROGRAM)

LONGEST_LINK = 4095
_LONGEST_NAME = 255
_LONGEST_PATH = 1024
_MOST_LINKS = 40
"""As many as Linux follows for one path."""


@frozen(kw_only=True)
class Unsafe:
    """Something in a tree that is not written to a disk: its path, and why."""

    path: str
    why: str


@frozen(kw_only=True)
class Entry:
    """Something in a tree: its mode as git writes it, its object and its path."""

    mode: str
    object: str
    path: str


def entries_of(listing: bytes) -> tuple[Entry, ...] | Unsafe:
    """The entries that `git ls-tree -z -r -t` lists; or the first that may not be written."""
    entries: list[Entry] = []
    modes: dict[str, str] = {"": DIRECTORY}
    for line in listing.split(b"\0")[:-1]:
        about, _, name = line.partition(b"\t")
        mode, _, of = about.decode("ascii").split(" ")
        entry = Entry(mode=mode, object=of, path=name.decode("utf-8", "surrogateescape"))
        why = _name_fault(name, entry.path) or _place_fault(entry, modes)
        if why is not None:
            return Unsafe(path=shown(entry.path), why=why)
        modes[entry.path] = mode
        entries.append(entry)
    return tuple(entries)


def shown(path: str) -> str:
    """A path that can be printed, whatever it is."""
    return path if path.isprintable() else ascii(path)[1:-1]


def _name_fault(name: bytes, path: str) -> str | None:
    parts = path.split("/")
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts):
        return "a name in it leads elsewhere, or into a repository"
    if not path.isprintable():
        return "its name is not UTF-8 that can be printed"
    if len(name) > _LONGEST_PATH or any(len(part) > _LONGEST_NAME for part in name.split(b"/")):
        return "its name is too long"
    return None


def _place_fault(entry: Entry, modes: Mapping[str, str]) -> str | None:
    if entry.mode not in (DIRECTORY, SUBMODULE, LINK, *FILES):
        return f"its mode is {entry.mode}: neither a file, a folder nor a link"
    if entry.path in modes:
        return "it is there twice"
    if modes.get(posixpath.dirname(entry.path)) != DIRECTORY:
        return "what it is in is no folder"
    return None


def link_fault(entries: tuple[Entry, ...], targets: Mapping[str, str]) -> Unsafe | None:
    """The first link that leads out of the tree, by itself or through others; None when all stay inside."""
    for entry in entries:
        if entry.mode == LINK:
            why = _way_fault(entry.path, targets)
            if why is not None:
                return Unsafe(path=entry.path, why=why)
    return None


def _way_fault(path: str, targets: Mapping[str, str]) -> str | None:
    """Go the way that Linux would go from a link, and see whether it leaves the tree or never ends."""
    at: list[str] = posixpath.dirname(path).split("/") if "/" in path else []
    ahead = [posixpath.basename(path)]
    links = 0
    while ahead:
        part = ahead.pop(0)
        if part == ".." and not at:
            return "the link leads out of the tree"
        if part == "..":
            at.pop()
        elif part not in ("", "."):
            target = targets.get("/".join([*at, part]))
            if target is None:
                at.append(part)
                continue
            links += 1
            fault = _target_fault(target)
            if fault is not None or links > _MOST_LINKS:
                return fault or "the link leads round in a circle"
            ahead = [*target.split("/"), *ahead]
    return None


def _target_fault(target: str) -> str | None:
    if target.startswith("/"):
        return "the link leads to an absolute path"
    if not target or "\0" in target or len(target.encode("utf-8", "surrogateescape")) > LONGEST_LINK:
        return "the link leads nowhere"
    return None
