"""Which earlier manifest of a module is meant: an earlier version or commit, or simply the one before."""

from __future__ import annotations

from collections.abc import Sequence

from mesh_core.model.origin import FromBuild, Put

SHORTEST = 7
"""Characters of a commit that do to name it."""


def earlier(puts: Sequence[Put], to: str | None) -> Put | None:
    """The newest of a module's puts (oldest first) that is meant and says another thing than the current one.

    `to` is a version, or a commit as far as it is shown; None is whatever was current before. None where
    there is no such put.
    """
    current = next((put for put in reversed(puts) if put.current), None)
    others = [put for put in puts if current is None or put.digest != current.digest]
    return next((put for put in reversed(others) if to is None or _is(put, to)), None)


def _is(put: Put, said: str) -> bool:
    if put.manifest.version == said:
        return True
    origin = put.origin
    return isinstance(origin, FromBuild) and len(said) >= SHORTEST and origin.commit.id.startswith(said)
