"""The daemon's part of the overlay: made as declared before anything else, a change tried over the line."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from time import monotonic, sleep

from attrs import frozen

from mesh_adapters.host.agent.desk import Desk
from mesh_adapters.host.agent.line import TAKE_SECONDS, Line
from mesh_adapters.host.agent.place import Place
from mesh_adapters.host.overlay import hosts
from mesh_adapters.host.overlay.keeping import WELL, Keeping, Kept
from mesh_adapters.host.overlay.trial import Verdict, verdict
from mesh_adapters.pause import Pause
from mesh_core.model.network import DeclaredNetwork
from mesh_core.wire.declaration import received

BEFORE = 10.0
"""Seconds in which a broker answers that is in reach before a change."""
LOOK = 0.5
SOON = 5.0
"""Seconds after which what may be found by then is looked for again: later each time."""


class AskedToStop(Exception):
    """The daemon is to end while a change is tried; the next start goes on with that."""


@frozen(kw_only=True)
class _Declared:
    """What a declaration says of the network, and by which bytes."""

    sha256: str
    generation: int
    network: DeclaredNetwork | None
    hosts_declared: bool


class Network:
    """`report` hands a report over to be sent, and `alive` tells whoever watches that the daemon is."""

    def __init__(
        self, place: Place, desk: Desk, *, report: Callable[[], None], alive: Callable[[], None]
    ) -> None:
        self._keeping = Keeping(place.machine())
        self._desk = desk
        self._report = report
        self._alive = alive
        self._declared: _Declared | None = None
        self._again = Pause(SOON, float("inf"))
        self.kept: Kept = WELL
        """How it stands."""

    def key(self) -> str | None:
        """The public key of this machine, if it can have one and that can be kept."""
        try:
            return self._keeping.key
        except OSError:
            return None

    def declare(self, content: bytes, line: Line, stop: Callable[[], bool], *, hosts_owned: bool) -> None:
        """Make it what these bytes declare, which were taken; `hosts_owned`: a module has that file.

        Raises `AskedToStop`.
        """
        declared = self._read(content)

        def reached(seconds: float) -> bool:
            return self._reached(seconds, line, stop)

        self.kept = self._keeping.declared(
            declared.network,
            declared.generation,
            hosts_elsewhere=declared.hosts_declared or hosts_owned,
            reached_before=lambda: reached(BEFORE),
            reached_again=lambda: reached(float("inf")),
        )

    def next_look(self, every: float) -> float:
        """In how many seconds to look again, where the machine is looked at that often."""
        if not self.kept.unsettled:
            self._again.end()
            return every
        return min(every, self._again.grow())

    def _read(self, content: bytes) -> _Declared:
        """The same bytes are read once."""
        sha256 = hashlib.sha256(content).hexdigest()
        if self._declared is None or self._declared.sha256 != sha256:
            declaration, _ = received(content)
            self._declared = _Declared(
                sha256=sha256,
                generation=declaration.generation,
                network=declaration.network,
                hosts_declared=hosts.declared(declaration),
            )
        return self._declared

    def _reached(self, seconds: float, line: Line, stop: Callable[[], bool]) -> bool:
        """Whether what is sent from now on is confirmed, in so many seconds, or in the time of a trial."""
        begun, found = monotonic(), Verdict.OPEN
        line.hurried = True
        try:
            self._report()
            while True:
                if not line.threaded:
                    sleep(min(line.round(0), LOOK))
                reached_at = self._desk.reached_at(LOOK if line.threaded else 0)
                found = verdict(changed_at=begun, reached_at=reached_at, now=monotonic())
                if found is not Verdict.OPEN or monotonic() - begun > seconds + TAKE_SECONDS:
                    return found is Verdict.STAYS
                if stop():
                    raise AskedToStop
                self._alive()
        finally:
            # Once the old network is back, the broker is to hear of it soon.
            line.hurried = found is Verdict.UNDONE
