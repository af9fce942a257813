"""What a look at a source came to, in sentences: each asks for something else of a person."""

from __future__ import annotations

from typing import assert_never

from mesh_core.model.source import CommitGone, PathGone, RefGone, RefUnclear, RepositoryAway, Unfound


def unfound(found: Unfound) -> str:
    """Why there is no commit to show, in one line."""
    match found:
        case RepositoryAway():
            return f"the repository is out of reach: {found.why}"
        case RefGone():
            return f"the repository has no ref {found.ref!r} (any more)"
        case RefUnclear():
            ref = found.ref
            return f"{ref!r} is a branch and a tag; say refs/heads/{ref} or refs/tags/{ref}"
        case PathGone():
            return f"the ref has no path {found.path!r} (any more)"
        case CommitGone():
            return f"the repository has no commit {found.commit[:12]} (any more)"
        case _:
            assert_never(found)
