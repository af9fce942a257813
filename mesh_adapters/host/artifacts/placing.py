"""Puts the tree of an artifact at its path, and takes it off again, so that it may be killed at any step.

The new tree is unpacked beside the path (`.part`), and called `.new` once all of it is there and lasts. Then
the two are exchanged, and what was there before is emptied: what the mesh brought goes, what a person put
into it is in both by then. `next` stands among the records all that time. Whoever finds it there begins by
tidying up: either way what is at the path is a whole tree, and what is beside it goes.
"""

from __future__ import annotations

import errno
import hashlib
import os
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import BinaryIO

from attrs import evolve, field, frozen

from mesh_adapters.host.artifacts.additions import Known, Moving, additions, carry, holding, in_the_way
from mesh_adapters.host.artifacts.limits import ArtifactError, Limits
from mesh_adapters.host.artifacts.listing import Record
from mesh_adapters.host.artifacts.looking import look_at
from mesh_adapters.host.artifacts.records import Records
from mesh_adapters.host.artifacts.swapping import swap, unswap
from mesh_adapters.host.artifacts.unpacking import sync_all_at, unpack
from mesh_adapters.host.artifacts.whole_trees import remove_all
from mesh_adapters.host.steps import Step

TEMPORARY = ".mesh-tree-"
_LONGEST_NAME = 255
_TICK = 0.02
"""Seconds in which the clock of a file system moves on: what is changed after them has another ctime."""


@frozen(kw_only=True)
class Spot:
    """A path, where that is here, its records, and the names beside it. Without `owner` none is given.

    `settled` is called once a tree is in its place, before that is recorded.
    """

    path: str
    place: str
    records: Records
    owner: int | None
    limits: Limits
    step: Step
    alive: Callable[[], None]
    settled: Callable[[], None]
    part: str = field(init=False)
    new: str = field(init=False)
    old: str = field(init=False)

    def __attrs_post_init__(self) -> None:
        folder, name = os.path.split(self.place)
        if len(os.fsencode(name)) > _LONGEST_NAME - len(TEMPORARY) - 5:
            name = hashlib.sha256(os.fsencode(name)).hexdigest()
        for which in ("part", "new", "old"):
            object.__setattr__(self, which, f"{folder}/{TEMPORARY}{name}.{which}")


def is_whole(spot: Spot, record: Record | None) -> bool:
    """Whether the tree of a record is at the path, as it was put there. Raises `OSError`."""
    if record is None or not os.path.isdir(spot.place):
        return False
    return not look_at(spot.place, record, spot.records.seen(), spot.alive).differing


def tidy(spot: Spot) -> Record | None:
    """Bring a run that was killed to its end, or back; the record of what is there then.

    Raises `ArtifactError` and `OSError`.
    """
    records = spot.records
    if not records.unfinished:
        return records.now()
    was, to_come = records.now(), records.next()
    unswap(spot.new, spot.place, spot.old)
    spot.step("tree unswapped")
    if os.path.lexists(spot.part):
        remove_all(spot.part)
    if os.path.lexists(spot.new):
        _empty(spot, was, to_come)
    sync_all_at(os.path.dirname(spot.place))
    spot.step("tree tidied")
    if _is_rather(spot, to_come, was):
        spot.settled()
        records.promote()
    else:
        records.drop_next()
    spot.step("tree recorded")
    return records.now()


