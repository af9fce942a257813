"""When a machine last spoke, whatever its clock says (design, part 11)."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from hypothesis import example, given
from hypothesis import strategies as st

from mesh_core.analysis.clocks import FIRST, RIGHT_ENOUGH, Clock, clock_of, spoke_at, waited
from mesh_core.model.instant import seconds_of
from mesh_core.model.said import Hello, Report
from mesh_core.model.sent import Sent, Standing

MADE = "2026-12-01T12:00:00Z"
"""When generation 1 was decided."""
THEN = "2026-12-02T12:00:00Z"
"""When something was said a month ago."""
NOW = "2027-01-02T12:00:00Z"
SENT = Sent(node="pi", generation=1, fingerprint="f", at=MADE)
NEW = Standing(node="pi", sent=(SENT,))
KEPT_BY_THE_CLOCK = ["1970-01-01T00:00:09Z", "2025-06-01T00:00:00Z"]
"""Where clocks begin that nothing keeps while the machine is off."""


def report(at: str | None, generation: int | None = 1, **more: Any) -> Report:
    return Report(node="pi", machine="m", generation=generation, applied=generation, at=at, **more)


def after(said: Report, standing: Standing, taken_in: str) -> Standing:
    """How it stands once that was taken in."""
    seen_at = spoke_at(said, standing, taken_in)
    return evolve(standing, machine=said.machine, report=said, heard_at=taken_in, seen_at=seen_at)


def test_one_that_waited_for_a_month_is_of_a_month_ago() -> None:
    said = report(THEN)
    assert spoke_at(said, NEW, NOW) == THEN
    assert spoke_at(Hello(node="pi", machine="m", generation=1, at=THEN), NEW, NOW) == THEN
    assert clock_of(after(said, NEW, NOW)) is None
    assert waited(said, THEN, NOW) == 31 * 86400


@pytest.mark.parametrize("said", [report(None), Hello(node="pi", machine="m")])
def test_an_older_host_says_no_instant_and_the_taking_in_counts(said: Hello | Report) -> None:
    assert spoke_at(said, NEW, NOW) == NOW
    assert clock_of(after(report(None), NEW, NOW)) is None
    assert waited(report(None), NOW, NOW) is None


def test_nothing_is_said_after_it_was_taken_in() -> None:
    said = report("2031-01-01T00:00:00Z")
    assert spoke_at(said, NEW, NOW) == NOW
    assert clock_of(after(said, NEW, NOW)) is Clock.AHEAD
    assert waited(said, NOW, NOW) is None


@pytest.mark.parametrize("at", [*KEPT_BY_THE_CLOCK, "2026-12-01T11:00:00Z"])
def test_no_machine_speaks_of_a_generation_before_it_was_made(at: str) -> None:
    """One without a battery for its clock is there all the same."""
    standing = after(report(at), NEW, THEN)
    assert (standing.seen_at, clock_of(standing)) == (THEN, Clock.BEHIND)
    refused = report(at, None, refused=1)
    assert spoke_at(refused, NEW, THEN) == THEN
    assert spoke_at(Hello(node="pi", machine="m", generation=1, at=at), NEW, THEN) == THEN


@pytest.mark.parametrize("at", KEPT_BY_THE_CLOCK)
def test_nor_before_there_were_any(at: str) -> None:
    assert at < FIRST
    nothing = Standing(node="pi")
    assert spoke_at(report(at, None), nothing, NOW) == NOW
    assert spoke_at(Hello(node="pi", machine="m", at=at), nothing, NOW) == NOW


def test_a_clock_that_goes_on_from_where_it_was_switched_off_is_found_out_by_the_second_report() -> None:
    """After a month without power, and without a network that tells the time."""
    first = after(report(THEN), NEW, NOW)
    assert first.seen_at == THEN, "it may have waited"
    second = after(report("2026-12-02T12:04:00Z"), first, "2027-01-02T12:04:00Z")
    assert second.seen_at == "2027-01-02T12:04:00Z", "it came after the first was taken in"
    assert clock_of(second) is Clock.BEHIND
    third = after(report("2027-01-02T12:07:59Z"), second, "2027-01-02T12:08:00Z")
    assert (third.seen_at, clock_of(third)) == ("2027-01-02T12:07:59Z", None)


def test_the_same_report_once_more_is_no_sign_of_a_wrong_clock() -> None:
    """It was not acknowledged, and the machine is gone."""
    first = after(report(THEN), NEW, NOW)
    again = after(report(THEN), first, "2027-01-02T13:00:00Z")
    assert (again.seen_at, clock_of(again)) == (THEN, None)


def test_what_was_heard_later_stays() -> None:
    """A hello of an hour ago may be taken in after a report of now."""
    standing = evolve(NEW, machine="m", seen_at=NOW)
    assert spoke_at(Hello(node="pi", machine="m", generation=1, at=THEN), standing, NOW) == NOW
    assert spoke_at(Hello(node="pi", machine="m2", generation=1, at=THEN), standing, NOW) == THEN
    set_back = evolve(NEW, machine="m", seen_at="2028-01-01T00:00:00Z")
    assert spoke_at(report(THEN), set_back, NOW) == NOW, "nothing was heard after now"


@pytest.mark.parametrize("apart", [-RIGHT_ENOUGH, -90, 0, 90, RIGHT_ENOUGH])
def test_minutes_are_no_matter(apart: int) -> None:
    at = f"2027-01-02T{12 + apart // 3600:02}:{apart % 3600 // 60:02}:{apart % 60:02}Z"
    assert seconds_of(at) - seconds_of(NOW) == apart
    standing = after(report(at), evolve(NEW, sent=(evolve(SENT, at=NOW),)), NOW)
    assert standing.seen_at == min(at, NOW)
    if standing.seen_at != NOW or apart >= 0:
        assert clock_of(standing) is None


INSTANTS = st.datetimes().map(lambda then: then.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0"))


@given(INSTANTS, INSTANTS, st.none() | INSTANTS, INSTANTS)
@example(THEN, NOW, None, NOW)
def test_it_never_spoke_after_it_was_heard_nor_went_back(
    at: str, taken_in: str, seen_at: str | None, made: str
) -> None:
    standing = Standing(node="pi", machine="m", seen_at=seen_at, sent=(evolve(SENT, at=made),))
    spoke = spoke_at(report(at), standing, taken_in)
    assert spoke <= taken_in
    assert spoke >= min(seen_at or spoke, taken_in)
    assert spoke in (at, taken_in, seen_at)
