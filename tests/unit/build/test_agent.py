"""The builder's loop: when it acknowledges, what it says again, what it does without a broker.

> the request is acknowledged only after its answer is out and confirmed; a failure is an answer (part 9)
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from mesh_adapters.broker.memory import MemoryBroker, MemoryBuilder
from mesh_adapters.broker.memory_queues import Letter, MemoryExchange
from mesh_adapters.build.agent.kept import Kept
from mesh_adapters.build.agent.loop import Builder
from mesh_core.model.build import Failed, Request, Said, Step, Taken
from mesh_core.ports import (
    BrokerUnreachable,
    BuilderBroker,
    Delivery,
    Kind,
    Outcome,
    Unconfirmed,
    Unreachable,
)
from mesh_core.wire.builds import read_builder, request_to_bytes

REQUESTS = [
    Request(id=letter * 12, module="web", repository="https://git.example/web", commit="a" * 40, ref="HEAD")
    for letter in "123"
]
FIRST, SECOND, _ = REQUESTS


def failed(request: Request) -> Failed:
    return Failed(request=request.id, builder="smith", step=Step.COMMANDS, why="it ended with 1")


class Working:
    """A build that takes so many looks."""

    def __init__(self, request: Request, looks: int, then: Callable[[], None] = lambda: None) -> None:
        self._request = request
        self._looks = looks
        self._then = then
        self.stopped = False

    def answer(self, wait: float) -> Said | None:
        self._looks -= 1
        if self._looks >= 0:
            self._then()
            return None
        return failed(self._request)

    def stop(self) -> None:
        self.stopped = True


class Broken:
    """An end of the broker that fails when it is told to."""

    def __init__(self, real: BuilderBroker) -> None:
        self.real = real
        self.away = False
        self.deaf = False

    def take(self, wait: float) -> Delivery | None:
        if self.away:
            raise BrokerUnreachable("amqp://x", Unreachable.LOST, "")
        return self.real.take(0)

    def answer(self, body: bytes) -> Outcome:
        return Unconfirmed(why="nothing was heard") if self.deaf else self.real.answer(body)

    def close(self) -> None:
        self.real.close()


class Shop:
    """One builder at a broker in this process, and what is heard of it."""

    def __init__(self, folder: Path, ends: ExitStack) -> None:
        self.exchange = MemoryExchange()
        self.plane = MemoryBroker(self.exchange)
        self.plane.add_builders(["smith"])
        self.plane.listen([], ["smith"])
        self.end = Broken(MemoryBuilder(self.exchange, "smith"))
        self.begun: list[Working] = []
        self.lines: list[str] = []
        self.looks = 0
        self.then: Callable[[], None] = lambda: None
        self.stopping = False
        self._kept = folder / "answers"
        self.builder = self.made()
        ends.callback(self.builder.close)

    def made(self) -> Builder:
        return Builder(
            name="smith",
            connect=lambda: self.end,
            begin=self.begin,
            kept=Kept(self._kept),
            say=self.lines.append,
        )

    def begin(self, request: Request) -> Working:
        self.begun.append(Working(request, self.looks, self.then))
        return self.begun[-1]

    def ask(self, *requests: Request) -> None:
        self.plane.ask([request_to_bytes(request) for request in requests])

    def round(self) -> None:
        self.builder.round(lambda: self.stopping)

    def heard(self) -> list[Said]:
        found = []
        while (delivery := self.plane.take(0)) is not None:
            assert isinstance(delivery.content, bytes)
            found.append(read_builder(delivery.content))
            delivery.ack()
        return found

    def lost(self) -> None:
        """The connection is lost, and what was not acknowledged comes again at the next one."""
        self.end.real.close()
        self.end.real = MemoryBuilder(self.exchange, "smith")


@pytest.fixture
def shop(tmp_path: Path) -> Iterator[Shop]:
    with ExitStack() as ends:
        yield Shop(tmp_path, ends)


TAKEN = Taken(request=FIRST.id, builder="smith")


def test_it_says_that_it_has_begun_and_how_it_ended_and_only_then_lets_go(shop: Shop) -> None:
    shop.looks = 3
    during: list[int] = []
    shop.then = lambda: during.append(len(shop.heard()))
    shop.ask(FIRST, SECOND)
    shop.round()
    assert during == [1, 0, 0], "that it was taken is heard while it is at work"
    assert shop.heard() == [failed(FIRST)]
    shop.lost()
    shop.round()
    assert shop.heard()[-1] == failed(SECOND), "the first was acknowledged"


def test_without_a_confirm_it_does_not_let_go_and_says_the_same_again(shop: Shop) -> None:
    """> Kept answers are sent again when a request comes twice."""
    shop.ask(FIRST)
    shop.end.deaf = True
    shop.round()
    assert shop.heard() == []
    assert any("is kept" in line for line in shop.lines)
    shop.end.deaf = False
    shop.lost()
    shop.round()
    assert shop.heard() == [failed(FIRST)]
    assert len(shop.begun) == 1, "it was built once"
    shop.lost()
    shop.round()
    assert shop.heard() == [], "it was acknowledged"


def test_an_answer_is_kept_though_the_builder_is_killed(shop: Shop) -> None:
    shop.ask(FIRST)
    shop.end.deaf = True
    shop.round()
    shop.lost()
    shop.end.deaf = False
    shop.builder = shop.made()
    shop.round()
    assert (shop.heard(), len(shop.begun)) == ([failed(FIRST)], 1)


def test_a_broker_that_is_lost_meanwhile_stops_no_build(shop: Shop) -> None:
    """> kill -9 of the broker: finishes, publishes after reconnecting"""
    shop.looks = 3
    shop.ask(FIRST)

    def loses() -> None:
        shop.lost()

    shop.then = loses
    shop.round()
    while shop.builder._next is not None:
        shop.round()
    assert set(shop.heard()) == {TAKEN, failed(FIRST)}
    assert len(shop.begun) == 1
    assert shop.plane.requests_waiting() == 0
    shop.lost()
    shop.round()
    assert shop.heard() == [], "what came again meanwhile was acknowledged too"


def test_an_outage_is_said_once_and_waited_out(shop: Shop) -> None:
    shop.end.away = True
    shop.round()
    shop.builder._outage._until = 0.0
    shop.round()
    assert [line for line in shop.lines if "trying again" in line] == shop.lines
    assert len(shop.lines) == 1
    shop.end.away = False
    shop.ask(FIRST)
    shop.round()
    assert shop.lines[1] == "the broker is in reach again"
    assert shop.heard() == [TAKEN, failed(FIRST)]


def test_asked_to_stop_it_ends_the_build_and_leaves_the_request(shop: Shop) -> None:
    shop.looks = 10
    shop.ask(FIRST)

    def stops() -> None:
        shop.stopping = True

    shop.then = stops
    shop.round()
    assert shop.begun[0].stopped
    assert shop.heard() == [TAKEN]
    shop.builder.close()
    assert shop.plane.requests_waiting() == 1, "it goes to another builder"


def test_what_is_no_request_is_dropped_and_said(shop: Shop) -> None:
    key = ("", Kind.REQUEST)
    shop.exchange.send(key, Letter(b"\x1f\x8b garbage", "control", {}))
    shop.exchange.send(key, Letter(b"{}", "", {}))
    shop.ask(FIRST)
    for _ in range(3):
        shop.round()
    assert sum("no request" in line for line in shop.lines) == 2
    assert shop.heard() == [TAKEN, failed(FIRST)]


def test_so_many_answers_are_kept(tmp_path: Path) -> None:
    kept = Kept(tmp_path, most=2)
    for request in REQUESTS:
        kept.keep(request.id, request.id.encode())
    assert [kept.answer(request.id) for request in REQUESTS] == [None, b"2" * 12, b"3" * 12]
    assert Kept(tmp_path).answer("3" * 12) == b"3" * 12


def test_once_it_sees_to_one_request_and_lets_go(shop: Shop) -> None:
    shop.ask(FIRST, SECOND)
    assert shop.builder.once(lambda: False)
    assert shop.heard() == [TAKEN, failed(FIRST)]
    shop.end.away = True
    with pytest.raises(BrokerUnreachable):
        shop.builder.once(lambda: False)


def test_a_machine_that_lets_nothing_begin_is_a_failed_answer(
    shop: Shop, monkeypatch: pytest.MonkeyPatch
) -> None:
    """> disk full: failed answer"""

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(shop, "begin", full)
    monkeypatch.setattr(Kept, "keep", full)
    shop.builder = shop.made()
    shop.ask(FIRST)
    shop.round()
    (taken, answer) = shop.heard()
    assert taken == TAKEN
    assert isinstance(answer, Failed)
    assert (answer.step, "No space left" in answer.why) == (Step.REQUEST, True)
    assert any("cannot be kept" in line for line in shop.lines)
    assert shop.plane.requests_waiting() == 0
