"""Did my change go out? The way of a module from its source to each machine, rung by rung (design, part 10).

commit    the head of its source, as last seen
built     the newest manifest that was built, and the commit that it was built from
declared  what each node was sent last
applied   what each node made so, by its own report
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from enum import StrEnum

from attrs import frozen

from mesh_core.analysis.state_of_modules import StateOfModule, applied_of
from mesh_core.model.origin import Put
from mesh_core.model.sent import Sent, Standing
from mesh_core.wire.declaration import on_machine


class Rung(StrEnum):
    """How far what the catalogue has of a module has come on one node; the first that is so."""

    APPLIED = "applied"
    """The machine runs it by its own report."""
    SENT = "sent"
    """It was sent, and the machine has not reported that it runs it."""
    PENDING = "pending"
    """It is written down for the node, and no broker has confirmed it."""
    PLANNED = "planned"
    """The node is to have it, and was not sent it: the next push does."""
    LEAVING = "leaving"
    """The node is not to have it any more, and has not reported letting go."""


@frozen(kw_only=True)
class OnNode:
    """How far a module has come on one node.

    `wanted` is the generation that was sent last, `has` the one that was last applied. `runs` is what the
    machine runs by its last report, and where that came from; None where it runs none, or nobody knows
    which.
    """

    node: str
    rung: Rung
    wanted: int | None
    has: int | None
    runs: Put | None


def ladder(
    state: StateOfModule, planned: Iterable[str], standings: Mapping[str, Standing], puts: Sequence[Put]
) -> tuple[OnNode, ...]:
    """How far a module has come on each node that is to have it, was sent it or runs it, by name.

    `planned` are the nodes that are to have it; `puts` is everything that was ever current of it, oldest
    first.
    """
    digest = None if state.put is None else on_machine(state.put.manifest)
    known = {on_machine(put.manifest): put for put in puts}
    runs = {one.node: one.digest for one in state.on}
    whole = {one.node for one in state.on if not one.failed}
    wanted = set(planned)
    sent = {node for node, standing in standings.items() if _digest(standing.newest, state.name) is not None}
    return tuple(
        OnNode(
            node=node,
            rung=_rung(state.name, digest, standings[node], wants=node in wanted, runs=node in whole),
            wanted=_generation(standings[node]),
            has=_applied(standings[node]),
            runs=known.get(runs.get(node) or ""),
        )
        for node in sorted((wanted | sent | runs.keys()) & standings.keys())
    )


def _generation(standing: Standing) -> int | None:
    return None if standing.newest is None else standing.newest.generation


def _applied(standing: Standing) -> int | None:
    return None if standing.report is None else standing.report.applied


def _digest(sent: Sent | None, module: str) -> str | None:
    return None if sent is None else dict(sent.manifests).get(module)


def _rung(name: str, digest: str | None, standing: Standing, *, wants: bool, runs: bool) -> Rung:
    if not wants:
        return Rung.LEAVING
    if runs and digest is not None and _digest(applied_of(standing), name) == digest:
        return Rung.APPLIED
    if digest is None or _digest(standing.newest, name) != digest or standing.newest is None:
        return Rung.PLANNED
    return Rung.SENT if standing.newest.published else Rung.PENDING
