"""What to do first, so that a change that is refused can be made."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from attrs import evolve, frozen

from mesh_core.analysis.fixes import fixes_for_all
from mesh_core.analysis.proposal import Proposal, propose
from mesh_core.analysis.what_if import Step, WhatIf
from mesh_core.change import Change, NoSuchNode, PutNode, Report
from mesh_core.model.node import Capability, Node, Verdict
from mesh_core.problems import MissingCapability

# Every try is paid for with the whole mesh, resolved: in a large one that is felt.
_REFUSALS, _STEPS_EACH, _TRIED = 3, 20, 3


def preparations(proposal: Proposal, shown: int = 2) -> tuple[Step, ...]:
    """Up to `shown` steps after each of which the proposal does no harm, and which do none themselves.

    Each was tried: the step is made on the mesh as it was, and the proposal's changes after it.
    """
    candidates = islice(_candidates(proposal), _TRIED)
    return tuple(islice((step for step in candidates if _prepares(step, proposal)), shown))


@frozen(kw_only=True)
class Unsaid:
    """What a machine has not said of itself, and would have to have; only a person can know if it does."""

    node: str
    capabilities: tuple[str, ...]


def unsaid(proposal: Proposal) -> tuple[Unsaid, ...]:
    """What machines would have to report first, so that the proposal does no harm.

    None where that would not do, or where a machine did say that it lacks it. It was tried as a step is.
    """
    lacking: dict[str, set[str]] = {}
    for refusal in proposal.consequences.refused:
        for problem in refusal.problems:
            if not isinstance(problem, MissingCapability) or problem.verdict is Verdict.ABSENT:
                return ()
            lacking.setdefault(refusal.node, set()).add(problem.capability)
    nodes = [node for node in proposal.before.nodes if node.name in lacking]
    if not nodes:
        return ()
    reports = {node.name: _with(node, lacking[node.name]) for node in nodes}
    first = propose(proposal.before, reports.values())
    then = propose(first.after, [_beside(change, reports) for change in proposal.changes])
    if then.consequences.harmful:
        return ()
    return tuple(Unsaid(node=name, capabilities=tuple(sorted(lacking[name]))) for name in reports)


def _with(node: Node, capabilities: set[str]) -> Report:
    others = [said for said in node.capabilities or () if said.name not in capabilities]
    return Report(node=node.name, capabilities=[*others, *(Capability(name=name) for name in capabilities)])


def _beside(change: Change, reports: dict[str, Report]) -> Change:
    """The change as it would be after the reports: a whole entry leaves what a machine said of itself."""
    if isinstance(change, PutNode) and change.node.name in reports:
        said = reports[change.node.name].capabilities
        return PutNode(node=evolve(change.node, capabilities=said))
    return change


def _candidates(proposal: Proposal) -> Iterator[Step]:
    """What would mend the nodes that the proposal would refuse."""
    if not proposal.consequences.refused:
        return
    what_if = WhatIf(proposal.after)
    seen: set[Step] = set()
    for refusal in proposal.consequences.refused[:_REFUSALS]:
        for _, fixes in fixes_for_all(refusal.problems, what_if, tries=_STEPS_EACH):
            for fix in fixes.found:
                if fix not in seen:
                    seen.add(fix)
                    yield fix


def _prepares(step: Step, proposal: Proposal) -> bool:
    try:
        first = propose(proposal.before, (step,))
        then = propose(first.after, proposal.changes)
    except NoSuchNode:  # the step is said of a node that only the proposal would add
        return False
    return not first.consequences.harmful and not then.consequences.harmful
