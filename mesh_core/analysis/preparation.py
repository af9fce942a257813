"""What to do first, so that a change that is refused can be made."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from mesh_core.analysis.fixes import fixes_for_all
from mesh_core.analysis.proposal import Proposal, propose
from mesh_core.analysis.what_if import Step, WhatIf
from mesh_core.change import NoSuchNode

# Every try is paid for with the whole mesh, resolved: in a large one that is felt.
_REFUSALS, _STEPS_EACH, _TRIED = 3, 20, 3


def preparations(proposal: Proposal, shown: int = 2) -> tuple[Step, ...]:
    """Up to `shown` steps after each of which the proposal does no harm, and which do none themselves.

    Each was tried: the step is made on the mesh as it was, and the proposal's changes after it.
    """
    candidates = islice(_candidates(proposal), _TRIED)
    return tuple(islice((step for step in candidates if _prepares(step, proposal)), shown))


def _candidates(proposal: Proposal) -> Iterator[Step]:
    """What would mend the nodes that the proposal would refuse."""
    if not proposal.consequences.refused:
        return
    what_if = WhatIf(proposal.after)
    seen: set[Step] = set()
    for refusal in proposal.consequences.refused[:_REFUSALS]:
        for _, fixes in fixes_for_all(refusal.problems, what_if, tries=_STEPS_EACH):
            for fix in fixes.found:
                if fix.step not in seen:
                    seen.add(fix.step)
                    yield fix.step


def _prepares(step: Step, proposal: Proposal) -> bool:
    try:
        first = propose(proposal.before, (step,))
        then = propose(first.after, proposal.changes)
    except NoSuchNode:  # the step is said of a node that only the proposal would add
        return False
    return not first.consequences.harmful and not then.consequences.harmful
