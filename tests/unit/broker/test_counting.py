"""What waits in many queues is asked in few round trips: `mesh status` asks of every node."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import amqp  # type: ignore[import-untyped]
import pytest
from attrs import define, field

from mesh_adapters.broker.counting import counts


@define
class Channel:
    """Answers as a broker does: in order, and nothing more after a queue that is not there."""

    queues: Mapping[str, int]
    asked: list[str] = field(factory=list)
    round_trips: int = 0
    _answered: bool = True

    def send_method(self, _method: object, _format: str, arguments: tuple[Any, ...]) -> None:
        _, queue, passive, *_ = arguments
        assert passive, "a queue is never made"
        self.round_trips += self._answered
        self._answered = False
        self.asked.append(queue)

    def wait(self, _method: object, *, returns_tuple: bool) -> tuple[str, int, int]:
        assert returns_tuple
        self._answered = True
        queue = self.asked.pop(0)
        if queue not in self.queues:
            self.asked.clear()
            raise amqp.NotFound("no queue")
        return queue, self.queues[queue], 0


QUEUES = {f"q{number}": number % 3 for number in range(300)}


def test_many_are_asked_together() -> None:
    channel, heard = Channel(QUEUES), list[None]()
    assert counts(channel, [*QUEUES], lambda: heard.append(None)) == [*QUEUES.values()]
    assert channel.round_trips <= 3
    assert len(heard) == len(QUEUES), "each answer is a sign of life"


@pytest.mark.parametrize(
    "names", [["gone"], ["q1", "gone", "q2"], ["gone", "gone2", "q1"], ["q2", "q1", "gone"], []]
)
def test_one_that_is_not_there_has_none_and_keeps_no_other_from_being_counted(names: list[str]) -> None:
    assert counts(Channel(QUEUES), names, lambda: None) == [QUEUES.get(name, 0) for name in names]
