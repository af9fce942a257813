"""`--keep`: what has to be said beside a change so that what stands goes on standing.

A change can make a choice necessary that was none before: a second module that provides what every node had
pulled in, a second offer of what others take. The nodes that the change would leave without an answer are
given the one they had: an assignment of the module that was pulled in, a pin at the offer that answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mesh_core.change import Assign, Change, SetPin, apply_all
from mesh_core.model.catalogue import Catalogue
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Scope
from mesh_core.model.node import Pin
from mesh_core.model.resolution import Answer, Outcome, Reason, Refusal, Resolution
from mesh_core.problems import AmbiguousInMesh, AmbiguousOnNode, Problem, key
from mesh_core.resolve.resolution import resolve


def keeping(mesh: Mesh, changes: Iterable[Change]) -> tuple[Assign | SetPin, ...]:
    """The assignments and pins that keep the mesh as it stands through the changes; none where none helps.

    They are to be made in the same command as the changes, after them. What they cannot keep is left to be
    told as a consequence. Raises what `apply_all` raises.
    """
    before = resolve(mesh)
    changed = apply_all(mesh, changes)
    said = _said(before, changed, bring_back=True)
    wrong = _problems(before) | _problems(resolve(changed))
    if _problems(resolve(apply_all(changed, said))) <= wrong:
        return said
    # What is brought back does not bear what the changes put in its place.
    return _said(before, changed, bring_back=False)


def _problems(resolution: Resolution) -> set[tuple[str, ...]]:
    return {key(problem) for refusal in resolution.refusals for problem in refusal.problems}


def _said(before: Resolution, changed: Mesh, *, bring_back: bool) -> tuple[Assign | SetPin, ...]:
    """Round by round, since what is kept on one node can be what another takes."""
    said: tuple[Assign | SetPin, ...] = ()
    while True:
        after = resolve(apply_all(changed, said))
        kept = dict.fromkeys(_kept(before, after, changed.catalogue, bring_back=bring_back))
        new = tuple(step for step in kept if step not in said)
        if not new:
            return said
        said += new


def _kept(
    before: Resolution, after: Resolution, catalogue: Catalogue, *, bring_back: bool
) -> Iterator[Assign | SetPin]:
    for outcome in after.outcomes:
        stood = before.nodes.get(outcome.node)
        if stood is None:
            continue
        if isinstance(outcome, Refusal):
            for problem in outcome.problems:
                yield from _bound_again(problem, stood)
        for answer in stood.answers:
            if not answer.every and _is_missed(answer, outcome) and _still_provides(answer, catalogue):
                yield from _answered_again(answer, outcome, before, after, bring_back=bring_back)


def _bound_again(problem: Problem, stood: Outcome) -> Iterator[Assign]:
    """The module that a name was bound to on the node, where there would be a choice now."""
    if isinstance(problem, AmbiguousOnNode):
        for binding in stood.bindings:
            if binding.requires == problem.provision and binding.provider in problem.candidates:
                yield Assign(node=problem.node, module=binding.provider)
                return


def _answered_again(
    answer: Answer, outcome: Outcome, before: Resolution, after: Resolution, *, bring_back: bool
) -> Iterator[Assign | SetPin]:
    """The offer that answered a node: brought back where nothing pulls it in now, and pinned at."""
    provider = after.nodes.get(answer.node)
    if provider is None:
        return
    if answer.module in provider.members:
        yield SetPin(node=outcome.node, pin=_pin_at(answer, outcome))
    elif bring_back and _was_pulled_in(answer, before):
        yield Assign(node=answer.node, module=answer.module)


def _is_missed(answer: Answer, outcome: Outcome) -> bool:
    """Whether a node would have another answer, or none where it still needs one."""
    stands = [a for a in outcome.answers if a.provision == answer.provision and not a.every]
    if stands:
        return (stands[0].node, stands[0].module) != (answer.node, answer.module)
    problems = outcome.problems if isinstance(outcome, Refusal) else ()
    return any(getattr(problem, "provision", None) == answer.provision for problem in problems)


def _still_provides(answer: Answer, catalogue: Catalogue) -> bool:
    module = catalogue.get(answer.module)
    provides = module.provides if module else ()
    return any(p.name == answer.provision and p.scope is Scope.MESH for p in provides)


def _was_pulled_in(answer: Answer, before: Resolution) -> bool:
    placed = before.nodes[answer.node].placed
    return any(m.name == answer.module and m.reason is Reason.PULLED_IN for m in placed)


def _pin_at(answer: Answer, outcome: Outcome) -> Pin:
    """A pin at the node that answered; at the module on it too, where the node has several offers."""
    problems = outcome.problems if isinstance(outcome, Refusal) else ()
    there = [
        offer
        for problem in problems
        if isinstance(problem, AmbiguousInMesh) and problem.provision == answer.provision
        for offer in problem.candidates
        if offer.node == answer.node
    ]
    module = answer.module if len(there) > 1 else None
    return Pin(provision=answer.provision, node=answer.node, module=module)
