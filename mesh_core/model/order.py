"""How what has no order of its own is kept, so that equal values are equal however they were given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping


def sorted_names(names: Iterable[str]) -> tuple[str, ...]:
    """Names, or identities, by code point."""
    return tuple(sorted(names))


def sorted_pairs(pairs: Mapping[str, str] | Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    """Texts by name, given as a mapping or as pairs, by name."""
    return tuple(sorted(pairs.items() if isinstance(pairs, Mapping) else pairs))
