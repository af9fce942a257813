"""An event: what one command did, as the event log keeps it (design, part 11)."""

from __future__ import annotations

from collections.abc import Iterable

from attrs import field, frozen

from mesh_core.change import Change


def _in_order(changes: Iterable[Change]) -> tuple[Change, ...]:
    return tuple(changes)


@frozen(kw_only=True)
class Event:
    """Who did what, when. `at` is the instant in UTC, like `2026-12-01T22:20:02Z`.

    `command` is what was said on the command line, for people; `changes` is what it came to.
    """

    at: str
    who: str
    command: str
    changes: tuple[Change, ...] = field(converter=_in_order)