def replace(spot: Spot, file: BinaryIO, was: Record | None, to_come: Record) -> tuple[str, ...]:
    """Put the tree in `file` in the place of the one that was there, or of an empty directory, or of nothing.

    `file` is at its beginning. Returns what of a person's was carried over. Raises `ArtifactError`, and
    `OSError`; what was there is still there then.
    """
    carried: list[str] = []
    coming = Known(to_come)
    if os.path.lexists(spot.place):
        carried = list(additions(spot.place, Known(was)))
        stuck = list(in_the_way(spot.place, carried, coming))
        if stuck:
            raise ArtifactError(_in_the_way(spot.path, stuck))
    to_come = evolve(to_come, held=holding(carried, coming))
    spot.records.put_next(to_come)
    spot.step("tree intended")
    try:
        seen = unpack(file, spot.part, to_come.items, spot.owner, spot.limits, spot.alive)
        spot.step("tree unpacked")
        os.rename(spot.part, spot.new)
        spot.step("tree whole")
        time.sleep(_TICK)  # from here on nobody's change has the ctime that we have seen
        if carried:
            spot.records.put_carried(carry(spot.place, spot.new, carried))
            spot.step("tree carried")
            sync_all_at(spot.new)
        swap(spot.new, spot.place, spot.old, spot.step)
    except BaseException:
        with suppress(OSError, ArtifactError):
            tidy(spot)
        raise
    if os.path.lexists(spot.new):
        _empty(spot, was, to_come)
    sync_all_at(os.path.dirname(spot.place))
    spot.step("tree emptied")
    spot.records.put_seen(seen)
    spot.settled()
    spot.records.promote()
    spot.step("tree recorded")
    return tuple(carried)


def take_off(spot: Spot, record: Record, give_back: Callable[[], None] | None = None) -> tuple[str, ...]:
    """Remove what the artifact brought and nobody edited, and the directory itself where it is empty then.

    A directory that was there before the mesh stays: `give_back` makes it as it was. Returns what else stays
    (`.` is the directory). Raises `OSError`.
    """
    if not record.going:
        record = evolve(record, going=True)
        spot.records.put_now(record)
        spot.step("tree going")
    edited = set(look_at(spot.place, record, spot.records.seen(), spot.alive).differing)
    for item in reversed(record.items):
        if item.path not in edited:
            _remove(f"{spot.place}/{item.path}", item.is_directory)
            spot.step("tree item gone")
    for path in reversed(record.held):
        _remove(f"{spot.place}/{path}", True)
    left = [item.path for item in record.items if item.path in edited]
    left = [path for path in left if os.path.lexists(f"{spot.place}/{path}")]
    left += additions(spot.place, Known(record))
    if give_back is not None:
        give_back()
    elif "." not in edited:
        _remove(spot.place, True)
    sync_all_at(os.path.dirname(spot.place))
    spot.step("tree gone")
    stays = give_back is None and os.path.lexists(spot.place)
    if stays:
        spot.records.put_now(evolve(record, items=(), held=()))
    else:
        # Only now: as long as there is a record, the next run knows what to go on with.
        spot.records.drop()
    spot.step("tree forgotten")
    return tuple(left) or ((".",) if stays else ())


def _remove(place: str, is_directory: bool) -> None:
    try:
        (os.rmdir if is_directory else os.unlink)(place)
    except OSError as error:
        if error.errno not in (errno.ENOENT, errno.ENOTEMPTY, errno.EEXIST):
            raise


def named(paths: Iterable[str], most: int = 3) -> str:
    """A few paths in words."""
    listed = list(paths)
    more = f" and {len(listed) - most} more" if len(listed) > most else ""
    return ", ".join(listed[:most]) + more


def _empty(spot: Spot, was: Record | None, to_come: Record | None) -> None:
    """Empty what is called `.new` now: the tree that was there, or the new one that was not put there."""
    moving = Moving(spot.new, spot.place, Known(was), Known(to_come), spot.owner, spot.records.carried())
    moving.all()
    if moving.stuck:
        beside = os.path.join(os.path.dirname(spot.path), os.path.basename(spot.new))
        raise ArtifactError(_in_the_way(beside, moving.stuck))


def _in_the_way(path: str, stuck: list[str]) -> str:
    where = f"where the new artifact has something, {path} has what is not of the one before"
    return f"{where}: {named(stuck)}; move it away, and apply again"


def _is_rather(spot: Spot, to_come: Record | None, was: Record | None) -> bool:
    """Whether what is at the path is what was to come, also where somebody has edited it since."""
    if to_come is None or not os.path.isdir(spot.place):
        return False
    return _likeness(spot, to_come) > _likeness(spot, was)


def _likeness(spot: Spot, record: Record | None) -> int:
    """How many items of a record are there, less those that are not."""
    if record is None:
        return 0
    differing = set(look_at(spot.place, record, {}, spot.alive).differing) - {"."}
    return len(record.items) - 2 * len(differing)
