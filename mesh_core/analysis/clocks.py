"""When a machine last spoke, whose own clock may be wrong (design, part 11).

What was taken in may have waited for a month, so the instant at which it was said counts, by the machine's
clock. That clock may be wrong: no machine speaks of a generation before it was made, nor says anything after
it was taken in. Then the instant at which it was taken in counts. Nothing else is decided by any of that.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum

from mesh_core.model.instant import is_instant, seconds_of
from mesh_core.model.said import REPORTS_EVERY, Hello, Report
from mesh_core.model.sent import Standing

RIGHT_ENOUGH = REPORTS_EVERY
"""Seconds that clocks may be apart: a node is silent only after several times that."""
FIRST = "2026-01-01T00:00:00Z"
"""Before that there was no host that could say anything; clocks without a battery begin earlier."""


class Clock(StrEnum):
    """How the clock of a machine is wrong, seen from here."""

    AHEAD = "ahead"
    BEHIND = "behind"


def spoke_at(said: Hello | Report, standing: Standing, taken_in: str) -> str:
    """When the machine last spoke, where it is known that it said this and that it was `taken_in` then.

    `standing` is what was known before. What was heard of the machine later than this was said stays.
    """
    before = standing.seen_at if standing.machine == said.machine else None
    at = taken_in if said.at is None or _too_early(said, standing) else said.at
    return min(taken_in, max(at, before or at))


def clock_of(standing: Standing) -> Clock | None:
    """How the machine's clock was wrong at its last report; None where it was right enough, or nobody knows.

    One that is behind is known by this, that the instant of taking in was taken for that of its saying.
    """
    report, heard_at = standing.report, standing.heard_at
    if report is None or report.at is None or heard_at is None or not is_instant(heard_at):
        return None
    apart = seconds_of(report.at) - seconds_of(heard_at)
    if apart > RIGHT_ENOUGH:
        return Clock.AHEAD
    return Clock.BEHIND if apart < -RIGHT_ENOUGH and standing.seen_at == heard_at else None


def waited(report: Report, spoke: str, taken_in: str) -> int | None:
    """Seconds that a report waited to be taken in, where its machine `spoke` then for the last time.

    None where it did not, or nobody knows.
    """
    if report.at is None or report.at != spoke:
        return None
    seconds = seconds_of(taken_in) - seconds_of(spoke)
    return seconds if seconds > RIGHT_ENOUGH else None


def _too_early(said: Hello | Report, standing: Standing) -> bool:
    """Whether it says that it was said before it can have been."""
    if said.at is None:
        return False
    latest = max(seconds_of(at) for at in _before(said, standing) if is_instant(at))
    return seconds_of(said.at) < latest - RIGHT_ENOUGH


def _before(said: Hello | Report, standing: Standing) -> Iterator[str]:
    """Instants by the clock here that were before it was said."""
    yield FIRST
    spoken_of = {said.generation}
    if isinstance(said, Report):
        spoken_of |= {said.applied, said.refused}
        if _came_later(said, standing.report) and standing.heard_at is not None:
            yield standing.heard_at
    yield from (sent.at for sent in standing.sent if sent.generation in spoken_of)


def _came_later(report: Report, before: Report | None) -> bool:
    """Whether the one before was taken in when this one came: while it waited, it gave way to a newer one.

    The same once more was only not acknowledged.
    """
    return before is not None and before.machine == report.machine and before.at != report.at
