"""Users and groups by name and by number, each looked up once: asking the system costs more than a chown.

What was found is good for one stretch of work in which nobody makes users: a package that comes may.
"""

from __future__ import annotations

import errno
import grp
import pwd
from functools import cache


class Accounts:
    """The users and groups of the machine that this runs on."""

    def __init__(self) -> None:
        self.user = cache(_user)
        """The name of a user, or the number where there is no such."""
        self.group = cache(_group)
        """The name of a group, or the number where there is no such."""
        self._uid = cache(_uid)
        self._gid = cache(_gid)

    def numbers(self, owner: str | None, group: str | None) -> tuple[int, int]:
        """Those of a user and a group, -1 for none. Raises `OSError` where there is no such."""
        return self._uid(owner), self._gid(group)


def _uid(owner: str | None) -> int:
    if owner is None:
        return -1
    try:
        return int(owner) if owner.isdigit() else pwd.getpwnam(owner).pw_uid
    except KeyError:
        raise OSError(errno.EINVAL, f"there is no user {owner}") from None


def _gid(group: str | None) -> int:
    if group is None:
        return -1
    try:
        return int(group) if group.isdigit() else grp.getgrnam(group).gr_gid
    except KeyError:
        raise OSError(errno.EINVAL, f"there is no group {group}") from None


def _user(uid: int) -> str:
    try:
        return pwd.getpwuid(uid).pw_name
    except KeyError:
        return str(uid)


def _group(gid: int) -> str:
    try:
        return grp.getgrgid(gid).gr_name
    except KeyError:
        return str(gid)
