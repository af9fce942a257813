"""What looks at sources came to: read, and written. Nothing here begins, commits or takes back a transaction.

That a head goes with its source is a rule of the storage (`schema.sources_and_builds`).
"""

from __future__ import annotations

from sqlite_utils import Database

from mesh_adapters.store.rows import fetched, read_sources, refuse_half, refuse_left_over
from mesh_core.model.source import (
    Commit,
    CommitGone,
    Looked,
    Newest,
    PathGone,
    RefGone,
    RefUnclear,
    RepositoryAway,
    Seen,
    Source,
    Unfound,
)

# How each is called in the table, and the one thing that it says.
_UNFOUND: dict[str, tuple[type[Unfound], str]] = {
    "repository-away": (RepositoryAway, "why"),
    "ref-gone": (RefGone, "ref"),
    "ref-unclear": (RefUnclear, "ref"),
    "path-gone": (PathGone, "path"),
    "commit-gone": (CommitGone, "commit"),
}
_CALLED = {kind: (name, what) for name, (kind, what) in _UNFOUND.items()}
_SEEN = "head, committed_at, head_at, unfound, unfound_what, unfound_at"


def read_heads(db: Database) -> dict[str, Seen]:
    """By the module's name, what is known of each source; also where nobody looked."""
    seen = {row[0]: _seen(*row) for row in fetched(db, f"SELECT module, {_SEEN} FROM heads")}
    heads = {module: seen.pop(module, Seen()) for module, _ in sorted(read_sources(db).items())}
    refuse_left_over(seen)
    return heads


def write_look(db: Database, module: str, source: Source, looked: Looked, at: str) -> bool:
    """Remember what a look came to: whether that is still the module's source."""
    if read_sources(db, module).get(module) != source:
        return False
    if isinstance(looked, Newest):
        _write(db, module, "head, committed_at, head_at", (looked.commit.id, looked.commit.at, at))
        db.execute(
            "UPDATE heads SET unfound = NULL, unfound_what = NULL, unfound_at = NULL WHERE module = ?",
            (module,),
        )
    else:
        name, what = _CALLED[type(looked)]
        _write(db, module, "unfound, unfound_what, unfound_at", (name, getattr(looked, what), at))
    return True


def _write(db: Database, module: str, columns: str, values: tuple[str, str, str]) -> None:
    """Three columns; the others stay as they are."""
    db.execute(
        f"INSERT INTO heads (module, {columns}) VALUES (?, ?, ?, ?)"
        f" ON CONFLICT (module) DO UPDATE SET ({columns}) = (?, ?, ?)",
        (module, *values, *values),
    )


def _seen(
    module: str,
    head: str | None,
    committed_at: str | None,
    head_at: str | None,
    unfound: str | None,
    what: str | None,
    unfound_at: str | None,
) -> Seen:
    refuse_half(f"the head of {module!r}", head, committed_at, head_at)
    refuse_half(f"what a look at {module!r} ran into", unfound, what, unfound_at)
    return Seen(
        head=None if head is None or committed_at is None else Commit(id=head, at=committed_at),
        head_at=head_at,
        unfound=None if unfound is None or what is None else _unfound(unfound, what),
        unfound_at=unfound_at,
    )


def _unfound(name: str, what: str) -> Unfound:
    kind, key = _UNFOUND[name]
    return kind(**{key: what})
