"""The flows with everything that they need of this process: the clock, the kinds that are known."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from mesh_cli.exits import Stop
from mesh_cli.output import seconds_since
from mesh_cli.settings import broker_said
from mesh_cli.wiring import now, opened_broker, settled

if TYPE_CHECKING:
    from mesh_adapters.flows.asking import Requested as Requested
    from mesh_adapters.flows.collect import Collected as Collected
    from mesh_adapters.flows.push import Asked as Asked
    from mesh_adapters.flows.push import Looked as Looked
    from mesh_adapters.flows.push import Publishing as Publishing
    from mesh_adapters.flows.serve import Notice
    from mesh_core.analysis.material import Settled
    from mesh_core.analysis.proposal import Proposal
    from mesh_core.analysis.state_of_nodes import Waiting
    from mesh_core.change import PutModule
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.sent import Standing
    from mesh_core.ports import Broker, Session, Store
    from mesh_core.ports.broker import Outcome


_PUBLISHED_AT_ONCE = 100
_PARTS = 20
"""Each part reads the outbox again, so there are only so many."""


def asked(
    nodes: frozenset[str] | None, moves: frozenset[tuple[str, str]], allow_removals: frozenset[str]
) -> Asked:
    """What somebody asks of a push."""
    from mesh_adapters.flows.push import Asked
    from mesh_core.push import Words

    return Asked(nodes=nodes, words=Words(moves=moves, allow_removals=allow_removals))


def look(store: Store, ask: Asked) -> Looked:
    """What a push would do; nothing is written."""
    from mesh_adapters.flows.push import look as look_at

    return look_at(store.mesh(), store.standings(), ask, _settle)


def write_down(session: Session, ask: Asked) -> Looked:
    """Decide, and write it to the outbox."""
    from mesh_adapters.flows.push import write_down as write

    return write(session, ask, _settle, now())


def publish(store: Store, broker: Broker, nodes: frozenset[str] | None = None) -> Publishing:
    """Publish what is pending: of these nodes, or everything."""
    from mesh_adapters.flows.push import publish as publish_pending

    return publish_pending(store, broker, nodes)


def publish_counted(
    store: Store, broker: Broker, nodes: frozenset[str] | None, tell: Callable[[int, int], None]
) -> Publishing:
    """The same a part at a time; `tell` is given how many nodes are done, and of how many."""
    from mesh_adapters.flows.push import Publishing

    names = [node for node, *_ in store.pending() if nodes is None or node in nodes]
    confirmed: dict[str, int] = {}
    failed: dict[str, Outcome] = {}
    part = max(_PUBLISHED_AT_ONCE, -(-len(names) // _PARTS))
    for start in range(0, len(names), part):
        tell(start, len(names))
        published = publish(store, broker, frozenset(names[start : start + part]))
        confirmed |= published.confirmed
        failed |= published.failed
    return Publishing(confirmed=confirmed, failed=failed)


def collect(store: Store, broker: Broker) -> Collected:
    """Take in what waits."""
    from mesh_adapters.flows.collect import collect as take_in

    return take_in(store, broker, now(), _judge)


def collect_for(store: Store, broker: Broker, wait: float) -> Collected:
    """Take in what comes within so many seconds, once somebody has listened."""
    from mesh_adapters.flows.collect import collect_for as take_in

    return take_in(store, broker, now(), wait, _judge)


def send_requests(store: Store, broker: Broker) -> Requested:
    """Send the requests for builds that are to be sent."""
    from mesh_adapters.flows.asking import send_requests as send

    return send(store, broker, now(), since_now)


def serve(store: Store, broker: Broker, notice: Notice, stop: threading.Event) -> None:
    """Collect and send what is pending, until `stop` is set."""
    from mesh_adapters.flows.serve import Clock, Serving

    Serving(store, broker, Clock(now=now, since=since_now), notice, _judge).run(stop)


def watch(
    store: Store,
    broker: Broker,
    sent: Mapping[str, int],
    patience: float,
    tell: Callable[[Standing, int, float], None],
) -> bool:
    """Take in reports until every node has ended what it was sent, or patience ends: whether all did well.

    `tell` is given each standing that is news, with the generation that was sent and the seconds since.
    """
    from mesh_adapters.flows.collect import collect_for
    from mesh_core.push import ended_well

    begun = time.monotonic()
    told: dict[str, Standing] = {}
    while True:
        since = time.monotonic() - begun
        standings = store.standings()
        left = {node for node, generation in sent.items() if not _ended(standings.get(node), generation)}
        for node, generation in sent.items():
            news = standings.get(node)
            late = node in left and since >= patience
            if news is not None and _is_news(news, generation, told.get(node), late=late):
                told[node] = news
                tell(news, generation, since)
        if not left:
            return all(ended_well(standings[node], sent[node]) for node in sent if node in standings)
        if since >= patience:
            return False
        collect_for(store, broker, now(), min(1.0, max(0.05, patience - since)), _judge)


LOOK_SECONDS = 1.0
"""For asking the broker what waits there, all together: nobody waits longer to see how it stands."""
_NODES_AT_ONCE = 50


def waiting(flag: str | None, nodes: Sequence[str]) -> Waiting | None:
    """Of which of these nodes something waits at the broker, the first asked first; None where none is named.

    Never raises: whoever looks at how it stands is told why that is not known.
    """
    from mesh_cli.outages import broker_told
    from mesh_core.analysis.state_of_nodes import Waiting
    from mesh_core.ports import BrokerOutage

    try:
        if broker_said(flag) is None:
            return None
        with opened_broker(flag, LOOK_SECONDS) as broker:
            return _waiting_at(broker, nodes)
    except Stop as stop:
        return Waiting(why_not=stop.lines[0])
    except BrokerOutage as outage:
        return Waiting(why_not=broker_told(outage).lines[0])


def _waiting_at(broker: Broker, nodes: Sequence[str]) -> Waiting:
    """As far as it comes within the time. Raises an outage where it comes nowhere."""
    from mesh_core.analysis.state_of_nodes import Waiting
    from mesh_core.ports import BrokerOutage

    until = time.monotonic() + LOOK_SECONDS
    found: list[str] = []
    for start in range(0, len(nodes), _NODES_AT_ONCE):
        try:
            some = broker.waiting(nodes[start : start + _NODES_AT_ONCE])
        except BrokerOutage:
            if not start:
                raise
            return Waiting(nodes=found, all_asked=False)
        found += [node for node, count in some.items() if count]
        if time.monotonic() > until and start + _NODES_AT_ONCE < len(nodes):
            return Waiting(nodes=found, all_asked=False)
    return Waiting(nodes=found)


def _is_news(standing: Standing, generation: int, told: Standing | None, *, late: bool) -> bool:
    """Whether it says another thing of that generation than was told; of what it has not, only in the end."""
    from attrs import evolve

    report = standing.report
    if report is None or ((report.generation or 0) < generation and report.refused != generation):
        return late and told is None
    # That it says the same once more, at another time, is no news.
    return told is None or told.report is None or evolve(told.report, at=report.at) != report


def _ended(standing: Standing | None, generation: int) -> bool:
    from mesh_core.push import has_ended

    return standing is None or has_ended(standing, generation)


def since_now(instant: str) -> float:
    """Seconds since an instant, as a store keeps it."""
    return seconds_since(instant, now())


def _judge(mesh: Mesh, change: PutModule) -> Proposal:
    from mesh_cli.judging import judged

    return judged(mesh, [change])


def _settle(mesh: Mesh) -> Settled:
    from mesh_core.resolve import resolve

    return settled(mesh, resolve(mesh))
