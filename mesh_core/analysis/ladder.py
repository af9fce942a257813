"""Did my change go out? The way of a module from its source to each machine, rung by rung (design, part 10).

commit    the head of its source, as last seen
built     the newest manifest that was built, and the commit that it was built from
declared  what each node was sent last
applied   what each node made so, by its own report
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum

from attrs import frozen

from mesh_core.analysis.state_of_modules import StateOfModule, applied_of, running
from mesh_core.delivery import Delivery
from mesh_core.model.origin import Put
from mesh_core.model.sent import Sent, Standing
from mesh_core.model.source import Seen
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
    KEPT = "kept"
    """The mesh refuses the node, which keeps what it was sent before."""


@frozen(kw_only=True)
class Whose:
    """Which modules each node is to have, or would if it were not refused; and who counts as refused."""

    meant: Mapping[str, frozenset[str]]
    refused: frozenset[str] = frozenset()


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
    state: StateOfModule, whose: Whose, standings: Mapping[str, Standing], puts: Sequence[Put]
) -> tuple[OnNode, ...]:
    """How far a module has come on each node that is to have it, was sent it or runs it, by name.

    `puts` is everything that was ever current of it, oldest first.
    """
    climb = _Climb(state, puts)
    meant = {node for node, modules in whose.meant.items() if state.name in modules}
    sent = {node for node, standing in standings.items() if _digest(standing.newest, state.name) is not None}
    nodes = sorted((meant | sent | climb.on.keys()) & standings.keys())
    return tuple(climb.on_node(whose, standings[node]) for node in nodes)


def modules_of(
    states: Mapping[str, StateOfModule],
    whose: Whose,
    standing: Standing,
    puts: Callable[[str], Sequence[Put]],
) -> tuple[tuple[StateOfModule, OnNode], ...]:
    """How far each module has come that one node is to have, was sent or runs, by name.

    `states` are those of all modules, and `puts` gives everything that was ever current of one.
    """
    sent = () if standing.newest is None else (module for module, _ in standing.newest.manifests)
    runs = () if standing.report is None else standing.report.modules
    names = sorted({*whose.meant.get(standing.node, ()), *sent, *runs})
    found = [states.get(name) or _dropped(name, standing) for name in names]
    return tuple((state, _Climb(state, puts(state.name)).on_node(whose, standing)) for state in found)


def _dropped(name: str, standing: Standing) -> StateOfModule:
    """One that is in the catalogue no more, and on a machine still."""
    on = tuple(running([standing]).get(name, ()))
    return StateOfModule(name=name, put=None, source=None, seen=Seen(), delivery=Delivery.NO_SOURCE, on=on)


class _Climb:
    """What is known of one module, held against each node."""

    def __init__(self, state: StateOfModule, puts: Sequence[Put]) -> None:
        self._state = state
        self._digest = None if state.put is None else on_machine(state.put.manifest)
        self._known = {on_machine(put.manifest): put for put in puts}
        self.on = {one.node: one for one in state.on}

    def on_node(self, whose: Whose, standing: Standing) -> OnNode:
        here = self.on.get(standing.node)
        return OnNode(
            node=standing.node,
            rung=self._rung(whose, standing, whole=here is not None and not here.failed),
            wanted=_generation(standing),
            has=_applied(standing),
            runs=None if here is None or here.digest is None else self._known.get(here.digest),
        )

    def _rung(self, whose: Whose, standing: Standing, *, whole: bool) -> Rung:
        name, digest = self._state.name, self._digest
        if standing.node in whose.refused:
            return Rung.KEPT
        if name not in whose.meant.get(standing.node, ()):
            return Rung.LEAVING
        if whole and digest is not None and _digest(applied_of(standing), name) == digest:
            return Rung.APPLIED
        if digest is None or _digest(standing.newest, name) != digest or standing.newest is None:
            return Rung.PLANNED
        return Rung.SENT if standing.newest.published else Rung.PENDING


def _generation(standing: Standing) -> int | None:
    return None if standing.newest is None else standing.newest.generation


def _applied(standing: Standing) -> int | None:
    return None if standing.report is None else standing.report.applied


def _digest(sent: Sent | None, module: str) -> str | None:
    return None if sent is None else dict(sent.manifests).get(module)
