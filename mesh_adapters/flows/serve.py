"""Serve: the control plane's daemon, which collects and sends what is pending until it is told to stop.

It decides nothing: what nodes are to be is decided by a push. So it may be killed at any time, and everything
works without it; it only shortens the way from a report to `mesh status`, and from a hello to its answer.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Sequence
from typing import TypeAlias

from mesh_adapters.flows.collect import Collected, collect_for
from mesh_adapters.flows.push import Publishing, publish
from mesh_core.ports import Broker, BrokerOutage, BrokerRefused, Refused, Store, StoreError

ROUND = 2.0
"""Seconds that one round waits for a message."""
LOOK = 0.2
"""Seconds between two looks at whether to stop, while nothing can be done."""
LONGEST_PAUSE = 60.0
"""Seconds between two tries, once the broker or the store has been away for a while."""

Notice: TypeAlias = Callable[[Collected | Publishing | BrokerOutage | StoreError | None], None]
"""Told what a round did, an outage when it begins, and None when it is over."""


class Serving:
    """One daemon. `now` gives the instant as text; `notice` says what happens to people or a log."""

    def __init__(self, store: Store, broker: Broker, now: Callable[[], str], notice: Notice) -> None:
        self._store = store
        self._broker = broker
        self._now = now
        self._notice = notice
        self._listening: tuple[str, ...] | None = None
        self._pause = 0.0

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
        collected = collect_for(self._store, self._broker, self._now(), seconds)
        if _any(collected):
            self._notice(collected)

    def _listen(self) -> None:
        """Listen to the nodes that there are, again whenever those are others."""
        nodes = tuple(node.name for node in self._store.mesh().nodes)
        if nodes != self._listening:
            self._broker.listen(nodes)
            self._listening = nodes

    def _wait(self, outage: BrokerOutage | StoreError, stop: threading.Event) -> None:
        if not self._pause:
            self._notice(outage)
        if isinstance(outage, BrokerRefused) and outage.what is Refused.UNFIT:
            self._listening = None  # a queue is gone: listening makes it again
        self._pause = min(max(1.0, self._pause * 2), LONGEST_PAUSE)
        until = time.monotonic() + self._pause
        while not stop.is_set() and time.monotonic() < until:
            time.sleep(LOOK)

    def _well(self) -> None:
        if self._pause:
            self._pause = 0.0
            self._notice(None)


def _any(collected: Collected) -> bool:
    said: Sequence[object] = (
        collected.reports,
        collected.hellos,
        collected.strange,
        collected.stale,
        collected.strangers,
    )
    return any(said)
