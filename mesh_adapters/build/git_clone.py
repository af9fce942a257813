"""A clone of a repository: bare, without the files' contents where the far side can leave them out.

It is made beside its place and renamed, so there is never half of one. Whoever uses it holds its lock.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import sha256
from pathlib import Path

from attrs import frozen

from mesh_adapters.build.git_running import Git, Ran
from mesh_adapters.build.git_settings import telling
from mesh_core.model.source import RepositoryAway

FAR_HEAD = "refs/far/HEAD"
"""Where a clone keeps what the repository's own HEAD is."""

_REFS = (
    "+refs/heads/*:refs/heads/*",
    "+refs/tags/*:refs/tags/*",
    # HEAD, as a pattern: a plain one would fail where there is none, and stay once it is gone.
    "+HEA*:refs/far/HEA*",
)
_FETCH = (
    "fetch",
    "--quiet",
    "--no-tags",
    "--force",
    "--no-write-fetch-head",
    "--no-auto-maintenance",
    "--no-show-forced-updates",
    "--recurse-submodules=no",
    "--filter=blob:none",
)
_FAR_AWAY = (
    "Could not read from remote repository",
    "unable to access",
    "Authentication failed",
    "could not read Username",
    "could not read Password",
    "dubious ownership",
    "mismatched algorithms",
)
"""Words of git that are not about a clone. With others it is not known, and the far side is asked twice."""

_BETWEEN_TRIES = 0.05


class CloneUnreadable(Exception):
    """A clone on this disk could not be read: it is damaged, or time was up (`late`)."""

    def __init__(self, why: str, *, late: bool) -> None:
        super().__init__(why)
        self.why = why
        self.late = late


@frozen(kw_only=True)
class Clone:
    """The clone of `repository` at `place`, which need not be there yet."""

    repository: str
    place: Path
    git: Git

    def is_there(self) -> bool:
        """Whether it was ever made."""
        return self.place.is_dir()

    def update(self) -> RepositoryAway | None:
        """Have all branches and tags, and HEAD, as they are there now; what is gone there goes."""
        if not self.is_there():
            return self._make()
        _take_away_left_overs(self.place)
        self._pack_together()
        ran = self._fetch(self.place)
        if ran.well or ran.late or any(words in ran.errors for words in _FAR_AWAY):
            return self._away(ran)
        return self._make()  # for all we know it is the clone that is damaged

    def bring(self, objects: tuple[str, ...], most_bytes: int) -> Ran:
        """Fetch objects that the clone was made without, all at once; nothing, if there are none."""
        if not objects:
            return Ran(code=0, output=b"", errors="")
        _take_away_left_overs(self.place)
        given = "".join(f"{name}\n" for name in objects).encode()
        quick = ("-c", "fetch.negotiationAlgorithm=noop", *_FETCH)  # there is no history to compare
        return self.git.far(
            self.place, self.repository, *quick, "--stdin", "origin", given=given, largest=most_bytes
        )

    def read(self, *arguments: str, given: bytes = b"") -> bytes:
        """What a git command that only reads says. Raises `CloneUnreadable` where it fails."""
        ran = self.git.near(self.place, *arguments, given=given)
        if not ran.well:
            raise self.unreadable(ran)
        return ran.output

    def unreadable(self, ran: Ran) -> CloneUnreadable:
        """The exception for a command that did not read what it should."""
        return CloneUnreadable(self.why(ran), late=ran.late)

    def why(self, ran: Ran) -> str:
        """Why git ended as it did: one line, with nothing secret in it."""
        said = telling(ran.errors, self.git.secrets)
        if not ran.late:
            return said
        late = f"it took longer than {self.git.settings.seconds:g} s and was ended"
        return f"{late}: {said}" if ran.errors.strip() else late

    def remove(self) -> None:
        """Throw it away; it is made anew when it is updated."""
        if self.is_there():
            doomed = self.place.with_suffix(".old")
            _remove(doomed)
            self.place.rename(doomed)
            _remove(doomed)

    def _make(self) -> RepositoryAway | None:
        beside = self.place.with_suffix(".new")
        _remove(beside)
        try:
            made = self.git.near(beside, "init", "--quiet", "--bare", "--template=")
            if not made.well:
                raise OSError(f"{beside}: {self.why(made)}")
            (beside / "description").write_text(f"{self.repository}\n", encoding="utf-8")
            away = self._away(self._fetch(beside))
            if away is None:
                self.remove()
                beside.rename(self.place)
            return away
        finally:
            _remove(beside)

    def _fetch(self, git_dir: Path) -> Ran:
        arguments = (*_FETCH, "--prune", "--update-head-ok", "origin", *_REFS)
        return self.git.far(git_dir, self.repository, *arguments, largest=self.git.settings.most_history)

    def _away(self, ran: Ran) -> RepositoryAway | None:
        return None if ran.well else RepositoryAway(why=self.why(ran))

    def _pack_together(self) -> None:
        """One pack instead of the many that fetches leave. If it fails, the many are as good."""
        with suppress(FileNotFoundError):
            packs = list((self.place / "objects" / "pack").glob("*.pack"))
            if len(packs) > self.git.settings.most_packs:
                self.git.near(self.place, "repack", "-a", "-d", "-q", "--no-write-bitmap-index")


def place_of(directory: Path, repository: str) -> Path:
    """Where the clone of an address is: another address, another clone."""
    return directory / f"{sha256(repository.encode()).hexdigest()}.git"


@contextmanager
def locked(place: Path, until: float) -> Iterator[int | None]:
    """Hold the lock of a clone, against other processes and threads; None where time was up before.

    The lock is the kernel's: it ends with the last process that has its handle, which is given. The file
    stays, since who waits has it open.
    """
    handle = os.open(place.with_suffix(".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        yield handle if _locked(handle, until) else None
    finally:
        os.close(handle)


def _locked(handle: int, until: float) -> bool:
    while True:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= until:
                return False
            time.sleep(_BETWEEN_TRIES)
        else:
            return True


def _take_away_left_overs(place: Path) -> None:
    """What a git that was killed leaves: locks that every later one would stop at, and halves of packs."""
    refs = (path for path in (place / "refs").rglob("*.lock") if path.is_file())
    for path in (*place.glob("*.lock"), *refs, *(place / "objects").glob("*/tmp_*")):
        path.unlink(missing_ok=True)


def _remove(path: Path) -> None:
    with suppress(FileNotFoundError):
        shutil.rmtree(path)
