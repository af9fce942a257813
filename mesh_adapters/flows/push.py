"""Push: decide and write down in one transaction, then publish, then look again, then mark (design, part 8).

Whatever is killed in between: what was written down and not marked is published by whoever comes next, and a
newer generation that came in between is what is published last.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import TypeAlias

from attrs import evolve, field, frozen

from mesh_core.analysis.material import Settled
from mesh_core.model.mesh import Mesh
from mesh_core.model.sent import Standing
from mesh_core.ports import Broker, Confirmed, Outgoing, Returned, Session, Store
from mesh_core.ports.broker import Outcome as Arrived
from mesh_core.push import Outcome, Send, Words, decide

Step: TypeAlias = Callable[[str], None]
Settle: TypeAlias = Callable[[Mesh], Settled]
"""The resolution of a mesh, with its material faults."""


def no_step(_name: str) -> None:
    """What a step is in use: nothing. A test stops a push here."""


@frozen(kw_only=True)
class Asked:
    """What somebody asks of a push: of all nodes (None) or some, with which words."""

    nodes: frozenset[str] | None = None
    words: Words = field(factory=Words)


@frozen(kw_only=True)
class Looked:
    """What a push would do: the outcome of each node that is asked for, and what it was decided on."""

    mesh: Mesh
    found: Settled
    standings: Mapping[str, Standing]
    outcomes: Mapping[str, Outcome]

    @property
    def going(self) -> dict[str, Send]:
        """What is to be sent, by node."""
        return {node: one for node, one in self.outcomes.items() if isinstance(one, Send)}


@frozen(kw_only=True)
class Publishing:
    """What became of the newest generation of each node that waited: confirmed, or why not."""

    confirmed: Mapping[str, int]
    failed: Mapping[str, Arrived]


def look(mesh: Mesh, standings: Mapping[str, Standing], asked: Asked, settle: Settle) -> Looked:
    """What a push would do now. Pure, but for what `settle` costs."""
    found = settle(mesh)
    outcomes = decide(mesh, found, standings, asked.words, asked.nodes)
    return Looked(mesh=mesh, found=found, standings=standings, outcomes=outcomes)


def write_down(session: Session, asked: Asked, settle: Settle, at: str) -> Looked:
    """Decide, and write the new generations to the outbox, in the session's one transaction."""
    looked = look(session.mesh(), session.standings(), asked, settle)
    for one in looked.going.values():
        session.send(evolve(one.sent, at=at), one.body)
    return looked


def publish(
    store: Store, broker: Broker, nodes: Collection[str] | None = None, step: Step = no_step
) -> Publishing:
    """Publish the newest of each node (None: of all) that no broker has confirmed; look again; mark.

    > a newest-only queue keeps the newest *arrival*: whoever has published looks at the node's newest
    > generation again and publishes that if it is newer

    Raises what the two ports raise: then what is not marked is still pending.
    """
    rows = [row for row in store.pending() if nodes is None or row[0] in nodes]
    return _publish(store, broker, rows, step)


def publish_again(store: Store, broker: Broker, nodes: Iterable[str]) -> Publishing:
    """As `publish`, the newest of these nodes, confirmed before or not: their queue may have lost it."""
    return _publish(store, broker, store.newest(nodes), no_step)


def _publish(store: Store, broker: Broker, rows: Iterable[tuple[str, int, bytes]], step: Step) -> Publishing:
    confirmed: dict[str, int] = {}
    failed: dict[str, Arrived] = {}
    waiting = list(rows)
    while waiting:
        step("before publishing")
        for (node, generation, _), outcome in zip(waiting, _sent(broker, waiting), strict=True):
            if isinstance(outcome, Confirmed):
                confirmed[node] = generation
                failed.pop(node, None)
            else:
                failed[node] = outcome
        step("published")
        again = store.newest([row[0] for row in waiting])
        waiting = [row for row in again if row[1] > confirmed.get(row[0], row[1])]
    step("looked again")
    if confirmed:
        with store.writing() as session:
            for node, generation in confirmed.items():
                session.published(node, generation)
    step("marked")
    return Publishing(confirmed=confirmed, failed=failed)


def _sent(broker: Broker, rows: list[tuple[str, int, bytes]]) -> tuple[Arrived, ...]:
    """What became of each; where a queue is gone it is made, and the message sent once more."""
    outgoing = [Outgoing(node=node, body=body) for node, _, body in rows]
    outcomes = list(broker.publish(outgoing))
    returned = [at for at, outcome in enumerate(outcomes) if isinstance(outcome, Returned)]
    if returned:
        broker.add_nodes(outgoing[at].node for at in returned)
        for at, outcome in zip(returned, broker.publish([outgoing[at] for at in returned]), strict=True):
            outcomes[at] = outcome
    return tuple(outcomes)
