"""The line to the broker: hello, what is kept while the broker is away, and how long it is left alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from attrs import define, field

from mesh_adapters.host.agent import line as module
from mesh_adapters.host.agent.desk import Desk
from mesh_adapters.host.agent.line import Line
from mesh_adapters.host.agent.saved import Saved
from mesh_core.ports import (
    BrokerRefused,
    BrokerUnreachable,
    Confirmed,
    Delivery,
    Outcome,
    QueueMissing,
    Refused,
    Returned,
    TooLarge,
    Unconfirmed,
    Unreachable,
)
from tests.integration.host.agent.rig import Rig
from tests.integration.host.world import declaration, file

LOST = BrokerUnreachable("amqp://nas", Unreachable.LOST, "the connection ended")
SHUT_OUT = BrokerRefused("amqp://nas", Refused.CREDENTIALS, "login refused")
MISSING = QueueMissing("amqp://nas", "pi")


@define
class Clock:
    now: float = 1000.0

    def __call__(self) -> float:
        return self.now


@define
class Scripted:
    """A host's end that answers as it is told to: the last answer of each for ever."""

    taken: list[Any] = field(factory=lambda: [None])
    outcomes: list[Outcome] = field(factory=lambda: [Confirmed()])
    greeted: list[Outcome] = field(factory=lambda: [Confirmed()])
    reports: list[bytes] = field(factory=list)
    hellos: list[bytes] = field(factory=list)
    closed: bool = False

    def take(self, wait: float) -> Delivery | None:
        answer = self.taken.pop(0) if len(self.taken) > 1 else self.taken[0]
        if isinstance(answer, Exception):
            raise answer
        found: Delivery | None = answer
        return found

    def report(self, body: bytes) -> Outcome:
        self.reports.append(body)
        return self.outcomes.pop(0) if len(self.outcomes) > 1 else self.outcomes[0]

    def hello(self, body: bytes) -> Outcome:
        self.hellos.append(body)
        return self.greeted.pop(0) if len(self.greeted) > 1 else self.greeted[0]

    def close(self) -> None:
        self.closed = True


@define
class Setting:
    broker: Scripted
    desk: Desk
    said: list[str]
    clock: Clock
    line: Line

    def rounds(self, count: int) -> list[float]:
        """So many rounds, with their pauses waited out."""
        pauses = []
        for _ in range(count):
            pauses.append(self.line.round(0))
            self.clock.now += pauses[-1]
        return pauses


@pytest.fixture
def setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Setting:
    clock, broker, desk, said = Clock(), Scripted(), Desk(), list[str]()
    monkeypatch.setattr(module, "monotonic", clock)
    monkeypatch.setattr("mesh_adapters.pause.monotonic", clock)
    line = Line(
        node="pi",
        connect=lambda: broker,
        saved=Saved(tmp_path, "pi"),
        desk=desk,
        hello=lambda: b"hello",
        say=said.append,
    )
    return Setting(broker, desk, said, clock, line)


def test_hello_is_said_once_when_it_starts(setting: Setting) -> None:
    assert setting.rounds(3) == [0, 0, 0]
    assert setting.broker.hellos == [b"hello"]
    assert setting.said == []


def test_a_hello_that_did_not_arrive_is_said_again_after_a_pause(setting: Setting) -> None:
    setting.broker.greeted = [Unconfirmed(why="nothing came"), Confirmed()]
    setting.rounds(3)
    assert setting.broker.hellos == [b"hello"], "at once is too soon"
    setting.clock.now += 1
    setting.rounds(2)
    assert setting.broker.hellos == [b"hello"] * 2


def test_a_missing_queue_is_asked_for_with_hellos_ever_less_often(setting: Setting) -> None:
    setting.broker.taken = [MISSING]
    assert setting.rounds(8) == [1, 2, 4, 8, 16, 32, 60, 60]
    assert len(setting.broker.hellos) == 8
    assert setting.said == ["the broker has no queue for pi; it is asked for with a hello, again and again"]
    setting.broker.taken = [None]
    assert setting.rounds(2) == [0, 0]
    assert setting.said[1:] == ["the broker is in reach again"]
    setting.broker.taken = [MISSING]
    assert setting.rounds(1) == [1], "once all was well the pauses begin anew"


