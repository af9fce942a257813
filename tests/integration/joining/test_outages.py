"""Every outage of a broker has one sentence, a code of its own, and exit code 5."""

from __future__ import annotations

from mesh_cli.outages import broker_told
from mesh_core.ports import BrokerRefused, BrokerUnreachable, QueueMissing, Refused, Unreachable

WHERE = "amqp://nas:5672"


def test_every_outage_is_told_in_one_sentence() -> None:
    outages = [
        *(BrokerUnreachable(WHERE, reason, "its words") for reason in Unreachable),
        *(BrokerRefused(WHERE, what, "its words") for what in Refused),
    ]
    told = [broker_told(outage) for outage in outages]
    assert {stop.exit_code for stop in told} == {5}
    assert len({stop.code for stop in told}) == len(outages)
    assert len({stop.lines for stop in told}) == len(outages)
    for stop in told:
        (line,) = stop.lines
        assert line.startswith(f"{WHERE} ")
        assert line.endswith(" (its words)")


def test_a_queue_that_is_missing_says_what_makes_it() -> None:
    stop = broker_told(QueueMissing(WHERE, "pi"))
    assert (stop.exit_code, stop.code, stop.facts) == (5, "broker-queue-missing", {"node": "pi"})
    assert stop.lines == (f"{WHERE} has no queue for pi; `mesh node invite pi` makes it",)


def test_without_words_of_its_own_nothing_is_added() -> None:
    (line,) = broker_told(BrokerUnreachable(WHERE, Unreachable.TIMED_OUT, "")).lines
    assert line == f"{WHERE} is out of reach: no answer came in time"
