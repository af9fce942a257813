"""What one change of a node would do to a resolved mesh, without resolving all of it again.

Law 7, *Locality*, says whom a change can touch: the node itself, those that ask for a name whose offers
change, and those that hold a mesh-scoped claim whose holders change. Only they are worked out again.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping

from attrs import evolve, frozen

from mesh_core.change import Assign, SetPin, Unassign, Unpin, apply_to_node
from mesh_core.model.mesh import Mesh
from mesh_core.model.resolution import Answer
from mesh_core.problems import Offer, key
from mesh_core.resolve.answers import World
from mesh_core.resolve.offers import Footing
from mesh_core.resolve.resolution import Finding, Workings, find, work_out

Step = Assign | Unassign | SetPin | Unpin
"""The changes that a person can say of a node, and so the ones that can mend a refusal."""

Key = tuple[str, ...]


@frozen(kw_only=True)
class Move:
    """An answer from one provider that would live elsewhere after a change."""

    node: str
    provision: str
    before: Offer
    after: Offer


class WhatIf:
    """A resolved mesh that can be asked what a step would do."""

    def __init__(self, mesh: Mesh) -> None:
        self.mesh = mesh
        self.workings: Workings = work_out(mesh)
        self._keys = {name: _keys(finding) for name, finding in self.workings.findings.items()}
        self._askers: dict[str, set[str]] = defaultdict(set)
        for name, footing in self.workings.footings.items():
            for ask in footing.asks:
                self._askers[ask.provision].add(name)

    def mends(self, problem: Key, step: Step) -> bool:
        """Whether a step removes the problem and adds none.

        `problem` is the key of a problem that stands (`problems.key`). Stops at the first problem added.
        """
        mended = False
        for after in self._findings_after(step, first=problem[0]):
            before, after_keys = self._keys[after.node], _keys(after)
            if after_keys - before:
                return False
            if after.node == problem[0]:
                mended = problem not in after_keys
            if not mended:
                return False
        return mended

    def _findings_after(self, step: Step, first: str) -> Iterator[Finding]:
        """What pass two finds of every node that a step can touch; `first` comes first, if at all."""
        node = self.mesh.node(step.node)
        if node is None:
            return
        changed = apply_to_node(node, step)
        before = self.workings.footings[step.node]
        after = self.workings.pass_one.footing(changed.assigned)
        world, touched = self._world_after(step.node, before, after)
        for name in sorted(touched, key=lambda name: (name != first, name != step.node, name)):
            if name == step.node:
                yield find(changed, after, world)
            else:
                other = self.mesh.node(name)
                assert other is not None, "who asks or holds is a node of the mesh"
                yield find(other, self.workings.footings[name], world)

    def _world_after(self, node: str, before: Footing, after: Footing) -> tuple[World, set[str]]:
        world = self.workings.world
        offers, offered = _overlaid(world.offers, node, before.offers, after.offers)
        holders, held = _overlaid(world.holders, node, before.holds, after.holds)
        touched = {node}.union(*(self._askers.get(name, ()) for name in offered))
        touched |= {holder.node for claim in held for holder in holders[claim]}
        return evolve(world, offers=offers, holders=holders), touched


def _keys(finding: Finding) -> frozenset[Key]:
    return frozenset(map(key, finding.problems))


def _overlaid(
    standing: Mapping[str, tuple[Offer, ...]],
    node: str,
    before: tuple[tuple[str, str], ...],
    after: tuple[tuple[str, str], ...],
) -> tuple[Mapping[str, tuple[Offer, ...]], set[str]]:
    """Who stands behind each name once a node has other pairs, and the names for which that is new."""
    names = {name for name, _ in set(before) ^ set(after)}
    if not names:
        return standing, names
    overlaid = dict(standing)
    for name in names:
        others = [offer for offer in standing.get(name, ()) if offer.node != node]
        own = [Offer(node=node, module=module) for said, module in after if said == name]
        overlaid[name] = tuple(sorted(others + own, key=lambda offer: (offer.node, offer.module)))
    return overlaid, names


def moves_of(before: tuple[Answer, ...], after: tuple[Answer, ...], node: str) -> tuple[Move, ...]:
    """The answers from one provider of a node that are others after than before."""
    stood = {answer.provision: _offer(answer) for answer in before if not answer.every}
    return tuple(
        Move(node=node, provision=a.provision, before=stood[a.provision], after=_offer(a))
        for a in after
        if not a.every and stood.get(a.provision, _offer(a)) != _offer(a)
    )


def _offer(answer: Answer) -> Offer:
    return Offer(node=answer.node, module=answer.module)