@pytest.mark.parametrize("outage", [LOST, SHUT_OUT])
def test_an_outage_is_waited_out_and_said_once(setting: Setting, outage: Exception) -> None:
    setting.broker.taken = [outage]
    assert setting.rounds(8) == [1, 2, 4, 8, 16, 32, 60, 60]
    assert len(setting.said) == 1
    assert setting.said[0].startswith(str(outage))
    setting.broker.taken = [None]
    assert setting.rounds(1) == [0]
    assert setting.said[1:] == ["the broker is in reach again"]
    assert setting.broker.hellos == [b"hello"], "it has not started anew"


def test_a_report_waits_until_the_broker_is_back_and_only_the_newest_is_sent(setting: Setting) -> None:
    setting.broker.taken = [LOST]
    setting.desk.say(lambda: b"older")
    setting.rounds(2)
    setting.desk.say(lambda: b"newer")
    setting.rounds(2)
    assert setting.broker.reports == []
    setting.broker.taken = [None]
    setting.rounds(3)
    assert setting.broker.reports == [b"newer"]


@pytest.mark.parametrize("outcome", [Returned(why="no route"), Unconfirmed(why="nothing came")])
def test_a_report_that_did_not_arrive_is_sent_again_after_a_pause(setting: Setting, outcome: Outcome) -> None:
    setting.broker.outcomes = [outcome, outcome, Confirmed()]
    setting.desk.say(lambda: b"report")
    setting.rounds(3)
    assert setting.broker.reports == [b"report"]
    for seconds in (1, 2, 4):
        setting.clock.now += seconds
        setting.rounds(2)
    assert setting.broker.reports == [b"report"] * 3
    assert len(setting.said) == 2
    assert setting.said[-1] == "the broker is in reach again"


def test_one_that_is_too_large_is_dropped_and_said(setting: Setting) -> None:
    setting.broker.outcomes = [TooLarge(size=9, limit=5)]
    setting.desk.say(lambda: b"report")
    setting.rounds(3)
    assert setting.broker.reports == [b"report"]
    assert setting.said == ["a report has 9 bytes and may have 5; it is not sent"]


def test_the_last_report_is_sent_again_within_five_minutes(setting: Setting) -> None:
    """A run may be long, and the work loop has nothing new to say meanwhile."""
    setting.desk.say(lambda: b"at %d" % setting.clock.now)
    setting.rounds(2)
    setting.clock.now += 239
    setting.rounds(1)
    assert setting.broker.reports == [b"at 1000"]
    setting.clock.now += 1
    setting.rounds(2)
    assert setting.broker.reports == [b"at 1000", b"at 1240"], "what it says of itself is of now"


def test_the_last_words_are_sent_before_it_ends(setting: Setting) -> None:
    setting.rounds(1)
    setting.desk.say(lambda: b"last")
    setting.line.close()
    assert setting.broker.reports == [b"last"]
    assert setting.broker.closed


def test_nothing_is_tried_of_a_broker_that_is_away_when_it_ends(setting: Setting) -> None:
    setting.broker.taken = [LOST]
    setting.desk.say(lambda: b"last")
    setting.rounds(1)
    setting.line.close()
    assert setting.broker.reports == []
    assert setting.broker.closed


def test_what_breaks_the_line_is_raised_where_the_work_is_done(setting: Setting) -> None:
    setting.broker.taken = [ZeroDivisionError("a bug")]
    setting.line.run()
    with pytest.raises(ZeroDivisionError, match="a bug"):
        setting.desk.wait(0)


def test_a_node_that_is_added_later_gets_its_declaration(rig: Rig) -> None:
    rig.broker.remove_node("pi")
    assert rig.once().generation is None
    assert rig.said == ["the broker has no queue for pi; it is asked for with a hello, again and again"]
    rig.broker.add_nodes(["pi"])
    assert rig.once(declaration(1, [file("/etc/a")])).applied == 1
    report, hello = rig.heard()
    assert report is not None
    assert hello is not None
    assert (hello.machine, hello.generation) == (report.machine, None)
    rig.once()
    assert (found := rig.heard()[1]) is not None
    assert found.generation == 1
