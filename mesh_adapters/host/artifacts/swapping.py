"""Puts a directory in the place of another, in one go where the file system can do that (renameat2(2))."""

from __future__ import annotations

import ctypes
import errno
import os

from mesh_adapters.host.files import sync_directory
from mesh_adapters.host.steps import Step

_AT_FDCWD = -100
_EXCHANGE = 2
_CANNOT = (errno.ENOSYS, errno.EINVAL, errno.EOPNOTSUPP)


def exchanged(one: str, other: str) -> bool:
    """Give each the other's name, at once; False where that cannot be done here. Raises `OSError`."""
    libc = ctypes.CDLL(None, use_errno=True)
    if not hasattr(libc, "renameat2"):
        return False
    if libc.renameat2(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _CANNOT:
        return False
    raise OSError(number, os.strerror(number), other)


def swap(new: str, place: str, old: str, step: Step) -> None:
    """Put `new` at `place`; what was there is at `new` then.

    Where the two cannot be exchanged, what was there is called `old` in between, and whoever is killed then
    has `unswap` to call. Raises `OSError`.
    """
    if not os.path.lexists(place):
        os.rename(new, place)
    elif not exchanged(new, place):
        os.rename(place, old)
        step("tree away")
        os.rename(new, place)
        step("tree between")
        os.rename(old, new)
    step("tree swapped")
    sync_directory(os.path.dirname(place))


def unswap(new: str, place: str, old: str) -> None:
    """Go on from a `swap` that was killed: what was there is at its place again, or at `new`."""
    if os.path.lexists(old):
        os.rename(old, new if os.path.lexists(place) else place)
