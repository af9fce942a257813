"""Instants as text, against the library that the core has not: no clock, no calendar."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from mesh_core.model.instant import is_instant, seconds_of


def written(then: datetime) -> str:
    return f"{then.year:04}{then.strftime('-%m-%dT%H:%M:%SZ')}"


@given(st.datetimes(timezones=st.just(UTC)))
@example(datetime(1, 1, 1, tzinfo=UTC))
@example(datetime(1900, 3, 1, tzinfo=UTC))
@example(datetime(2000, 2, 29, tzinfo=UTC))
@example(datetime(2028, 12, 31, 23, 59, 59, tzinfo=UTC))
@example(datetime(9999, 12, 31, 23, 59, 59, tzinfo=UTC))
def test_seconds_are_those_of_the_calendar(then: datetime) -> None:
    then = then.replace(microsecond=0)
    assert seconds_of(written(then)) == (then - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()


@given(st.from_regex(r"[0-2]\d[0-2]\d-[01]\d-[0-3]\dT[0-2]\d:[0-6]\d:[0-6]\dZ", fullmatch=True))
@example("2027-02-29T00:00:00Z")
@example("1900-02-29T00:00:00Z")
@example("2028-02-29T00:00:00Z")
@example("2026-04-31T00:00:00Z")
@example("0000-01-01T00:00:00Z")
def test_an_instant_is_what_every_reader_takes_for_one(text: str) -> None:
    """Whoever shows it reads it with the library: what is let in must never stop that."""
    try:
        datetime.fromisoformat(text)
        there = text.isascii()
    except ValueError:
        there = False
    assert is_instant(text) == there


@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            "now",
            "2026-12-01",
            "2026-12-01T22:20:02",
            "2026-12-01T22:20:02+00:00",
            "2026-12-01t22:20:02z",
        ),
        *("2026-12-01T22:20:02.5Z", "2026-12-01T22:20:02Z\n", "\uff12026-12-01T22:20:02Z"),
        "12026-12-01T22:20:02Z",
    ],
)
def test_anything_else_is_none(text: str) -> None:
    assert not is_instant(text)
    with pytest.raises(ValueError, match="no instant"):
        seconds_of(text)
