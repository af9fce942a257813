"""Collect: take in what hosts and builders have said, and answer hosts (design, parts 8, 9 and 11).

Each message is written down in a transaction of its own before it is acknowledged; what is stale, foreign or
no report changes nothing. A host that says hello, or that has an older generation than it was sent, is sent
its newest again: its queue may have lost it, or another machine may have taken it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from attrs import evolve, field, frozen

from mesh_adapters.flows.answers import Heard, Judge, Uncounted, take_answer
from mesh_adapters.flows.push import publish_again
from mesh_core.analysis.clocks import spoke_at, waited
from mesh_core.change import Attach, Change
from mesh_core.change import Report as Reported
from mesh_core.event import Event
from mesh_core.model.node import Node
from mesh_core.model.said import Doing, Hello, Report
from mesh_core.model.sent import Standing
from mesh_core.ports import Broker, Delivery, Kind, Session, SetAside, Store
from mesh_core.wire.faults import WireError
from mesh_core.wire.said import read_hello, read_said


@frozen(kw_only=True)
class Collected:
    """What one round took in, by node: reports and hellos that were the node's own, and the others.

    `strange` counts what was no report or hello, `stale` those older than what was known, `strangers` those
    of another machine. `answered` were sent their newest declaration again. `waited` has the seconds since a
    report was said, of those that had waited for long. `builds` is what counted of what builders said, in its
    order; `uncounted` is how often something was said, by its id, of a build that is over.
    """

    reports: Mapping[str, Report] = field(factory=dict)
    hellos: tuple[str, ...] = ()
    strange: Mapping[str, int] = field(factory=dict)
    stale: Mapping[str, int] = field(factory=dict)
    strangers: Mapping[str, str] = field(factory=dict)
    answered: tuple[str, ...] = ()
    waited: Mapping[str, int] = field(factory=dict)
    builds: tuple[Heard, ...] = ()
    uncounted: Mapping[str, int] = field(factory=dict)


def collect(store: Store, broker: Broker, at: str, judge: Judge) -> Collected:
    """Take in everything that waits, and answer. Raises what the two ports raise."""
    broker.listen((node.name for node in store.mesh().nodes), store.builders())
    return collect_for(store, broker, at, 0, judge)


def collect_for(store: Store, broker: Broker, at: str, wait: float, judge: Judge) -> Collected:
    """As `collect`, of nodes and builders that are listened to already; the first message is waited for.

    `judge` says what a manifest that was built would do to whom.
    """
    round_ = Round(judge)
    for delivery in _waiting(broker, wait):
        round_.take(store, delivery, at)
    return round_.ended(store, broker)


def _waiting(broker: Broker, wait: float) -> Iterator[Delivery]:
    delivery = broker.take(wait)
    while delivery is not None:
        yield delivery
        delivery = broker.take(0)


class Round:
    """One round of taking in."""

    def __init__(self, judge: Judge) -> None:
        self._judge = judge
        self._builds: list[Heard] = []
        self._uncounted: Counter[str] = Counter()
        self._reports: dict[str, Report] = {}
        self._hellos: list[str] = []
        self._strange: Counter[str] = Counter()
        self._stale: Counter[str] = Counter()
        self._strangers: dict[str, str] = {}
        self._to_answer: set[str] = set()
        self._waited: dict[str, int] = {}

    def take(self, store: Store, delivery: Delivery, at: str) -> None:
        """Write one message down, and acknowledge it."""
        if delivery.kind in (Kind.ANSWER, Kind.GIVEN_UP):
            self._take_answer(store, delivery, at)
            return
        said = _said(delivery)
        try:
            if said is None:
                raise ValueError("no hello and no report")
            with store.writing() as session:
                self._write_down(session, said, at)
        except ValueError:  # nor is one with numbers that no store can hold
            self._strange[delivery.node] += 1
        delivery.ack()

    def _take_answer(self, store: Store, delivery: Delivery, at: str) -> None:
        with store.writing() as session:
            heard = take_answer(session, delivery, at, self._judge)
        if isinstance(heard, Heard):
            self._builds.append(heard)
        elif isinstance(heard, Uncounted):
            self._uncounted[heard.said.request] += 1
        else:
            self._strange[heard.builder or "(builds)"] += 1
        delivery.ack()

    def ended(self, store: Store, broker: Broker) -> Collected:
        """Answer those that lack their newest declaration."""
        answered = publish_again(store, broker, sorted(self._to_answer)) if self._to_answer else None
        return Collected(
            reports=self._reports,
            hellos=tuple(self._hellos),
            strange=self._strange,
            stale=self._stale,
            strangers=self._strangers,
            answered=tuple(sorted(answered.confirmed)) if answered is not None else (),
            waited=self._waited,
            builds=tuple(self._builds),
            uncounted=self._uncounted,
        )

    def _write_down(self, session: Session, said: Hello | Report, at: str) -> None:
        standing = session.standings([said.node]).get(said.node)
        if standing is None:
            self._strange[said.node] += 1  # it was removed meanwhile
        elif not session.seen(said.node, said.machine, spoke_at(said, standing, at)):
            self._strangers[said.node] = said.machine
        elif isinstance(said, Hello):
            self._note_said_of_itself(session, said, at)
            self._hellos.append(said.node)
            self._to_answer.add(said.node)
        elif is_stale(said, standing):
            self._stale[said.node] += 1
        else:
            self._hear(session, said, standing, at)

    def _hear(self, session: Session, report: Report, standing: Standing, at: str) -> None:
        session.hear(report, at)
        self._reports[report.node] = report
        self._note_how_old(report, standing, at)
        self._note_said_of_itself(session, report, at)
        if lacks_newest(report, standing):
            self._to_answer.add(report.node)

    def _note_said_of_itself(self, session: Session, said: Hello | Report, at: str) -> None:
        """What a machine is known to have, and its key in the overlay, change with what it says last."""
        node = session.mesh().node(said.node)
        changes = [] if node is None else list(said_of_itself(node, said))
        if changes:
            command = f"({'hello' if isinstance(said, Hello) else 'report'} of {said.node})"
            session.record(Event(at=at, who=said.node, command=command, changes=changes))

    def _note_how_old(self, report: Report, standing: Standing, at: str) -> None:
        seconds = waited(report, spoke_at(report, standing, at), at)
        self._waited.pop(report.node, None)
        if seconds is not None:
            self._waited[report.node] = seconds


def _said(delivery: Delivery) -> Hello | Report | None:
    """What a message says; None for what is none, or is said of another node than it came from."""
    if isinstance(delivery.content, SetAside):
        return None
    read = read_hello if delivery.kind is Kind.HELLO else read_said
    try:
        said = read(delivery.content)
    except WireError:
        return None
    return said if said.node == delivery.node else None


def said_of_itself(node: Node, said: Hello | Report) -> Iterator[Change]:
    """How the mesh changes with what a machine says of itself; a key that it does not name stays known."""
    if isinstance(said, Report) and node.capabilities != said.capabilities:
        yield Reported(node=node.name, capabilities=said.capabilities)
    if said.key is not None and said.key != node.network.key:
        yield Attach(node=node.name, network=evolve(node.network, key=said.key))


def is_stale(report: Report, standing: Standing) -> bool:
    """Whether more was known already: a host's generation only grows."""
    known = standing.report
    return known is not None and (report.generation or 0) < (known.generation or 0)


def lacks_newest(report: Report, standing: Standing) -> bool:
    """Whether it has not even taken what a broker has confirmed for it, nor turned that down.

    What it turned down without a number it could not read; sent again, that might go on for ever. One of an
    older number only stood in the place of the newest, which a push that was held up can bring about.
    """
    newest = standing.newest
    if newest is None or not newest.published:
        return False
    if report.doing is Doing.REFUSED and (report.refused is None or report.refused >= newest.generation):
        return False
    return (report.generation or 0) < newest.generation
