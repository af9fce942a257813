"""Decide what a push comes to, for each node (design, parts 3, 8 and 11)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping

from attrs import field, frozen

from mesh_core.analysis.material import Settled
from mesh_core.canonical import canonical_json
from mesh_core.declare import declare
from mesh_core.explain.declaration import largest
from mesh_core.model.declaration import Declaration
from mesh_core.model.mesh import Mesh
from mesh_core.model.network import DeclaredNetwork
from mesh_core.model.resolution import Plan
from mesh_core.model.sent import Sent, Standing
from mesh_core.network.overlay import overlay
from mesh_core.push.content import Digests, kept_takes, last_exports, sent_of
from mesh_core.push.outcomes import (
    Held,
    Moved,
    NothingToSay,
    Outcome,
    Send,
    TooLarge,
    TurnedDown,
    Unchanged,
    Why,
)
from mesh_core.push.whys import claims_held, moves, removals, unsettled_takes
from mesh_core.wire.declaration import declaration_to_data
from mesh_core.wire.text import DECLARATION_LIMIT


def _frozen(given: Collection[str]) -> frozenset[str]:
    return frozenset(given)


def _pairs(given: Collection[tuple[str, str]]) -> frozenset[tuple[str, str]]:
    return frozenset(given)


@frozen(kw_only=True)
class Words:
    """What somebody says along with a push: nothing else makes a machine give up much, or data move.

    `moves` are pairs of node and provision whose answer may be another than before; the nodes of
    `allow_removals` may take off as much as they have to.
    """

    moves: frozenset[tuple[str, str]] = field(default=frozenset(), converter=_pairs)
    allow_removals: frozenset[str] = field(default=frozenset(), converter=_frozen)


def decide(
    mesh: Mesh,
    found: Settled,
    standings: Mapping[str, Standing],
    words: Words,
    nodes: Collection[str] | None = None,
) -> dict[str, Outcome]:
    """The outcome of each node, by name: of all, or of those that are asked for.

    `found` is the resolution of `mesh`. Nodes that are not asked for still count: what they were sent, and
    what they hold, is looked at.
    """
    deciding = _Deciding(mesh, found, standings, words)
    return {name: deciding.of(name) for name in found.resolution.nodes if nodes is None or name in nodes}


class _Deciding:
    def __init__(self, mesh: Mesh, found: Settled, standings: Mapping[str, Standing], words: Words) -> None:
        self._mesh = mesh
        self._found = found
        self._standings = standings
        self._words = words
        self._digests = Digests()
        self._networks: Mapping[str, DeclaredNetwork] = {}
        if mesh.network is not None:
            kept = kept_takes({*found.refused, *self._who_waits()}, standings)
            self._networks = overlay(mesh, found.resolution, kept).networks

    def of(self, node: str) -> Outcome:
        plan = self._found.resolution.nodes[node]
        standing = self._standings.get(node, Standing(node=node))
        newest = standing.newest
        if not isinstance(plan, Plan) or node in self._found.refused:
            return TurnedDown(keeps=newest.generation if newest is not None else None)
        if not plan.modules and newest is None and standing.report is None:
            return NothingToSay()
        declaration = self._declaration(plan, standing)
        sent = sent_of(declaration, self._mesh, self._digests)
        if newest is not None and self._says_the_same(sent, newest, standing):
            return Unchanged(generation=newest.generation)
        return self._sent_or_held(plan, declaration, sent, standing)

    def _declaration(self, plan: Plan, standing: Standing) -> Declaration:
        """> an unsettled take is rendered with the exports that the provider was last sent"""
        return declare(
            plan,
            self._mesh,
            generation=standing.last + 1,
            allow_removals=plan.node in self._words.allow_removals,
            exports=last_exports(plan, self._standings),
            network=self._networks.get(plan.node),
        )

    def _who_waits(self) -> Iterator[str]:
        """Those that keep takes which no plan has any more: who they are from is to keep them as peers.

        What a node is told of the overlay is no reason to wait, so this is known before it.
        """
        for plan in self._found.resolution.plans:
            standing = self._standings.get(plan.node, Standing(node=plan.node))
            taken = {(plan.node, take.node) for take in plan.takes}
            if not taken.issuperset(kept_takes([plan.node], self._standings)):
                sent = sent_of(self._declaration(plan, standing), self._mesh, self._digests)
                if self._whys(plan, sent, standing):
                    yield plan.node

    def _says_the_same(self, sent: Sent, newest: Sent, standing: Standing) -> bool:
        """The same content is sent again only to bring a word that was missing before."""
        if sent.fingerprint != newest.fingerprint or standing.given_twice:
            return False
        brings_word = sent.allow_removals and not newest.allow_removals
        return not brings_word or standing.released == newest.generation

    def _sent_or_held(self, plan: Plan, declaration: Declaration, sent: Sent, standing: Standing) -> Outcome:
        body = canonical_json(declaration_to_data(declaration)).encode()
        whys = (*self._whys(plan, sent, standing), *_too_large(declaration, body))
        if whys:
            return Held(whys=whys)
        return Send(declaration=declaration, sent=sent, body=body, meant=moves(sent, standing.newest))

    def _whys(self, plan: Plan, sent: Sent, standing: Standing) -> tuple[Why, ...]:
        """Why it waits, but for how large it is."""
        moved = moves(sent, standing.newest)
        return (
            *unsettled_takes(plan, self._standings),
            *claims_held(sent, self._standings, self._mesh),
            *(move for move in moved if not self._is_meant(plan.node, move)),
            *removals(sent, standing),
        )

    def _is_meant(self, node: str, move: Moved) -> bool:
        """> a push does not send a moved answer unless it is pinned or the push says so"""
        known = self._mesh.node(node)
        pinned = known is not None and any(pin.provision == move.after.provision for pin in known.pins)
        return pinned or (node, move.after.provision) in self._words.moves


def _too_large(declaration: Declaration, body: bytes) -> tuple[TooLarge, ...]:
    if len(body) <= DECLARATION_LIMIT:
        return ()
    return (TooLarge(size=len(body), limit=DECLARATION_LIMIT, largest=tuple(largest(declaration))),)
