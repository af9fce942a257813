"""What the two threads of the daemon hand each other: what came, and the newest report."""

from __future__ import annotations

from collections.abc import Callable
from threading import Condition
from typing import TypeAlias

from attrs import evolve, frozen

from mesh_adapters.host.agent.arriving import Judged, Known, Refusal
from mesh_core.reconcile import Taken

Saying: TypeAlias = Callable[[], bytes]
"""A report, written at the moment when it is sent, since it says when that was."""


@frozen(kw_only=True)
class Mail:
    """What came since the last look: whether a declaration did, and what was refused after it.

    `known` is what came again, where the last that came was kept here before.
    """

    declaration: bool = False
    known: Taken | None = None
    refusal: Refusal | None = None


class Desk:
    """Between the line and the work loop. Nothing here waits for long."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._mail: Mail | None = None
        self._report: Saying | None = None
        self._broken: BaseException | None = None
        self._reached_at: float | None = None

    def deliver(self, judged: Judged) -> None:
        """Something came, and was kept where it is new."""
        with self._changed:
            if isinstance(judged, Refusal):
                self._mail = evolve(self._mail or Mail(), refusal=judged)
            else:
                known = judged.taken if isinstance(judged, Known) else None
                self._mail = Mail(declaration=True, known=known)
            self._changed.notify_all()

    def wait(self, seconds: float) -> bool:
        """Whether something is there to be looked at, within so many seconds. Raises what broke the line."""
        with self._changed:
            if self._mail is None and self._broken is None:
                self._changed.wait(seconds)
            if self._broken is not None:
                raise self._broken
            return self._mail is not None

    def mail(self) -> Mail:
        """Take what came."""
        with self._changed:
            mail, self._mail = self._mail, None
            return mail or Mail()

    def broke(self, error: BaseException) -> None:
        """The line ended by a fault of this program; whoever waits here is told."""
        with self._changed:
            self._broken = error
            self._changed.notify_all()

    def say(self, report: Saying) -> None:
        """Hand over a report, in the place of an older one that was not sent."""
        with self._changed:
            self._report = report

    def to_say(self) -> Saying | None:
        """The newest report that was not sent. It stays until it was."""
        with self._changed:
            return self._report

    def said(self, report: Saying) -> None:
        """It was sent. One that was handed over meanwhile stays."""
        with self._changed:
            if self._report is report:
                self._report = None

    def reached(self, begun: float) -> None:
        """The broker has confirmed what was begun to be sent then, by the clock that only goes on."""
        with self._changed:
            self._reached_at = begun
            self._changed.notify_all()

    def reached_at(self, seconds: float) -> float | None:
        """When that was begun which the broker has confirmed last; it waits so long for news of that."""
        with self._changed:
            before = self._reached_at
            self._changed.wait_for(lambda: self._reached_at != before or self._broken is not None, seconds)
            if self._broken is not None:
                raise self._broken
            return self._reached_at
