"""Trees of a commit, written under a folder: gathered, judged, and only then written.

Git writes none of it. The bytes are the repository's own: no attribute, filter or hook has a say in them.
"""

from __future__ import annotations

import os
import posixpath
import shutil
from collections.abc import Callable, Iterable
from pathlib import Path

from attrs import field, frozen, mutable

from mesh_adapters.build.git_clone import Clone
from mesh_adapters.build.git_running import MOST_OUTPUT
from mesh_adapters.build.git_tree import (
    DIRECTORY,
    FILES,
    LINK,
    LONGEST_LINK,
    PROGRAM,
    SUBMODULE,
    Entry,
    Unsafe,
    entries_of,
    link_fault,
)
from mesh_core.model.source import RepositoryAway

MOST_LISTED = MOST_OUTPUT
"""Bytes of a tree's listing. A small repository can unfold to billions of entries."""

_PACKED = 1024 * 1024
"""What a pack may take beyond its contents."""


@frozen(kw_only=True)
class Tree:
    """What is to be written: entries, and where its links lead."""

    entries: tuple[Entry, ...]
    targets: dict[str, str]


def gather(clone: Clone, commit: str, paths: tuple[str, ...]) -> Tree | Unsafe | RepositoryAway:
    """The trees of these paths at a commit, with all their contents in the clone, once they are judged."""
    limits = () if "." in paths else paths
    listing = ("ls-tree", "-r", "-t", "-z", "--full-tree", commit, "--", *limits)
    ran = clone.git.near(clone.place, *listing, most=MOST_LISTED)
    if ran.too_much:
        return Unsafe(path=paths[0], why=f"its list of files alone is over {MOST_LISTED} bytes")
    if not ran.well:
        raise clone.unreadable(ran)
    entries = entries_of(ran.output)
    if isinstance(entries, Unsafe):
        return entries
    fault = _bring(clone, commit, paths, entries) or _size_fault(clone, entries)
    if fault is not None:
        return fault
    targets = _targets(clone, entries)
    return link_fault(entries, targets) or Tree(entries=entries, targets=targets)


def write(clone: Clone, tree: Tree, into: Path) -> None:
    """Write a tree into a folder that is empty or not there; if that fails, nothing is left in it.

    Links come last, so nothing is ever written through one.
    """
    was_there = into.is_dir()
    into.mkdir(mode=0o755, exist_ok=True)
    if any(into.iterdir()):
        raise FileExistsError(f"{into} is not empty")
    try:
        for entry in tree.entries:
            if entry.mode in (DIRECTORY, SUBMODULE):
                (into / entry.path).mkdir(mode=0o755)
        _write_files(clone, tree.entries, into)
        for path, target in tree.targets.items():
            (into / path).symlink_to(target)
    except BaseException:
        for left in into.iterdir():
            shutil.rmtree(left) if left.is_dir() and not left.is_symlink() else left.unlink()
        if not was_there:
            into.rmdir()
        raise


def _contents(entries: Iterable[Entry], *modes: str) -> dict[str, list[Entry]]:
    """The entries of these modes, by their object."""
    found: dict[str, list[Entry]] = {}
    for entry in entries:
        if entry.mode in modes:
            found.setdefault(entry.object, []).append(entry)
    return found


