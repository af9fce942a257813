"""The flows with everything that they need of this process: the clock, the kinds that are known."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from mesh_cli.wiring import now, settled

if TYPE_CHECKING:
    from mesh_adapters.flows.collect import Collected as Collected
    from mesh_adapters.flows.push import Asked as Asked
    from mesh_adapters.flows.push import Looked as Looked
    from mesh_adapters.flows.push import Publishing as Publishing
    from mesh_adapters.flows.serve import Notice
    from mesh_core.analysis.material import Settled
    from mesh_core.model.mesh import Mesh
    from mesh_core.model.sent import Standing
    from mesh_core.ports import Broker, Session, Store


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


def collect(store: Store, broker: Broker) -> Collected:
    """Take in what waits."""
    from mesh_adapters.flows.collect import collect as take_in

    return take_in(store, broker, now())


def serve(store: Store, broker: Broker, notice: Notice, stop: threading.Event) -> None:
    """Collect and send what is pending, until `stop` is set."""
    from mesh_adapters.flows.serve import Serving

    Serving(store, broker, now, notice).run(stop)


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
        collect_for(store, broker, now(), min(1.0, max(0.05, patience - since)))


def _is_news(standing: Standing, generation: int, told: Standing | None, *, late: bool) -> bool:
    """Whether it says another thing of that generation than was told; of what it has not, only in the end."""
    report = standing.report
    has = report is not None and ((report.generation or 0) >= generation or report.refused == generation)
    if not has:
        return late and told is None
    return told is None or told.report != report


def _ended(standing: Standing | None, generation: int) -> bool:
    from mesh_core.push import has_ended

    return standing is None or has_ended(standing, generation)


def _settle(mesh: Mesh) -> Settled:
    from mesh_core.resolve import resolve

    return settled(mesh, resolve(mesh))
