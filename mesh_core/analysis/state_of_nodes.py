"""How it stands with every node: what it wants, what it has, and one word for it (design, parts 10 and 11).

> for each node, the generation wanted against the generation it last reported applied

The core has no clock: how long ago something was is asked of what is handed in.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import TypeAlias

from attrs import field, frozen

from mesh_core.analysis.clocks import Clock, clock_of
from mesh_core.analysis.material import Settled
from mesh_core.model.material import MaterialFault
from mesh_core.model.mesh import Mesh
from mesh_core.model.order import sorted_names
from mesh_core.model.resolution import Refusal
from mesh_core.model.said import REPORTS_EVERY, Doing, Report
from mesh_core.model.sent import Standing
from mesh_core.problems import Problem

SILENT_AFTER = 3 * REPORTS_EVERY
"""Seconds after which nobody can say how it is, whatever it last said."""

Since: TypeAlias = Callable[[str], float]
"""Seconds since an instant, given as a store keeps it."""
Reason: TypeAlias = Problem | MaterialFault
"""One reason why the mesh refuses a node."""


class NodeState(StrEnum):
    """One word for a node. Where several would do, the first of these is told."""

    NEVER_SEEN = "never-seen"
    """Nothing was ever heard of it: there is nothing that it could be silent after."""
    SILENT = "silent"
    """Nothing was heard for so long that what it last said may not be so any more."""
    REFUSED = "refused"
    """The mesh refuses it, or it refused what it was sent last; it keeps what it has.

    That the mesh refuses it is told before what it says of itself: until that is mended nothing new will
    reach it, however well it keeps what it has. What it says stands beside it.
    """
    WAITING = "waiting"
    """There is something for it that it has not begun: not at the broker yet, or not taken yet."""
    APPLYING = "applying"
    FAILED = "failed"
    DRIFTED = "drifted"
    APPLIED = "applied"


@frozen(kw_only=True)
class StateOfNode:
    """How it stands with one node.

    `wants` is the generation that it was sent last, `taken` the one that it took last, `has` the one that it
    last made so, each None for none; `pending` is whether no broker has confirmed what it wants. It last
    spoke `seen_at`, which was `seconds` ago, however late that was taken in.

    `clock` is how its clock was wrong at its last report: that was taken in `heard_at`, and says that it was
    sent `said_at`.

    `said` is how it stands in its own word, `why` in its own lines, of which `left_out` were cut; `modules`
    are those that it runs by its own report; `healthy` is as there. `turned_down` is the generation that it
    refused.

    `refusals` are all the reasons why the mesh refuses it. `unsent` is the newest generation that was heard
    of where that is not from this store: an older copy of the store is in use, or the node was removed and
    added again. `strangers` are the ids of other machines that spoke under its name.
    """

    node: str
    state: NodeState
    wants: int | None = None
    taken: int | None = None
    has: int | None = None
    pending: bool = False
    seen_at: str | None = None
    seconds: float | None = None
    said: Doing | None = None
    why: tuple[str, ...] = ()
    left_out: int = 0
    modules: tuple[str, ...] = ()
    healthy: bool | None = None
    turned_down: int | None = None
    refusals: tuple[Reason, ...] = ()
    unsent: int | None = None
    strangers: tuple[str, ...] = ()
    clock: Clock | None = None
    said_at: str | None = None
    heard_at: str | None = None

    @property
    def to_take(self) -> int | None:
        """The generation that it was sent and has neither taken nor refused."""
        seen = max(self.taken or 0, self.turned_down or 0)
        return self.wants if self.wants is not None and self.wants > seen else None


@frozen(kw_only=True)
class Waiting:
    """What waits at the broker to be taken in: the nodes of which something does.

    `all_asked` is whether there was the time to ask for every node that was meant; `why_not` why nothing is
    known, in words, where the broker did not answer.
    """

    nodes: tuple[str, ...] = field(default=(), converter=sorted_names)
    all_asked: bool = True
    why_not: str | None = None


def states_of_nodes(
    mesh: Mesh, found: Settled, standings: Mapping[str, Standing], since: Since
) -> dict[str, StateOfNode]:
    """How it stands with every node of the mesh, by name, in its order.

    `found` is the resolution of `mesh`. A node without a standing was never sent anything, nor heard.
    """
    refusals: defaultdict[str, list[Reason]] = defaultdict(list)
    for name, outcome in found.resolution.nodes.items():
        if isinstance(outcome, Refusal):
            refusals[name] += outcome.problems
    for fault in found.faults:
        refusals[fault.node].append(fault)
    names = [node.name for node in mesh.nodes]
    return {
        name: _of(standings.get(name, Standing(node=name)), tuple(refusals.get(name, ())), since)
        for name in names
    }


def _of(standing: Standing, refusals: tuple[Reason, ...], since: Since) -> StateOfNode:
    newest, report = standing.newest, standing.report
    said = report if report is not None else Report(node=standing.node, machine="")
    seen_at = standing.seen_at if standing.seen_at is not None else standing.heard_at
    seconds = None if seen_at is None else max(since(seen_at), 0.0)
    return StateOfNode(
        node=standing.node,
        state=_state(standing, seconds, refused=bool(refusals)),
        wants=newest.generation if newest is not None else None,
        taken=said.generation,
        has=said.applied,
        pending=newest is not None and not newest.published,
        seen_at=seen_at,
        seconds=seconds,
        said=said.doing if report is not None else None,
        why=said.why,
        left_out=said.left_out,
        modules=said.modules,
        healthy=said.healthy,
        turned_down=said.refused if said.doing is Doing.REFUSED else None,
        refusals=refusals,
        unsent=_unsent(standing),
        strangers=standing.strangers,
        clock=clock_of(standing),
        said_at=said.at,
        heard_at=standing.heard_at,
    )


def _state(standing: Standing, seconds: float | None, *, refused: bool) -> NodeState:
    """The first of the states that is so."""
    if seconds is None:
        return NodeState.NEVER_SEEN if standing.report is None else NodeState.SILENT
    if seconds >= SILENT_AFTER:
        return NodeState.SILENT
    return NodeState.REFUSED if refused else _by_its_report(standing)


def _by_its_report(standing: Standing) -> NodeState:
    """The state of a node that is there and that the mesh does not refuse.

    What no broker has confirmed it does not have, even where it speaks of that generation: an older copy of
    the store may have given the number again, to something else.
    """
    newest, report = standing.newest, standing.report
    if report is None:
        return NodeState.WAITING  # it has started, and said no more than that
    if newest is None:
        return NodeState(report.doing.value)
    if not newest.published:
        return NodeState.WAITING
    if report.doing is Doing.REFUSED and (report.refused or 0) >= newest.generation:
        return NodeState.REFUSED
    if (report.generation or 0) < newest.generation:
        return NodeState.WAITING
    if report.doing in (Doing.APPLIED, Doing.DRIFTED) and (report.applied or 0) < newest.generation:
        return NodeState.WAITING  # it took it, and speaks of the one before
    return NodeState(report.doing.value)


def _unsent(standing: Standing) -> int | None:
    """The newest generation that was heard of, where this store has not sent it."""
    newest, report = standing.newest, standing.report
    heard = max(report.generation or 0, report.applied or 0) if report is not None else 0
    if newest is None:
        return heard or None
    heard = max(heard, standing.last)
    return heard if heard > newest.generation or standing.given_twice else None
