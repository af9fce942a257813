"""While somebody waits for the broker: the line pauses briefly, and the desk tells when it was reached."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import count, pairwise
from pathlib import Path

import pytest
from attrs import define, field

from mesh_adapters.host.agent import line as module
from mesh_adapters.host.agent.desk import Desk
from mesh_adapters.host.agent.line import HURRIED, Line
from mesh_adapters.host.agent.saved import Saved
from mesh_adapters.pause import Pause
from mesh_core.ports import BrokerUnreachable, Confirmed, Delivery, Outcome, Returned, Unreachable

LONG = 20.0
AWAY = BrokerUnreachable("memory://", Unreachable.NO_ANSWER, "nobody answers")


@define
class End:
    """A host's end of a broker that is there or not, with when it was asked by the clock that is given."""

    clock: Callable[[], float] = time.monotonic
    away: bool = True
    outcome: Outcome = field(factory=Confirmed)
    asked: list[float] = field(factory=list)
    reports: list[float] = field(factory=list)

    def take(self, wait: float) -> Delivery | None:
        self.asked.append(self.clock())
        if self.away:
            raise AWAY
        return None

    def hello(self, body: bytes) -> Outcome:
        return Confirmed()

    def report(self, body: bytes) -> Outcome:
        self.reports.append(self.clock())
        return self.outcome

    def close(self) -> None:
        pass


@define
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


def line_to(end: End, state: Path, desk: Desk) -> Line:
    return Line(
        node="pi",
        connect=lambda: end,
        saved=Saved(state, "pi"),
        desk=desk,
        hello=lambda: b"hello",
        say=lambda _: None,
    )


def until(so: Callable[[], bool], what: str) -> None:
    ends = time.monotonic() + LONG
    while not so():
        assert time.monotonic() < ends, f"not so in time: {what}"
        time.sleep(0.002)


@contextmanager
def running(line: Line) -> Iterator[None]:
    """The line in a thread of its own."""
    thread = threading.Thread(target=line.run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        line.end()
        thread.join(timeout=LONG)
        assert not thread.is_alive(), "it ends also in the longest pause"


@pytest.fixture
def for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every pause is longer than a test, but for whoever is in a hurry."""
    monkeypatch.setattr(module, "Pause", lambda: Pause(1000.0, 1000.0))
    monkeypatch.setattr(module, "HURRIED", 0.01)


@pytest.mark.usefixtures("for_ever")
def test_whoever_is_in_a_hurry_ends_the_pause_that_is_just_being_made(tmp_path: Path) -> None:
    end = End()
    line = line_to(end, tmp_path, Desk())
    with running(line):
        until(lambda: len(end.asked) == 1, "it has asked, and pauses")
        line.hurried = True
        until(lambda: len(end.asked) > 5, "it asks again and again")
        line.hurried = False
        until(lambda: is_left_alone(end), "nobody waits any more")


def is_left_alone(end: End) -> bool:
    """Whether nobody asks it for ten of the pauses that are made in a hurry."""
    asked = len(end.asked)
    time.sleep(0.1)
    return len(end.asked) == asked


@pytest.mark.usefixtures("for_ever")
def test_nobody_is_in_a_hurry_once_a_report_was_confirmed(tmp_path: Path) -> None:
    end, desk = End(), Desk()
    line = line_to(end, tmp_path, desk)
    desk.say(lambda: b"report")
    line.hurried = True
    line.round(0)
    assert line.hurried
    end.away = False
    line.round(0)
    assert (len(end.reports), line.hurried) == (1, False)
    assert desk.reached_at(0) is not None


def test_a_report_that_did_not_arrive_is_sent_again_soon_while_somebody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, desk = Clock(), Desk()
    monkeypatch.setattr(module, "monotonic", clock)
    monkeypatch.setattr("mesh_adapters.pause.monotonic", clock)
    end = End(clock, away=False, outcome=Returned(why="no route"))
    line = line_to(end, tmp_path, desk)
    desk.say(lambda: b"report")
    for _ in range(40):
        line.round(0)
        clock.now += 1
    assert gaps(end.reports) == [1, 2, 4, 8, 16]
    line.hurried = True
    end.reports.clear()
    for _ in range(10):
        line.round(0)
        clock.now += 1
    assert gaps(end.reports) == [HURRIED] * 3
    assert desk.reached_at(0) is None, "it was not confirmed"
    end.outcome = Confirmed()
    clock.now += HURRIED
    line.round(0)
    assert (line.hurried, desk.reached_at(0)) == (False, clock.now)


def gaps(instants: list[float]) -> list[float]:
    return [after - before for before, after in pairwise(instants)]


def test_it_was_reached_when_that_was_begun_which_is_confirmed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was on its way before a change of the network says nothing of the network after it."""
    clock, desk = Clock(), Desk()
    monkeypatch.setattr(module, "monotonic", clock)

    class Slow(End):
        def report(self, body: bytes) -> Outcome:
            clock.now += 9
            return Confirmed()

    line = line_to(Slow(away=False), tmp_path, desk)
    desk.say(lambda: b"report")
    line.round(0)
    assert desk.reached_at(0) == 1000


def test_the_desk_waits_for_news_and_not_for_what_it_knew() -> None:
    desk = Desk()
    assert desk.reached_at(0) is None
    desk.reached(1.0)
    assert desk.reached_at(0) == 1.0
    found: list[float | None] = []
    waiting = threading.Thread(target=lambda: found.append(desk.reached_at(600)), daemon=True)
    waiting.start()
    news = count(2)

    def told() -> bool:
        """There is news as long as it has none: it may not have begun to wait yet."""
        desk.reached(float(next(news)))
        waiting.join(timeout=0.05)
        return bool(found)

    until(told, "it is told")
    assert found == [desk.reached_at(0.01)], "no news, and it is not waited for long"


def test_whoever_waits_is_told_that_the_line_broke() -> None:
    desk = Desk()
    teller = threading.Timer(0.05, desk.broke, [ZeroDivisionError("a bug")])
    teller.start()
    with pytest.raises(ZeroDivisionError, match="a bug"):
        desk.reached_at(LONG)
    teller.join()


def test_a_pause_is_over_for_whoever_waits_no_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = Clock()
    monkeypatch.setattr("mesh_adapters.pause.monotonic", clock)
    pause = Pause(10.0, 100.0)
    assert pause.over_after(5)
    pause.grow()
    clock.now += 4
    assert (pause.over, pause.over_after(5), pause.over_after(4)) == (False, False, True)
    clock.now += 6
    assert (pause.over, pause.over_after(50)) == (True, True)
    pause.grow()
    pause.end()
    assert pause.over_after(50)
