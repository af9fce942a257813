"""What a clone knows: what a ref is, which paths a commit has, and which commit touched them last.

The newest commit that touched paths is that of the graph: where git goes from commit to parent as long as
nothing changed in them, and at a merge to the first parent that has them as the merge has. So it is always
one line of commits that is followed, and dates have no say:

- a merge that brought what a side branch did to the paths leads to the commit there;
- a merge that took one side's paths whole leads to that side;
- a merge that has the paths as no parent has them touched them: both sides changed them, or it did itself.
"""

from __future__ import annotations

from datetime import UTC, datetime

from mesh_adapters.build.git_clone import FAR_HEAD, Clone
from mesh_core.model.source import HEAD, Commit, RefGone, RefUnclear

_LAST_SECOND = 253402300799
"""The end of the year 9999: the time of a commit may be any number."""


def find(clone: Clone, ref: str) -> str | RefGone | RefUnclear:
    """The commit that a ref is, through any annotated tags. A tag of something else is no ref to us."""
    names = _in_full(ref)
    said = clone.read("for-each-ref", "--format=%(refname)", "--", *names).decode()
    found = [name for name in names if name in said.splitlines()]  # it also gives what is below a name
    if len(found) > 1:
        return RefUnclear(ref=ref)
    return _commit_of(clone, found[0]) or RefGone(ref=ref) if found else RefGone(ref=ref)


def _in_full(ref: str) -> tuple[str, ...]:
    if ref == HEAD:
        return (FAR_HEAD,)
    if ref.startswith(("refs/heads/", "refs/tags/")):
        return (ref,)
    return (f"refs/heads/{ref}", f"refs/tags/{ref}")


def _commit_of(clone: Clone, name: str) -> str | None:
    ran = clone.git.near(clone.place, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    if ran.well:
        return ran.output.decode().strip()
    if "object dereferences to" in ran.errors:
        return None
    raise clone.unreadable(ran)


def is_part(clone: Clone, commit: str) -> bool:
    """Whether the clone has a commit, and a branch, a tag or HEAD leads to it.

    One that nothing leads to is no part of the repository: a force-push took it away, or it is a stranger's
    (hosts of repositories give the commits of forks as well to whoever asks for them).
    """
    own = _listed(clone, commit, "--no-walk")
    return own == commit and _listed(clone, commit, "--max-count=1", "--not", "--all") == ""


def _listed(clone: Clone, commit: str, *limits: str) -> str | None:
    """The first commit that git lists for a name; None where there is nothing of that name."""
    ran = clone.git.near(clone.place, "rev-list", "--missing=allow-any", commit, *limits, "--")
    if ran.well:
        return ran.output.decode().partition("\n")[0]
    if f"bad object {commit}" in ran.errors:
        return None
    raise clone.unreadable(ran)


def first_missing(clone: Clone, commit: str, paths: tuple[str, ...]) -> str | None:
    """The first path that a commit does not have; None when it has them all."""
    asked = [path for path in paths if path != "."]
    if not asked:
        return None
    said = clone.read("ls-tree", "-z", "--full-tree", "--name-only", commit, "--", *asked)
    there = set(said.decode("utf-8", "surrogateescape").split("\0"))
    return next((path for path in asked if path not in there), None)


def newest_touch(clone: Clone, commit: str, paths: tuple[str, ...]) -> Commit:
    """The newest commit from `commit` on that touched one of the paths; it has to have them all.

    `.` is touched by every commit, also by one that changed nothing.
    """
    limits = () if "." in paths else paths
    said = clone.read("rev-list", "--max-count=1", "--timestamp", commit, "--", *limits)
    seconds, _, name = said.decode().strip().partition(" ")
    at = datetime.fromtimestamp(min(int(seconds), _LAST_SECOND), UTC)
    return Commit(id=name, at=f"{at:%Y-%m-%dT%H:%M:%SZ}")