def _bring(
    clone: Clone, commit: str, paths: tuple[str, ...], entries: tuple[Entry, ...]
) -> Unsafe | RepositoryAway | None:
    """Have the contents of all files and links in the clone: what is missing is fetched at once."""
    trees = {entry.path for entry in entries if entry.mode == DIRECTORY}
    tops = {"" if path == "." else path if path in trees else posixpath.dirname(path) for path in paths}
    roots = [f"{commit}:{top}" for top in sorted(tops)]
    listing = ("rev-list", "--objects", "--no-object-names", "--missing=print", *roots, "--")
    said = clone.read(*listing).decode("ascii").splitlines()
    wanted = _contents(entries, LINK, *FILES)
    missing = tuple(name for line in said if line[:1] == "?" and (name := line[1:]) in wanted)
    most = clone.git.settings.most_bytes
    brought = clone.bring(missing, most + most // 100 + _PACKED)
    if brought.well:
        return None
    if "File too large" in brought.errors or "signal 25" in brought.errors:
        return Unsafe(path=paths[0], why=f"it is over {most} bytes")
    return RepositoryAway(why=clone.why(brought))


def _size_fault(clone: Clone, entries: tuple[Entry, ...]) -> Unsafe | None:
    """Say which file is the largest, where all of them are more than they may be."""
    wanted = _contents(entries, LINK, *FILES)
    given = "".join(f"{name}\n" for name in wanted).encode()
    lines = clone.read("cat-file", "--batch-check=%(objectsize)", "--buffer", given=given).decode("ascii")
    sizes = dict(zip(wanted, map(int, lines.split()), strict=True))
    total = sum(sizes[name] * len(same) for name, same in wanted.items())
    most = clone.git.settings.most_bytes
    if total > most:
        largest = max(wanted, key=lambda name: sizes[name])
        why = f"all is {total} bytes and may be {most}; this file is the largest, with {sizes[largest]}"
        return Unsafe(path=wanted[largest][0].path, why=why)
    for name, same in _contents(entries, LINK).items():
        if sizes[name] > LONGEST_LINK:
            return Unsafe(path=same[0].path, why="the link leads nowhere: it is too long")
    return None


def _targets(clone: Clone, entries: tuple[Entry, ...]) -> dict[str, str]:
    links = _contents(entries, LINK)
    targets: dict[str, str] = {}

    def begin(name: str) -> Callable[[bytes], None]:
        for entry in links[name]:
            targets[entry.path] = ""

        def take(chunk: bytes) -> None:
            for entry in links[name]:
                targets[entry.path] += chunk.decode("utf-8", "surrogateescape")

        return take

    _read(clone, tuple(links), begin)
    return targets


def _write_files(clone: Clone, entries: tuple[Entry, ...], into: Path) -> None:
    """Write each content once, as it comes, and copy it to wherever else it is."""
    files = _contents(entries, *FILES)

    with _Writing() as writing:
        _read(clone, tuple(files), lambda name: writing.begin(into / files[name][0].path))
    for first, *others in files.values():
        for other in others:
            shutil.copyfile(into / first.path, into / other.path, follow_symlinks=False)
        for entry in (first, *others):
            (into / entry.path).chmod(0o755 if entry.mode == PROGRAM else 0o644)


class _Writing:
    """One open file after the other."""

    def __init__(self) -> None:
        self._handle: int | None = None

    def __enter__(self) -> _Writing:
        return self

    def __exit__(self, *_: object) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None

    def begin(self, path: Path) -> Callable[[bytes], None]:
        self.__exit__()
        self._handle = os.open(
            path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600
        )
        return self._take

    def _take(self, chunk: bytes) -> None:
        left = memoryview(chunk)
        while left and self._handle is not None:
            left = left[os.write(self._handle, left) :]


def _read(clone: Clone, names: tuple[str, ...], begin: Callable[[str], Callable[[bytes], None]]) -> None:
    """Read contents through one process: `begin` is told of each, in order, and gives who takes its bytes."""
    if not names:
        return
    batch = _Batch(names=names, begin=begin)
    given = "".join(f"{name}\n" for name in names).encode()
    most = 2 * clone.git.settings.most_bytes + 128 * len(names)  # it stops what is no answer at all
    ran = clone.git.near(
        clone.place, "cat-file", "--batch", "--buffer", given=given, take=batch.take, most=most
    )
    if not ran.well or not batch.is_complete:
        raise clone.unreadable(ran)


@mutable(kw_only=True)
class _Batch:
    """Takes apart what `cat-file --batch` writes: for each object a line that ends in its size, its bytes and
    an end of line.
    """

    names: tuple[str, ...]
    begin: Callable[[str], Callable[[bytes], None]]
    _header: bytearray = field(factory=bytearray, init=False)
    _left: int = field(default=0, init=False)
    _done: int = field(default=0, init=False)
    _to: Callable[[bytes], None] | None = field(default=None, init=False)

    @property
    def is_complete(self) -> bool:
        """Whether every content was read to its end."""
        return self._done == len(self.names) and self._to is None

    def take(self, chunk: bytes) -> None:
        """Take the next bytes, wherever they end."""
        at = 0
        while at < len(chunk):
            at = self._content(chunk, at) if self._to is not None else self._line(chunk, at)

    def _line(self, chunk: bytes, at: int) -> int:
        end = chunk.find(b"\n", at)
        if end < 0:
            self._header += chunk[at:]
            return len(chunk)
        self._header += chunk[at:end]
        name, _, size = self._header.decode("ascii").split(" ")
        if name != self.names[self._done]:
            raise ValueError(f"git gave {name} for {self.names[self._done]}")
        self._header.clear()
        self._left, self._to = int(size), self.begin(name)
        return end + 1

    def _content(self, chunk: bytes, at: int) -> int:
        taken = chunk[at : at + self._left]
        if taken and self._to is not None:
            self._to(taken)
        self._left -= len(taken)
        at += len(taken)
        if self._left == 0 and at < len(chunk):  # the end of line after the content
            self._to, self._done = None, self._done + 1
            return at + 1
        return at
