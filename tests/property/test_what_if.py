"""What a step would do, worked out for the nodes that it can touch, is what full resolution says of all.

> what n gets depends only on n's own entry, on whether the nodes it is pinned at exist, on the manifests of
> S(n), the modules in the catalogue that provide the names these require, the offers of those names, the
> holders of their mesh-scoped claims (design, part 3, law 7, *Locality*)
"""

from collections.abc import Iterator

from hypothesis import event, given, settings
from hypothesis import strategies as st

from mesh_core import (
    Assign,
    Mesh,
    Pin,
    Resolution,
    Scope,
    SetPin,
    Unassign,
    Unpin,
    apply,
    resolve,
)
from mesh_core.analysis.what_if import Move, Step, WhatIf
from mesh_core.problems import Offer
from mesh_core.testing import meshes
from tests.unit.analysis.builders import keys


def every_step(mesh: Mesh) -> Iterator[Step]:
    """Every assignment, unassignment, pin and unpinning that a person could say of the mesh."""
    every_pin = [*_every_pin(mesh)]
    for node in mesh.nodes:
        yield from (Unassign(node=node.name, module=name) for name in node.assigned)
        yield from (Unpin(node=node.name, provision=pin.provision) for pin in node.pins)
        yield from (SetPin(node=node.name, pin=pin) for pin in every_pin if pin not in node.pins)
        for module in mesh.catalogue:
            if module.name not in node.assigned:
                yield Assign(node=node.name, module=module.name)


def _every_pin(mesh: Mesh) -> Iterator[Pin]:
    """At every node, and at every module that provides the name, whether it is there or not."""
    for node in mesh.nodes:
        for module in mesh.catalogue:
            for provision in module.provides:
                if provision.scope is Scope.MESH:
                    yield Pin(provision=provision.name, node=node.name, module=module.name)
                    yield Pin(provision=provision.name, node=node.name)


def moves(before: Resolution, after: Resolution) -> set[Move]:
    """The answers from one provider that are others after than before, of any node."""
    found = set()
    for node, outcome in after.nodes.items():
        stood = {a.provision: a for a in before.nodes[node].answers if not a.every}
        for answer in outcome.answers:
            old = stood.get(answer.provision)
            if old and not answer.every and (old.node, old.module) != (answer.node, answer.module):
                found.add(
                    Move(
                        node=node,
                        provision=answer.provision,
                        before=Offer(node=old.node, module=old.module),
                        after=Offer(node=answer.node, module=answer.module),
                    )
                )
    return found


@given(mesh=meshes(), data=st.data())
@settings(max_examples=3 * settings().max_examples)
def test_what_a_step_mends_is_what_resolution_says(mesh: Mesh, data: st.DataObject) -> None:
    """> Whether a step removes the problem and adds none.

    And whatever does moves no answer: so a fix needs no --anyway.
    """
    before = resolve(mesh)
    standing = keys(before)
    steps = [*every_step(mesh)]
    if not standing or not steps:
        return
    what_if = WhatIf(mesh)
    for step in data.draw(st.lists(st.sampled_from(steps), min_size=1, max_size=25, unique=True)):
        after = resolve(apply(mesh, step))
        left = keys(after)
        for problem in standing:
            mends = left <= standing and problem not in left
            assert what_if.mends(problem, step) is mends
            if mends:
                event("mends")
                assert not moves(before, after)
    assert what_if.workings.resolution() == before, "asking changes nothing"


@given(mesh=meshes(), data=st.data())
def test_only_a_pin_moves_an_answer_and_only_its_own(mesh: Mesh, data: st.DataObject) -> None:
    """> adding assignments leaves the node and module of a mesh-scoped answer from one provider as they are
    > or refuses; it never makes it another. A pin never falls back. (law 5)

    Nor does one unassignment, or unpinning: what is left of the candidates was among them before.
    """
    steps = [*every_step(mesh)]
    if not steps:
        return
    before = resolve(mesh)
    for step in data.draw(st.lists(st.sampled_from(steps), min_size=1, max_size=25, unique=True)):
        found = moves(before, resolve(apply(mesh, step)))
        if isinstance(step, SetPin):
            assert {(move.node, move.provision) for move in found} <= {(step.node, step.pin.provision)}
        else:
            assert not found
