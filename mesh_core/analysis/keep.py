"""`--keep`: what has to be said beside a change so that what stands goes on standing.

A change can make a choice necessary that was none before: a second module that provides what every node had
pulled in, a second offer of what others take. The nodes that the change would leave without an answer are
given the one they had: an assignment of the module that was pulled in, a pin at the offer that answered.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from mesh_core.change import Assign, Change, SetPin, apply_all
from mesh_core.model.mesh import Mesh
from mesh_core.model.node import Pin
from mesh_core.model.resolution import Answer, Outcome, Resolution
from mesh_core.problems import AmbiguousInMesh, AmbiguousOnNode, Problem
from mesh_core.resolve.resolution import resolve


def keeping(mesh: Mesh, changes: Iterable[Change]) -> tuple[Assign | SetPin, ...]:
    """The assignments and pins that keep the mesh as it stands through the changes; none where none helps.

    They are to be made in the same command as the changes, after them. What they cannot keep is left to be
    told as a consequence. Raises what `apply_all` raises.
    """
    before = resolve(mesh)
    changed = apply_all(mesh, changes)
    said: tuple[Assign | SetPin, ...] = ()
    while True:
        after = resolve(apply_all(changed, said))
        new = tuple(step for step in _kept(before, after) if step not in said)
        if not new:
            return said
        said += new


def _kept(before: Resolution, after: Resolution) -> Iterator[Assign | SetPin]:
    for refusal in after.refusals:
        stood = before.nodes.get(refusal.node)
        if stood is not None:
            for problem in refusal.problems:
                yield from _answer_again(problem, stood)


def _answer_again(problem: Problem, stood: Outcome) -> Iterator[Assign | SetPin]:
    if isinstance(problem, AmbiguousOnNode):
        for binding in stood.bindings:
            if binding.requires == problem.provision and binding.provider in problem.candidates:
                yield Assign(node=problem.node, module=binding.provider)
                return
    if isinstance(problem, AmbiguousInMesh):
        for answer in stood.answers:
            if answer.provision == problem.provision and not answer.every:
                yield from _pin_at(problem, answer)


def _pin_at(problem: AmbiguousInMesh, answer: Answer) -> Iterator[SetPin]:
    """A pin at the node that answered; at the module on it too, where the node has several offers."""
    there = [offer.module for offer in problem.candidates if offer.node == answer.node]
    if answer.module in there:
        module = answer.module if len(there) > 1 else None
        pin = Pin(provision=answer.provision, node=answer.node, module=module)
        yield SetPin(node=problem.node, pin=pin)
