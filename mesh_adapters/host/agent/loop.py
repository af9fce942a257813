"""The daemon of one host: its work loop, over a line to a broker (design, parts 8 and 11).

`Agent` installs no signals and prints nothing, so several of them can live in one process.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from threading import Event, Thread
from time import monotonic

from attrs import evolve

from mesh_adapters.host.agent.arriving import Refusal, refusal_of
from mesh_adapters.host.agent.desk import Desk
from mesh_adapters.host.agent.identity import machine_id
from mesh_adapters.host.agent.idle import give_back
from mesh_adapters.host.agent.line import Line, Say
from mesh_adapters.host.agent.network import AskedToStop, Network
from mesh_adapters.host.agent.place import Place, Probe, probe_machine
from mesh_adapters.host.agent.reporting import Speaker, Standing, report_of
from mesh_adapters.host.agent.running import Beginning, now, run_over, standing_of
from mesh_adapters.host.agent.saved import Saved
from mesh_adapters.host.applied import Applied
from mesh_adapters.host.applying import Refused, Stopped
from mesh_adapters.host.journal import Journal, JournalBusy, JournalError
from mesh_adapters.host.kind import Kind
from mesh_adapters.host.notify import Notifier
from mesh_adapters.host.overlay.hosts import IDENTITY as HOSTS
from mesh_core.explain import reported
from mesh_core.model.said import REPORTS_EVERY, Hello, Report
from mesh_core.ports.broker import HostBroker
from mesh_core.wire.said import hello_to_bytes, report_to_bytes

EVERY = 240.0
LOOK = 0.5
"""Seconds between two looks at whether to stop."""
BUSY = 5.0
"""Seconds after which a journal that somebody else has is tried again."""
MENDING = 30.0
"""Seconds after which is tried again what the disk or the journal did not allow."""


def quiet(_line: str) -> None:
    """What is said to nobody."""


def unheard(_report: Report) -> None:
    """A report that only the broker gets."""


class _NotKept(Exception):
    """A declaration was taken, and could not be put in the place of the one before."""


class Agent:
    """The host of one node on the machine at `root`; `connect` gives its end of the broker.

    `say` gets a line for people where something is wrong, or is well again, from either thread. `heard` gets
    each report as it is handed over to be sent. `now` is the machine's clock, as people read it.
    """

    def __init__(
        self,
        *,
        node: str,
        root: Path,
        connect: Callable[[], HostBroker],
        every: float = EVERY,
        say: Say = quiet,
        heard: Callable[[Report], None] = unheard,
        notifier: Notifier | None = None,
        now: Callable[[], str] = now,
        kinds: Mapping[str, Kind] | None = None,
        probe: Probe = probe_machine,
    ) -> None:
        if not 0 < every < REPORTS_EVERY:  # each look ends with a report
            raise ValueError(f"every {every:g} seconds: it is more than 0 and less than {REPORTS_EVERY}")
        self._every = every
        self._say = say
        self._heard = heard
        self._notifier = notifier or Notifier({})
        self._now = now
        self._place = Place(root, self._notifier, kinds, probe)
        self._connect = connect
        self._speaker = Speaker(node=node, machine="")
        self._standing = Standing()
        self._refusal: Refusal | None = None
        self._due = 0.0
        """When the machine is looked at next, whatever comes."""
        self._probe_due = 0.0
        self._desk = Desk()
        self._reported: Report | None = None
        self._last_said: tuple[str, ...] = ()
        alive = self._notifier.alive
        self._network = Network(self._place, self._desk, report=self._tell_on_the_way, alive=alive)
        self._idle = False
        """Whether nothing was made since memory was given back."""

    def run(self, stop: Event) -> None:
        """Work until `stop` is set, which ends a run between two actions; a thread of its own has the broker.

        `stop` is only ever asked, never waited for, so that a handler of a signal may set it. Raises
        `JournalError` where the state directory cannot be used at all.
        """
        line = self._begin()
        line.threaded = True
        thread = Thread(target=line.run, name=f"broker-{self._speaker.node}", daemon=True)
        thread.start()
        self._notifier.ready()
        try:
            while not stop.is_set():
                self._turn(stop)
                self._rest(stop)
        finally:
            self._notifier.stopping()
            line.end()
            thread.join()

    def once(self) -> Report:
        """One round: say hello, take what waits, apply, report, and let go of the broker; the report."""
        line, never = self._begin(), Event()
        try:
            line.round(0)
            self._turn(never)
            while monotonic() >= self._due or self._desk.wait(0):
                self._turn(never)
            line.round(0)
        finally:
            line.close()
        assert self._reported is not None, "every first turn tells how it stands"
        return self._reported

    def _begin(self) -> Line:
        node, place = self._speaker.node, self._place
        try:
            place.state.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._speaker = evolve(self._speaker, machine=machine_id(place.root, place.state))
            self._saved = Saved(place.state, node)
        except OSError as error:
            raise JournalError(f"{place.state}: {error.strerror}; nothing was changed") from error
        self._due = self._probe_due = 0.0
        self._speaker = evolve(self._speaker, key=self._network.key())
        self._line = Line(
            node=node,
            connect=self._connect,
            saved=self._saved,
            desk=self._desk,
            hello=self._hello,
            say=self._say,
        )
        return self._line

    def _hello(self) -> bytes:
        speaker = self._speaker
        holding = self._saved.holding()
        generation = None if holding is None else holding.generation
        said = Hello(
            node=speaker.node,
            machine=speaker.machine,
            generation=generation,
            key=speaker.key,
            at=self._now(),
        )
        return hello_to_bytes(said)

    def _turn(self, stop: Event) -> None:
        """Look at what came, and at the machine where it is time to, or where a declaration came."""
        mail = self._desk.mail()
        if monotonic() >= self._probe_due:
            self._look_for_capabilities()
        if mail.known is not None and mail.known == self._saved.holding():
            self._refusal = None  # what holds here is what was sent last
        if mail.refusal is not None:
            self._refuse(mail.refusal)
        if mail.declaration or monotonic() >= self._due:
            self._reconcile(stop)
        elif mail.refusal is not None:
            self._tell()

    def _rest(self, stop: Event) -> None:
        """Until something came, it is time, or it is to stop."""
        if not self._idle:
            self._idle = True
            give_back()
        while not stop.is_set() and monotonic() < self._due:
            self._notifier.alive()
            if self._desk.wait(min(LOOK, max(self._due - monotonic(), 0.0))):
                return

    def _look_for_capabilities(self) -> None:
        self._notifier.alive()
        found = self._place.capabilities()
        self._speaker = evolve(self._speaker, capabilities=found, key=self._network.key())
        self._probe_due = monotonic() + self._every

    def _reconcile(self, stop: Event) -> None:
        came = self._saved.came()
        content = self._saved.holds() if came is None else came
        if content is None:
            self._due = monotonic() + self._every
            self._look_at_the_journal()
            return
        try:
            with self._place.host() as host:
                early = came is None and self._saved.holding() == host.journal.taken()
                if early:
                    self._see_to_network(content, stop, host.journal)
                begin = partial(self._taken, content, stop, None if early else host.journal)
                ended = run_over(content, host, self._enough(stop), begin)
                self._standing = standing_of(host.journal)
        except JournalBusy:
            self._due = monotonic() + BUSY
            if self._reported is None or self._refusal is not None:
                self._tell()
        except (JournalError, sqlite3.Error) as error:
            self._in_trouble(str(error))
        except _NotKept as error:
            self._in_trouble(reported.cannot_keep(str(error)))
        except AskedToStop:
            self._due = 0.0
        else:
            self._ended(content, ended, it_came=came is not None)

    def _ended(self, content: bytes, ended: Applied | Stopped | Refused, *, it_came: bool) -> None:
        if isinstance(ended, Stopped):
            self._due = 0.0  # something newer came, or the daemon ends: this was not the end of it
            return
        if isinstance(ended, Applied):
            self._due = monotonic() + self._network.next_look(self._every)
            self._last_said = ()
            self._idle = self._idle and not ended.events
        elif it_came:
            self._saved.drop(content)
            self._refuse(refusal_of(ended))
        else:
            refusal = refusal_of(ended)
            self._due = monotonic() + self._every
            self._refuse(evolve(refusal, why=reported.saved_unreadable(refusal.why)))
        self._tell()

    def _enough(self, stop: Event) -> Callable[[], bool]:
        def enough() -> bool:
            self._notifier.alive()
            return stop.is_set() or self._saved.something_came

        return enough

    def _taken(self, content: bytes, stop: Event, journal: Journal | None, beginning: Beginning) -> None:
        """A declaration was taken and nothing is touched yet: from here on it is what holds.

        The network comes first: what is made after it may need it. `journal` is None where that was seen to.
        """
        try:
            news = self._saved.settle(content)
        except OSError as error:
            raise _NotKept(error.strerror or str(error)) from error
        if news and self._refusal is not None and self._refusal.lasting:
            self._refusal = None
        if beginning.newer or self._reported is None:
            self._standing = beginning.standing
            self._tell_on_the_way()
        if journal is not None:
            self._see_to_network(content, stop, journal)

    def _see_to_network(self, content: bytes, stop: Event, journal: Journal) -> None:
        """Make the machine's part of the overlay what is declared. Raises `AskedToStop`."""
        owned = journal.owns(HOSTS)
        self._network.declare(content, self._line, stop.is_set, hosts_owned=owned)

    def _tell_on_the_way(self) -> None:
        """Report how it stands while a declaration is being seen to."""
        self._hand_over(report_of(self._speaker, self._standing, network=self._network.kept))

    def _look_at_the_journal(self) -> None:
        """Nothing was declared here through the broker; perhaps somebody applied something by hand."""
        try:
            if self._place.has_journal():
                with self._place.host() as host:
                    self._standing = standing_of(host.journal)
        except JournalBusy:
            pass
        except (JournalError, sqlite3.Error) as error:
            self._in_trouble(str(error))
            return
        self._tell()

    def _in_trouble(self, why: str) -> None:
        self._due = monotonic() + min(self._every, MENDING)
        self._say_once((why,))
        self._tell(trouble=why)

    def _refuse(self, refusal: Refusal) -> None:
        self._refusal = refusal
        self._say_once(reported.refused(refusal.why))

    def _say_once(self, lines: tuple[str, ...]) -> None:
        """Say what is wrong; not the same again, before all was well."""
        if lines != self._last_said:
            self._last_said = lines
            for line in lines:
                self._say(line)

    def _tell(self, trouble: str | None = None) -> None:
        """Report how it stands. What was refused and does not last is told this once."""
        kept = self._network.kept
        said = report_of(self._speaker, self._standing, refusal=self._refusal, trouble=trouble, network=kept)
        self._hand_over(said)
        if self._refusal is not None and not self._refusal.lasting:
            self._refusal = None

    def _hand_over(self, report: Report) -> None:
        self._reported = report = evolve(report, at=self._now())
        # It is sent again, or after an outage: what it says holds then as well, and the machine lives.
        self._desk.say(lambda: report_to_bytes(evolve(report, at=self._now())))
        self._notifier.status(reported.stands(report.generation, report.doing.value))
        self._heard(report)
