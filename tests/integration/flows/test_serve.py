"""Serve: it collects and sends what is pending, and goes on after every outage (design, part 8)."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from typing import Any

import pytest

from mesh_adapters.broker.opening import open_broker
from mesh_adapters.flows.push import Asked, write_down
from mesh_adapters.flows.serve import Clock, Serving
from mesh_adapters.store import SqliteStore
from mesh_core.ports import Broker, BrokerRefused, BrokerUnreachable, Refused, StoreBusy, Unreachable
from tests.integration.flows.conftest import AT, Site, judge, settle
from tests.integration.flows.test_push import motd, node


class OnlyAsked(threading.Event):
    """Set by the handler of a signal, which may interrupt whoever waits for it while that holds its lock."""

    def wait(self, timeout: float | None = None) -> bool:
        raise AssertionError("it is waited for")


@contextmanager
def serving(site: Site, broker: Callable[[Broker], Any] = lambda real: real) -> Iterator[list[object]]:
    """A daemon at work, and what it has noticed."""
    noticed: list[object] = []
    stop = OnlyAsked()

    def work() -> None:
        with closing(SqliteStore.open(site.path)) as store, closing(open_broker(site.address)) as end:
            clock = Clock(now=lambda: AT, since=lambda instant: 0.0)
            Serving(store, broker(end), clock, noticed.append, judge).run(stop, 0.02)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield noticed
    finally:
        stop.set()
        thread.join(10)
        assert not thread.is_alive()


def until(so: Callable[[], object]) -> None:
    for _ in range(500):
        if so():
            return
        time.sleep(0.01)
    raise AssertionError("it never was so")


def write_only(site: Site) -> None:
    """A push that ended before it published anything."""
    with site.store.writing() as session:
        write_down(session, Asked(), settle, AT)


def test_it_sends_what_a_push_left_behind(site: Site) -> None:
    site.has([motd("1")], [node("pi", "motd")])
    with serving(site):
        write_only(site)
        until(lambda: not site.store.pending())
    assert site.waiting("pi") is not None


def test_it_takes_in_reports_of_nodes_that_come_later_too(site: Site) -> None:
    site.has([motd("1")], [node("pi", "motd")])
    with serving(site):
        site.has([motd("1")], [node("pi", "motd"), node("nas", "motd")])
        site.report("nas", None)
        until(lambda: site.store.standings()["nas"].report)


class Once:
    """A broker whose next call raises."""

    def __init__(self, real: Broker, error: Exception) -> None:
        self._real = real
        self._error: Exception | None = error

    def __getattr__(self, name: str) -> Any:
        error, self._error = self._error, None
        if error is not None:
            raise error
        return getattr(self._real, name)


@pytest.mark.parametrize(
    "error",
    [
        BrokerUnreachable("amqp://x", Unreachable.LOST, ""),
        BrokerRefused("amqp://x", Refused.UNFIT, ""),
        StoreBusy("mesh.db"),
    ],
)
def test_an_outage_is_told_once_and_waited_for(site: Site, error: Exception) -> None:
    site.has([motd("1")], [node("pi", "motd")])
    write_only(site)
    with serving(site, lambda real: Once(real, error)) as noticed:
        until(lambda: not site.store.pending())
        until(lambda: None in noticed)
    assert noticed[0] is error
    assert noticed.count(error) == 1
