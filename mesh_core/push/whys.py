"""The rules by which a plan waits although its node is not refused: one function for each."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Scope
from mesh_core.model.resolution import Plan
from mesh_core.model.sent import Sent, Standing
from mesh_core.push.content import last_offer
from mesh_core.push.outcomes import ClaimHeld, Moved, NeedsWord, UnsettledTake
from mesh_core.reconcile import most_removed


def unsettled_takes(plan: Plan, standings: Mapping[str, Standing]) -> Iterator[UnsettledTake]:
    """The takes from refused nodes that nobody could serve.

    > `push` sends the declaration if the newest one sent to the refused node has a manifest that offers what
    > is taken, and otherwise holds it until it has; an unsettled take from every is left out of the
    > declaration instead.
    """
    for take in plan.unsettled:
        if not take.every and last_offer(take, standings) is None:
            yield UnsettledTake(provision=take.provision, node=take.node, module=take.module)


def claims_held(sent: Sent, standings: Mapping[str, Standing], mesh: Mesh) -> Iterator[ClaimHeld]:
    """The mesh-scoped claims that another node has not let go yet.

    > A mesh-scoped claim that moves has to be let go before it is taken: a declaration that claims,
    > mesh-wide, what another node's last applied or last sent declaration still holds waits until that node
    > has reported letting go.
    """
    for held in sent.claims:
        for node, standing in sorted(standings.items()):
            holds = standing.holding | _held_by_its_report(standing, mesh)
            if node != sent.node and held.claim in holds:
                yield ClaimHeld(claim=held.claim, module=held.module, node=node)


def _held_by_its_report(standing: Standing, mesh: Mesh) -> frozenset[str]:
    """What a machine holds by what it reports, where it took what this store did not send.

    The catalogue may be another than that copy's; nothing else is known here.
    """
    if standing.report is None or not standing.taken_of_others:
        return frozenset()
    modules = [mesh.catalogue.get(name) for name in standing.report.modules]
    return frozenset(
        claim.name
        for module in modules
        if module is not None
        for claim in module.claims
        if claim.scope is Scope.MESH
    )


def moves(sent: Sent, newest: Sent | None) -> tuple[Moved, ...]:
    """The answers from one provider that are others than were declared last; a new question is no move."""
    before = {answer.provision: answer for answer in newest.answers} if newest is not None else {}
    return tuple(
        Moved(before=before[answer.provision], after=answer)
        for answer in sent.answers
        if before.get(answer.provision, answer) != answer
    )


def removals(sent: Sent, standing: Standing) -> Iterator[NeedsWord]:
    """Whether a host would refuse this without the word for it.

    > refuses to remove more than max(5, 20 %) of what it owns without the control plane's word for that
    > generation

    What a machine owns is what any declaration said that it has not reported past: it may be at either.
    """
    if sent.allow_removals:
        return
    known = {identity for one in standing.sent for identity in one.resources}
    going = tuple(sorted(known.difference(sent.resources)))
    most = most_removed(len(known))
    if len(going) > most or not sent.modules:
        yield NeedsWord(going=going, known=len(known), most=most, empty=not sent.modules)
