"""Serve: the control plane's daemon, which collects and sends what is pending until it is told to stop.

It decides nothing: what nodes are to be is decided by a push. So it may be killed at any time, and everything
works without it; it only shortens the way from a report to `mesh status`, and from a hello to its answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

from attrs import frozen

from mesh_adapters.flows.answers import Judge
from mesh_adapters.flows.asking import Requested, send_requests
from mesh_adapters.flows.collect import Collected, collect_for
from mesh_adapters.flows.push import Publishing, publish
from mesh_adapters.pause import Pause
from mesh_core.ports import Broker, BrokerOutage, BrokerRefused, Refused, Store, StoreError

ROUND = 2.0
"""Seconds that one round waits for a message."""
LOOK = 0.2
"""Seconds between two looks at whether to stop, while nothing can be done."""
Notice: TypeAlias = Callable[[Collected | Publishing | Requested | BrokerOutage | StoreError | None], None]
"""Told what a round did, an outage when it begins, and None when it is over."""


@frozen(kw_only=True)
class Clock:
    """`now` gives this instant as text, `since` the seconds since one."""

    now: Callable[[], str]
    since: Callable[[str], float]


class Serving:
    """One daemon. `notice` says what happens to people or a log; `judge` is as for `collect`."""

    def __init__(self, store: Store, broker: Broker, clock: Clock, notice: Notice, judge: Judge) -> None:
        self._store = store
        self._broker = broker
        self._clock = clock
        self._notice = notice
        self._judge = judge
        self._listening: tuple[tuple[str, ...], tuple[str, ...]] | None = None
        self._pause = Pause()
        self._away = False

    def run(self, stop: threading.Event, seconds: float = ROUND) -> None:
        """Until `stop` is set; outages of the broker and the store are waited for.

        `stop` is only ever asked, never waited for: a handler of a signal that sets it may have interrupted
        this very thread, and an event has a lock.
        """
        while not stop.is_set():
            try:
                self._round(seconds)
            except (BrokerOutage, StoreError) as outage:
                self._wait(outage, stop)
            else:
                self._well()

    def _round(self, seconds: float) -> None:
        self._listen()
        published = publish(self._store, self._broker)
        if published.confirmed or published.failed:
            self._notice(published)
        collected = collect_for(self._store, self._broker, self._clock.now(), seconds, self._judge)
        if _any(collected):
            self._notice(collected)
        requested = send_requests(self._store, self._broker, self._clock.now(), self._clock.since)
        if requested.confirmed or requested.failed:
            self._notice(requested)

    def _listen(self) -> None:
        """Listen to the nodes and builders that there are, again whenever those are others."""
        there = tuple(node.name for node in self._store.mesh().nodes), self._store.builders()
        if there != self._listening:
            self._broker.listen(*there)
            self._listening = there

    def _wait(self, outage: BrokerOutage | StoreError, stop: threading.Event) -> None:
        if not self._away:
            self._away = True
            self._notice(outage)
        if isinstance(outage, BrokerRefused) and outage.what is Refused.UNFIT:
            self._listening = None  # a queue is gone: listening makes it again
        until = time.monotonic() + self._pause.grow()
        while not stop.is_set() and time.monotonic() < until:
            time.sleep(LOOK)

    def _well(self) -> None:
        if self._away:
            self._away = False
            self._pause.end()
            self._notice(None)


def _any(collected: Collected) -> bool:
    said: Sequence[object] = (
        collected.reports,
        collected.hellos,
        collected.strange,
        collected.stale,
        collected.strangers,
        collected.builds,
        collected.uncounted,
    )
    return any(said)
