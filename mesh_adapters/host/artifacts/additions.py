"""What a person put into a tree: found beside what the artifact brought, and carried over to the next tree.

> removes what it owns **and nothing else** (design, part 8)

Nothing that is not in the record of a tree is ever removed here. What cannot be carried over, since the next
tree has something of its own there, is in the way, and is told.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from mesh_adapters.host.artifacts.listing import Item, Record, above_of
from mesh_adapters.host.artifacts.looking import is_as_put
from mesh_adapters.host.artifacts.records import Carried
from mesh_adapters.host.artifacts.whole_trees import copy_rights


class Known:
    """The files and directories that one or more records know of, by path inside of the tree."""

    def __init__(self, *records: Record | None) -> None:
        self._items = {item.path: item for record in records if record for item in record.items}
        held = {path for record in records if record for path in record.held}
        self.directories = {path for path, item in self._items.items() if item.is_directory} | held
        self.files = self._items.keys() - self.directories

    def item(self, path: str) -> Item | None:
        """What is known of a path."""
        return self._items.get(path)


def additions(place: str, known: Known, above: str = "") -> Iterator[str]:
    """What is in a tree and not known: the topmost of it. Raises `OSError`."""
    for path, is_directory in _inside(place, above):
        if is_directory and path in known.directories:
            yield from additions(place, known, path)
        elif is_directory or (path not in known.files and path not in known.directories):
            yield path


def in_the_way(place: str, found: Iterable[str], to_come: Known) -> Iterator[str]:
    """What of the additions is where the next tree has something of its own. Raises `OSError`."""
    for path in found:
        if any(above in to_come.files for above in above_of(path)) or path in to_come.files:
            yield path
        elif path in to_come.directories:
            if not _is_directory(f"{place}/{path}"):
                yield path
                continue
            yield from in_the_way(place, [inner for inner, _ in _inside(place, path)], to_come)


def holding(found: Iterable[str], to_come: Known) -> tuple[str, ...]:
    """The directories that have to stay for additions, and that the next tree has not."""
    above = {path for one in found for path in above_of(one)}
    return tuple(sorted(above - to_come.directories))


def carry(old: str, new: str, paths: Iterable[str]) -> Carried:
    """Have the additions in the new tree as well: files by a link, so that they are in both, and never gone.

    Returns what is in both now. Raises `OSError`.
    """
    carried: Carried = {}
    for path in paths:
        _make_above(old, new, path)
        _link(old, new, path, carried)
    return carried


def _link(old: str, new: str, path: str, carried: Carried) -> None:
    if not _is_directory(f"{old}/{path}"):
        os.link(f"{old}/{path}", f"{new}/{path}", follow_symlinks=False)
        carried[path] = os.lstat(f"{new}/{path}").st_ino
        return
    carried[path] = 0
    is_new = not os.path.lexists(f"{new}/{path}")
    if is_new:
        os.mkdir(f"{new}/{path}", 0o700)
    for inner, _ in list(_inside(old, path)):
        _link(old, new, inner, carried)
    if is_new:
        _make_alike(old, new, path)


def _make_above(old: str, new: str, path: str) -> None:
    for above in reversed([*above_of(path)]):
        if not os.path.lexists(f"{new}/{above}"):
            os.mkdir(f"{new}/{above}", 0o700)
            _make_alike(old, new, above)


def _make_alike(old: str, new: str, path: str) -> None:
    status = os.lstat(f"{old}/{path}")
    os.chown(f"{new}/{path}", status.st_uid, status.st_gid)
    copy_rights(f"{old}/{path}", f"{new}/{path}")


class Moving:
    """Empties a tree that is not needed any more: what is known of it goes, a person's is in the other tree.

    What they changed while the two were exchanged moves over; of two files, the one that changed last stays.
    What was carried over and is not in the other tree any more was taken away since, and does not come again.
    """

    def __init__(
        self, old: str, new: str, was: Known, to_come: Known, owner: int | None, carried: Carried
    ) -> None:
        self._carried = carried
        self._old = old
        self._new = new
        self._was = was
        self._to_come = to_come
        self._owner = owner
        self.stuck: list[str] = []
        """What could not be moved, since the other tree has something of its own there."""

    def all(self) -> None:
        """All of it, the directory too where nothing is stuck in it. Raises `OSError`."""
        self._directory("")

    def _directory(self, above: str) -> None:
        for path, is_directory in list(_inside(self._old, above)):
            if is_directory:
                self._inner(path)
            elif self._is_ours(path):
                os.unlink(f"{self._old}/{path}")
            else:
                self._move(path)
        if not self.stuck:
            os.rmdir(f"{self._old}/{above}" if above else self._old)

    def _inner(self, path: str) -> None:
        known = path in self._was.directories or path in self._to_come.directories or path in self._carried
        if known or _is_directory(f"{self._new}/{path}"):
            self._directory(path)
        else:
            self._move(path)

    def _is_ours(self, path: str) -> bool:
        if path in self._was.files or path in self._was.directories:
            return True
        item = self._to_come.item(path)
        return item is not None and not item.is_directory and is_as_put(self._old, item, self._owner, {})

    def _move(self, path: str) -> None:
        here, there = f"{self._old}/{path}", f"{self._new}/{path}"
        if not os.path.lexists(self._new) or path in self._to_come.files | self._to_come.directories:
            self.stuck.append(path)
        elif not os.path.lexists(there) and self._carried.get(path) == os.lstat(here).st_ino:
            os.unlink(here)
        elif not os.path.lexists(there):
            _make_above(self._old, self._new, path)
            os.rename(here, there)
        elif _is_directory(here) or _is_directory(there):
            self.stuck.append(path)
        elif not os.path.samestat(os.lstat(here), os.lstat(there)) and _changed(here) > _changed(there):
            os.rename(here, there)
        else:
            os.unlink(here)


def _changed(place: str) -> int:
    return os.lstat(place).st_ctime_ns


def _inside(place: str, above: str) -> Iterator[tuple[str, bool]]:
    """The paths of what is in a directory of the tree, and whether each is a directory."""
    with os.scandir(f"{place}/{above}" if above else place) as found:
        listed = sorted((one.name, one.is_dir(follow_symlinks=False)) for one in found)
    for name, is_directory in listed:
        yield (f"{above}/{name}" if above else name), is_directory


def _is_directory(place: str) -> bool:
    return os.path.isdir(place) and not os.path.islink(place)
