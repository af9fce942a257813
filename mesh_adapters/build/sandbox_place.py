"""The folders of one build: a copy of its source, a home, temporary files, and an /etc of its own.

What a build sees of times and modes is the same wherever it runs: every time is the commit's, and a mode is
0755 or 0644.
"""

from __future__ import annotations

import os
import shutil
import stat
from datetime import datetime
from pathlib import Path

from attrs import frozen

from mesh_adapters.build.sandbox_attend import Beat, Watch

BUILDER_ID = 99734
"""The user and group of a build, inside; outside as well where the builder is root. Nobody's account: it is
in the range that neither Debian nor systemd hands out, so no service of the machine reaches into a build."""

_SWITCH = "passwd: files\ngroup: files\nhosts: files dns\nservices: files\nprotocols: files\n"
_HOSTS = "127.0.0.1 localhost\n::1 localhost\n"


@frozen(kw_only=True)
class Place:
    """Where one build works. `root` is for the builder's eyes only: no other account passes through it."""

    root: Path

    @property
    def source(self) -> Path:
        """The copy of the source: all of it, not only the module's folder."""
        return self.root / "src"

    @property
    def home(self) -> Path:
        """An empty home."""
        return self.root / "home"

    @property
    def temporary(self) -> Path:
        """What is /tmp; on the disk and not in memory, so that it is bounded as the rest."""
        return self.root / "tmp"

    @property
    def etc(self) -> Path:
        """The files of /etc that are ours."""
        return self.root / "etc"


def prepare(root: Path) -> Place:
    """Make the folders of a build in a new folder. Raises `OSError`: also if there is something already."""
    root.mkdir(mode=0o700, parents=True)
    place = Place(root=root)
    for folder in (place.source, place.home, place.temporary, place.etc):
        folder.mkdir(mode=0o755)
    accounts = {"root": 0, "build": BUILDER_ID, "nobody": 65534}
    users = [f"{name}:x:{number}:{number}::/build/home:/bin/sh\n" for name, number in accounts.items()]
    groups = [f"{name}:x:{number}:\n" for name, number in accounts.items()]
    files = {"passwd": "".join(users), "group": "".join(groups), "nsswitch.conf": _SWITCH, "hosts": _HOSTS}
    for name, text in files.items():
        (place.etc / name).write_text(text, "utf-8")
        (place.etc / name).chmod(0o644)
    return place


def copy_source(source: Path, place: Place, at: str, watch: Watch) -> None:
    """Copy the source into its place, without what git keeps of it. Raises `OSError`.

    git's folder is left out since it differs from one clone to the next, and may hold a credential.
    """
    beat, seconds = Beat(watch), since_epoch(at)
    for here, folders, names in os.walk(source):
        if here == os.fspath(source) and ".git" in folders:
            folders.remove(".git")
        there = place.source / os.path.relpath(here, source)
        links = [name for name in folders if os.path.islink(os.path.join(here, name))]
        for name in sorted({*folders} - {*links}):
            (there / name).mkdir(mode=0o755)
        for name in sorted([*names, *links]):
            beat()
            _copy(Path(here, name), there / name)
    for here, folders, names in os.walk(place.source, topdown=False):
        for name in (*folders, *names, "."):
            os.utime(os.path.join(here, name), (seconds, seconds), follow_symlinks=False)


def _copy(here: Path, there: Path) -> None:
    mode = here.lstat().st_mode
    if stat.S_ISLNK(mode):
        there.symlink_to(here.readlink())
        return
    if not stat.S_ISREG(mode):
        raise OSError(f"{here} is no file and no folder")
    shutil.copyfile(here, there)
    there.chmod(0o755 if mode & 0o100 else 0o644)


def hand_over(place: Place, owner: int) -> None:
    """Give what a build writes to another account. Raises `OSError`."""
    for top in (place.source, place.home, place.temporary):
        for here, folders, names in os.walk(top):
            for name in (".", *folders, *names):
                os.chown(os.path.join(here, name), owner, owner, follow_symlinks=False)


def remove(root: Path) -> None:
    """Remove a folder that builds worked in, also what they closed to themselves. Raises `OSError`."""
    for here, folders, _ in os.walk(root):
        for name in folders:
            folder = os.path.join(here, name)
            if not os.path.islink(folder):
                os.chmod(folder, 0o700)
    if root.exists():
        shutil.rmtree(root)


def size(root: Path) -> int:
    """The bytes of all files below a folder, as they would be packed. Raises `OSError`."""
    return sum(
        os.lstat(os.path.join(here, name)).st_size for here, _, names in os.walk(root) for name in names
    )


def inside(root: Path, path: str) -> Path | None:
    """What is at a path below a folder, if it is there and no part of the way is a symbolic link."""
    here = root
    for part in () if path == "." else path.split("/"):
        here = here / part
        if part in ("", ".", "..") or here.is_symlink() or not here.exists():
            return None
    return here


def since_epoch(at: str) -> int:
    """The seconds of an instant like `2026-12-01T22:20:02Z`. Raises `ValueError`."""
    return int(datetime.fromisoformat(at).timestamp())
