"""The line to the broker: one thread that takes, keeps, acknowledges, and sends what the work loop says.

It goes on while the work loop applies, which is what keeps the connection alive. Whatever is wrong with the
broker is waited out, with growing pauses.
"""

from __future__ import annotations

from collections.abc import Callable
from threading import Event
from time import monotonic
from typing import assert_never

from mesh_adapters.host.agent.arriving import New, judge
from mesh_adapters.host.agent.desk import Desk, Saying
from mesh_adapters.host.agent.saved import Saved
from mesh_adapters.pause import Pause
from mesh_core.explain import reported
from mesh_core.ports.broker import (
    BrokerRefused,
    BrokerUnreachable,
    Confirmed,
    Delivery,
    HostBroker,
    Outcome,
    QueueMissing,
    Returned,
    TooLarge,
    Unconfirmed,
)

TAKE_SECONDS = 1.0
HURRIED = 3.0
"""The longest pause while somebody waits for the broker to be reached."""
SAY_AGAIN = 240.0
"""Seconds after which the last report is sent again, where there is no newer one: a run may be long."""

Say = Callable[[str], None]


class Line:
    """One end of the broker, used by one thread: `run` in a thread of its own, or `round` by hand."""

    def __init__(
        self,
        *,
        node: str,
        connect: Callable[[], HostBroker],
        saved: Saved,
        desk: Desk,
        hello: Callable[[], bytes],
        say: Say,
    ) -> None:
        self._node = node
        self._connect = connect
        self._saved = saved
        self._desk = desk
        self._hello = hello
        self._say = say
        self._broker: HostBroker | None = None
        self._ending, self._woken = Event(), Event()
        self._greet = True
        self._unsaved: Delivery | None = None
        self._last: Saying | None = None
        self._last_at = 0.0
        self.threaded = False
        """Whether a thread of its own runs it."""
        self._hurried = False
        self._told: str | None = None
        """What was said to be wrong, so that it is said once."""
        self.outage, self._greeting, self._sending, self._saving = Pause(), Pause(), Pause(), Pause()

    def run(self) -> None:
        """Go on until `end`; what breaks it is handed to the work loop."""
        try:
            while not self._ending.is_set():
                self._rest(self.round(TAKE_SECONDS))
            self.close()
        except BaseException as error:
            self._desk.broke(error)

    def end(self) -> None:
        """End soon, after a last report."""
        self._ending.set()
        self._woken.set()

    @property
    def hurried(self) -> bool:
        """Whether somebody waits for the broker to be reached: then no pause is long, also not this one."""
        return self._hurried

    @hurried.setter
    def hurried(self, hurried: bool) -> None:
        self._hurried = hurried
        self._woken.set()

    def _rest(self, pause: float) -> None:
        """Leave the broker alone for so long, or until it is to end."""
        begun = monotonic()
        while not self._ending.is_set():
            left = begun + (min(pause, HURRIED) if self._hurried else pause) - monotonic()
            if left <= 0:
                return
            self._woken.wait(left)
            self._woken.clear()

    def round(self, wait: float) -> float:
        """Take what comes within so many seconds, say what is to be said: how long to leave it then."""
        try:
            self._talk(wait)
        except QueueMissing:
            self._greet = True
            self._wrong("queue", reported.no_queue(self._node))
            return self._greeting.grow()
        except (BrokerUnreachable, BrokerRefused) as outage:
            self._wrong(type(outage).__name__, reported.out_of_reach(str(outage)))
            return self.outage.grow()
        self.outage.end()
        if not self._greet:
            self._greeting.end()
            self._well()
        return 0.0

    def close(self) -> None:
        """Send what was not sent, if the broker is there, and let go of it. Never raises an outage."""
        try:
            if self._broker is not None and self._told is None:
                self._report()
        except (BrokerUnreachable, BrokerRefused):
            pass  # whoever starts next says how it stands then
        finally:
            if self._broker is not None:
                self._broker.close()
                self._broker = None

    def _talk(self, wait: float) -> None:
        if self._broker is None:
            self._broker = self._connect()
        if self._greet and self._greeting.over:
            outcome = self._broker.hello(self._hello())
            # One that went nowhere is said again; a queue that is missing is found by `take`.
            self._greet = not isinstance(outcome, Confirmed)
            if self._greet:
                self._greeting.grow()
        delivery = self._broker.take(wait)
        if delivery is not None:
            self._unsaved = delivery
            self._saving.end()
        if self._unsaved is not None and self._saving.over:
            self._take_in(self._unsaved)
        self._report()

    def _take_in(self, delivery: Delivery) -> None:
        """Keep it, then acknowledge it, then hand it on. What cannot be kept is not acknowledged."""
        judged = judge(delivery.content, self._node, self._saved.newest())
        if isinstance(judged, New) and isinstance(delivery.content, bytes):
            try:
                self._saved.keep(delivery.content, judged.taken)
            except OSError as error:
                self._say(reported.not_saved(error.strerror or str(error)))
                self._saving.grow()
                return
        self._unsaved = None
        delivery.ack()
        self._desk.deliver(judged)

    def _report(self) -> None:
        longest = HURRIED if self._hurried else float("inf")
        if self._broker is None or not self._sending.over_after(longest):
            return
        report = self._desk.to_say()
        if report is None and self._last is not None and monotonic() - self._last_at >= SAY_AGAIN:
            report = self._last
        if report is not None:
            begun = monotonic()
            outcome = self._broker.report(report())
            self._sent(report, outcome)
            if isinstance(outcome, Confirmed):
                self._desk.reached(begun)

    def _sent(self, report: Saying, outcome: Outcome) -> None:
        match outcome:
            case Confirmed():
                self._hurried = False
                self._last, self._last_at = report, monotonic()
                self._sending.end()
                self._desk.said(report)
            case TooLarge():
                self._say(reported.report_too_large(outcome.size, outcome.limit))
                self._desk.said(report)
            case Returned() | Unconfirmed():
                self._wrong("report", reported.not_sent(outcome.why))
                self._sending.grow()
            case _:
                assert_never(outcome)

    def _wrong(self, what: str, line: str) -> None:
        if self._told != what:
            self._told = what
            self._say(line)

    def _well(self) -> None:
        if self._told is not None and self._sending.over:
            self._told = None
            self._say(reported.in_reach())
