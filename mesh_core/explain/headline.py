"""The headline of a problem: what is wrong, on which node, in one sentence."""

from __future__ import annotations

from typing import assert_never

from mesh_core.explain.words import both, counted, offer, some, verb
from mesh_core.model.node import Verdict
from mesh_core.problems import (
    AmbiguousInMesh,
    AmbiguousOnNode,
    ClaimedElsewhere,
    ClaimedTwice,
    Cycle,
    MissingCapability,
    NoProvider,
    PinUnsatisfied,
    Problem,
    ResourceConflict,
    UnknownModule,
)


def headline(problem: Problem) -> str:  # noqa: C901, PLR0911, PLR0912 - a case for each problem
    """A problem in one sentence: the node, who needs what, and why it is not had."""
    match problem:
        case UnknownModule():
            assigned = f"{problem.module!r} is assigned to {problem.node}"
            return f"{assigned}, and no module in the catalogue has that name"
        case NoProvider(scope=None):
            return f"{_need(problem)}, and no module in the catalogue provides it"
        case NoProvider():
            return f"{_need(problem)} (scope mesh), and no node runs a provider"
        case AmbiguousOnNode():
            modules = both(problem.candidates)
            return f"{_need(problem)}, which {modules} provide, and none of them is on {problem.node}"
        case AmbiguousInMesh(pin=None):
            return f"{_need(problem)}, and {_several(problem)}"
        case AmbiguousInMesh():
            at = problem.candidates[0].node
            modules = both([candidate.module for candidate in problem.candidates])
            pinned = f"{problem.node} is pinned to take {problem.provision!r} from {at}"
            return f"{pinned}, where several modules provide it: {modules}"
        case PinUnsatisfied():
            pinned = f"{problem.node} is pinned to take {problem.provision!r} from {problem.pin.target}"
            if problem.exists:
                return f"{pinned}, and {_not_providing(problem)} does not provide it"
            return f"{pinned}, and there is no node {problem.pin.node}"
        case MissingCapability():
            return _missing(problem)
        case ClaimedTwice():
            all_of = "both" if len(problem.modules) == 2 else "all"
            return f"{both(problem.modules)} on {problem.node} {all_of} claim {problem.claim!r}"
        case ClaimedElsewhere():
            holders = both([offer(holder) for holder in problem.candidates])
            holds = verb([h.node for h in problem.candidates], "holds", "hold")
            claim = f"{problem.module} on {problem.node} claims {problem.claim!r} (scope mesh)"
            return f"{claim}, and {holders} {holds} it"
        case ResourceConflict():
            return (
                f"{both(problem.modules)} on {problem.node} declare {problem.resource} with different content"
            )
        case Cycle():
            return f"{both(problem.modules)} on {problem.node} wait for each other"
        case _:
            assert_never(problem)


def _need(problem: NoProvider | AmbiguousOnNode | AmbiguousInMesh) -> str:
    needs = verb(problem.required_by, "needs", "need")
    return f"{both(problem.required_by)} on {problem.node} {needs} {problem.provision!r}"


def _several(problem: AmbiguousInMesh) -> str:
    offers = some([offer(candidate) for candidate in problem.candidates])
    nodes = {candidate.node for candidate in problem.candidates}
    if len(nodes) == len(problem.candidates):
        return f"{len(nodes)} nodes provide it: {offers}"
    return f"{len(problem.candidates)} modules on {counted(len(nodes), 'node')} provide it: {offers}"


def _not_providing(problem: PinUnsatisfied) -> str:
    if problem.pin.module is None:
        return problem.pin.node
    return f"{problem.pin.module} on {problem.pin.node}"


def _missing(problem: MissingCapability) -> str:
    node, need = problem.node, f"{problem.module} on {problem.node} needs {problem.capability!r}"
    match problem.verdict:
        case Verdict.ABSENT:
            return f"{need}, which {node} reported absent"
        case Verdict.UNREPORTED:
            return f"{need}, which {node} did not report (it counts as absent until it does)"
        case Verdict.NEVER_REPORTED:
            return f"{need}; {node} has never reported (it counts as having nothing until it does)"
        case _:
            assert_never(problem.verdict)
