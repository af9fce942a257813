"""Instants as documents and stores have them: `2026-12-01T22:20:02Z`, UTC, to the second. Nobody's clock."""

from __future__ import annotations

import re

_FORM = re.compile(r"([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z")
_BEFORE_MONTH = (0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334)
"""Days of a year that is no leap year before each month begins."""
_BEFORE_1970 = 719_162
"""Days from the beginning of the year 1 until 1970."""


def is_instant(text: str) -> bool:
    """Whether a text is one, of a day that there is."""
    return _parts(text) is not None


def seconds_of(instant: str) -> int:
    """Seconds since 1970 began; leap seconds count for nothing. Raises `ValueError` for what is none."""
    parts = _parts(instant)
    if parts is None:
        raise ValueError(f"{instant!r} is no instant")
    year, month, day, hour, minute, second = parts
    days = _days_before_year(year) + _BEFORE_MONTH[month - 1] + day - 1 - _BEFORE_1970
    if month > 2 and _is_leap(year):
        days += 1
    return ((days * 24 + hour) * 60 + minute) * 60 + second


def _parts(text: str) -> tuple[int, int, int, int, int, int] | None:
    found = _FORM.fullmatch(text)
    if found is None:
        return None
    year, month, day, hour, minute, second = map(int, found.groups())
    there = year >= 1 and 1 <= month <= 12 and 1 <= day <= _days_in(year, month)
    there = there and hour < 24 and minute < 60 and second < 60
    return (year, month, day, hour, minute, second) if there else None


def _days_in(year: int, month: int) -> int:
    if month == 2:
        return 29 if _is_leap(year) else 28
    return 30 if month in (4, 6, 9, 11) else 31


def _days_before_year(year: int) -> int:
    before = year - 1
    return before * 365 + before // 4 - before // 100 + before // 400


def _is_leap(year: int) -> bool:
    return year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
