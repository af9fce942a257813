"""Changes (design, part 7): applied, written down, worked out between two meshes, and kept from doing harm.

> commands, verified fixes, the event log, what-if and undo are all made of it.
"""

from collections.abc import Iterator

from attrs import evolve
from hypothesis import event, given, settings
from hypothesis import strategies as st

from mesh_core import (
    Assign,
    Capability,
    Catalogue,
    Change,
    DropNode,
    InvalidValue,
    Mesh,
    Module,
    Node,
    Pin,
    PutModule,
    PutNode,
    Resolution,
    SetPin,
    apply,
    apply_all,
    resolve,
)
from mesh_core.analysis.consequences import consequences
from mesh_core.analysis.difference import difference
from mesh_core.analysis.keep import keeping
from mesh_core.analysis.merge import merged
from mesh_core.analysis.preparation import preparations, unsaid
from mesh_core.analysis.proposal import propose
from mesh_core.canonical import canonical_json
from mesh_core.explain.changes import differences, done
from mesh_core.model.module import Scope
from mesh_core.model.origin import HANDED
from mesh_core.problems import AmbiguousInMesh, AmbiguousOnNode
from mesh_core.testing import changed_meshes, changes, documents_of, meshes
from mesh_core.wire.changes import change_from_data, change_to_data
from mesh_core.wire.document import MeshDocument, mesh_document_from_data
from tests.unit.analysis.builders import keys


@st.composite
def changed(draw: st.DrawFn) -> tuple[Mesh, tuple[Change, ...], Mesh]:
    """A mesh, some changes, and the mesh after them."""
    before = draw(meshes())
    said, after = draw(changed_meshes(before))
    return before, said, after


@st.composite
def with_a_change(draw: st.DrawFn) -> tuple[Mesh, Change]:
    mesh = draw(meshes())
    return mesh, draw(changes(mesh))


@given(drawn=with_a_change())
def test_a_change_that_was_made_changes_nothing_more(drawn: tuple[Mesh, Change]) -> None:
    mesh, change = drawn
    after = apply(mesh, change)
    if not isinstance(change, DropNode):
        assert apply(after, change) == after
    says_where_from = isinstance(change, PutModule) and change.origin != HANDED
    assert propose(mesh, [change]).changes == ((change,) if after != mesh or says_where_from else ())


@given(drawn=changed())
def test_changes_one_by_one_are_changes_together(drawn: tuple[Mesh, tuple[Change, ...], Mesh]) -> None:
    before, said, after = drawn
    assert apply_all(before, said) == after


@given(drawn=with_a_change())
def test_a_change_is_written_and_read(drawn: tuple[Mesh, Change]) -> None:
    _, change = drawn
    written = change_to_data(change)
    canonical_json(written)
    assert change_from_data(written) == change
    assert done(change)


@st.composite
def any_two(draw: st.DrawFn) -> tuple[Mesh, Mesh]:
    """Two meshes that have nothing to do with each other, or one that was made of the other.

    In some, all scopes are turned round, so that no manifest of the one agrees with any of the other; and
    some nodes are pinned at nodes that only the other mesh has.
    """
    before = draw(meshes())
    after = draw(meshes())
    if draw(st.booleans()):
        _, after = draw(changed_meshes(before))
    if draw(st.booleans()):
        after = evolve(after, catalogue=turned_round(after.catalogue))
    names = sorted({node.name for mesh in (before, after) for node in mesh.nodes})
    if draw(st.booleans()) and names:
        at = draw(st.sampled_from(names))
        after = evolve(after, nodes=[_pinned(node, at) for node in after.nodes])
        before = evolve(before, nodes=[_pinned(node, at) for node in before.nodes])
    return before, after


def _pinned(node: Node, at: str) -> Node:
    return evolve(
        node, pins=[*(pin for pin in node.pins if pin.provision != "z"), Pin(provision="z", node=at)]
    )


def turned_round(catalogue: Catalogue) -> Catalogue:
    """The modules with the other scope for each name; what cannot be asked then is not."""
    other = {Scope.NODE: Scope.MESH, Scope.MESH: Scope.NODE}
    now_of_node = {p.name for m in catalogue for p in m.provides if p.scope is Scope.MESH}
    return Catalogue(
        modules=[
            evolve(
                module,
                provides=[evolve(p, scope=other[p.scope]) for p in module.provides],
                claims=[evolve(c, scope=other[c.scope]) for c in module.claims],
                requires=[r for r in module.requires if not (r.every and r.name in now_of_node)],
            )
            for module in catalogue
        ]
    )


@given(two=any_two())
@settings(max_examples=3 * settings().max_examples)
def test_a_difference_leads_from_the_one_to_the_other(two: tuple[Mesh, Mesh]) -> None:
    """> The changes that make `after` of `before`, none that changes nothing."""
    before, after = two
    for one, other in ((before, after), (after, before), (before, Mesh()), (Mesh(), after)):
        found = difference(one, other)
        assert apply_all(one, found) == other
        assert (found == ()) is (one == other)
        for place, change in enumerate(found):
            lines = [*differences(change, one)]
            assert lines
            assert all(line[:2] in ("+ ", "- ", "~ ") for line in lines)
            # None is idle: without it another mesh comes out.
            try:
                assert apply_all(one, found[:place] + found[place + 1 :]) != other
            except ValueError:
                event("a change that scopes depend on")
    assert difference(before, before) == ()


@given(mesh=meshes(), data=st.data())
def test_a_document_of_a_mesh_laid_over_another(mesh: Mesh, data: st.DataObject) -> None:
    """> `import` leaves what a node's entry does not mention (no `assign` key) and empties what it gives
    > empty. (part 11)
    """
    document = data.draw(documents_of(mesh))
    read = mesh_document_from_data(document)
    _, standing = data.draw(changed_meshes(mesh))
    try:
        after = merged(standing, read)
    except ValueError:
        event("scopes disagree, or addresses")
    else:
        check_laid_over(standing, read, after)
        assert merged(after, read) == after
    try:
        replaced = merged(standing, read, replace=True)
    except InvalidValue:
        event("addresses disagree")
    else:
        check_laid_over(standing, read, replaced)
        assert replaced.catalogue == mesh.catalogue
        assert {node.name for node in replaced.nodes} == {node.name for node in mesh.nodes}
    assert merged(Mesh(), read) == merged(Mesh(), read, replace=True) == mesh


def check_laid_over(standing: Mesh, read: MeshDocument, after: Mesh) -> None:
    for module in read.mesh.catalogue:
        assert after.catalogue.get(module.name) == module
    for entry in read.nodes:
        said, old, new = (of.node(entry.name) for of in (read.mesh, standing, after))
        assert said is not None
        assert new is not None
        if old is None:
            assert new == said
            continue
        assert new.assigned == (old.assigned if entry.assign is None else said.assigned)
        assert new.pins == (old.pins if entry.pins is None else said.pins)
        if entry.network is None:
            assert new.network == old.network
        else:
            known = evolve(
                said.network,
                key=old.network.key or said.network.key,
                address=said.network.address or old.network.address,
            )
            assert new.network == known, "a key and an address that are known stay"
        reported: tuple[Capability, ...] | None = old.capabilities
        assert new.capabilities == (said.capabilities if reported is None else reported)
    for node in after.nodes:
        if read.mesh.node(node.name) is None:
            assert node == standing.node(node.name)


def refused(resolution: Resolution) -> set[str]:
    return {refusal.node for refusal in resolution.refusals}


def moved(was: Resolution, will_be: Resolution) -> set[tuple[str, str]]:
    """Who has another answer from one provider than before, and of what."""
    one, other = (
        {(o.node, a.provision): (a.node, a.module) for o in of.outcomes for a in o.answers if not a.every}
        for of in (was, will_be)
    )
    return {asked for asked in one.keys() & other.keys() if one[asked] != other[asked]}


@given(drawn=changed())
def test_consequences_are_what_resolution_says(drawn: tuple[Mesh, tuple[Change, ...], Mesh]) -> None:
    before, said, after = drawn
    was, will_be = resolve(before), resolve(after)
    found = consequences(said, before, was, will_be)
    refused_before, refused_after = refused(was), refused(will_be)
    assert [refusal.node for refusal in found.refused] == sorted(refused_after - refused_before)
    assert all(will_be.nodes[refusal.node] == refusal for refusal in found.refused)
    both = found.moves + found.meant
    assert {(move.node, move.provision) for move in both} == moved(was, will_be)
    assert len({*both}) == len(both)
    pinned = {(c.node, c.pin.provision) for c in said if isinstance(c, SetPin)}
    pinned |= {(c.node.name, pin.provision) for c in said if isinstance(c, PutNode) for pin in c.node.pins}
    assert all((move.node, move.provision) in pinned for move in found.meant)
    assert {*found.mended} == {node for node in refused_before - refused_after if after.node(node)}
    assert found.harmful is bool(found.refused or found.moves)


@st.composite
def what_may_be_kept(draw: st.DrawFn) -> tuple[Mesh, Change]:
    """A mesh and a change of the kinds that have `--keep`: an assignment, a manifest.

    Most manifests are those of a rival: of something that is new, and provides what another does.
    """
    mesh = draw(meshes().filter(lambda mesh: mesh.nodes and mesh.catalogue.modules))
    module = draw(st.sampled_from([*mesh.catalogue.modules, *in_use(mesh), *in_use(mesh)]))
    if draw(st.booleans()):
        return mesh, Assign(node=draw(st.sampled_from(mesh.nodes)).name, module=module.name)
    rival = evolve(module, name="rival", claims=(), capabilities=(), resources=(), requires=())
    drawn = draw(changes(mesh))
    return mesh, drawn if isinstance(drawn, PutModule) else PutModule(module=rival)


def in_use(mesh: Mesh) -> list[Module]:
    """The modules that others are bound to, or take from."""
    outcomes = resolve(mesh).outcomes
    used = {b.provider for o in outcomes for b in o.bindings} | {
        a.module for o in outcomes for a in o.answers
    }
    return [module for module in mesh.catalogue if module.name in used]


@given(drawn=what_may_be_kept())
@settings(max_examples=4 * settings().max_examples)
def test_what_stood_and_can_be_kept_is_kept(drawn: tuple[Mesh, Change]) -> None:
    """> The assignments and pins that keep the mesh as it stands through the changes; none where none
    > helps.
    """
    mesh, change = drawn
    kept = keeping(mesh, [change])
    was, bare = resolve(mesh), resolve(apply(mesh, change))
    after = apply_all(mesh, (change, *kept))
    will_be = resolve(after)
    if kept:
        event("something is kept")
    _says_only_what_stood(kept, mesh, was)
    # It helps, and does no harm of its own: who is refused then was refused, or would be without it.
    assert refused(will_be) <= refused(was) | refused(bare)
    assert moved(was, will_be) <= moved(was, bare)
    assert bool(kept) is bool(keys(bare) - keys(will_be))
    # What stood is not ambiguous now: it is what is taken again.
    for refusal in will_be.refusals:
        stood = was.nodes.get(refusal.node)
        for problem in refusal.problems if stood else ():
            if isinstance(problem, AmbiguousOnNode) and stood:
                bound = {b.provider for b in stood.bindings if b.requires == problem.provision}
                assert bound.isdisjoint(problem.candidates)
            if isinstance(problem, AmbiguousInMesh) and stood:
                answers = [a for a in stood.answers if a.provision == problem.provision and not a.every]
                offers = {(offer.node, offer.module) for offer in problem.candidates}
                assert offers.isdisjoint((a.node, a.module) for a in answers)
    # And of all that could be said of what stood, nothing more would help.
    planned = {plan.node for plan in was.plans}
    harm = {problem for problem in keys(will_be) - keys(was) if problem[0] in planned}
    for step in _restating(was, after) if harm or moved(was, will_be) else ():
        then = resolve(apply(after, step))
        adds_none = keys(then) <= keys(will_be) and moved(was, then) <= moved(was, will_be)
        assert not (adds_none and (harm - keys(then) or moved(was, then) < moved(was, will_be)))


def _says_only_what_stood(kept: tuple[Assign | SetPin, ...], mesh: Mesh, was: Resolution) -> None:
    for step in kept:
        entry, outcome = mesh.node(step.node), was.nodes[step.node]
        assert entry is not None
        if isinstance(step, Assign):
            assert step.module in outcome.members - {*entry.assigned}
        else:
            stood = {(a.provision, a.node, a.module) for a in outcome.answers if not a.every}
            modules = {
                module
                for provision, at, module in stood
                if (provision, at) == (step.pin.provision, step.pin.node)
            }
            assert modules
            assert step.pin.module is None or step.pin.module in modules


def _restating(was: Resolution, after: Mesh) -> Iterator[Assign | SetPin]:
    """Every assignment and pin that says what stood."""
    for name, outcome in was.nodes.items():
        entry = after.node(name)
        if entry is None:
            continue
        yield from (Assign(node=name, module=m) for m in sorted(outcome.members - {*entry.assigned}))
        for answer in outcome.answers:
            if not answer.every:
                for module in (None, answer.module):
                    pin = Pin(provision=answer.provision, node=answer.node, module=module)
                    yield SetPin(node=name, pin=pin)


@given(drawn=what_may_be_kept())
@settings(max_examples=2 * settings().max_examples)
def test_what_prepares_a_change_does_no_harm_and_saves_it_from_any(drawn: tuple[Mesh, Change]) -> None:
    """> Up to `shown` steps after each of which the proposal does no harm, and which do none themselves."""
    mesh, change = drawn
    proposal = propose(mesh, [change])
    steps = preparations(proposal)
    assert len(steps) <= 2
    assert proposal.consequences.harmful or not steps
    for step in steps:
        event("a preparation")
        first = propose(mesh, [step])
        assert not first.consequences.harmful
        assert not propose(first.after, [change]).consequences.harmful


@given(drawn=with_a_change())
@settings(max_examples=4 * settings().max_examples)
def test_what_has_to_be_reported_first_saves_a_change_from_any_harm(drawn: tuple[Mesh, Change]) -> None:
    """> What machines would have to report first, so that the proposal does no harm."""
    mesh, change = drawn
    proposal = propose(mesh, [change])
    missing = {one.node: one.capabilities for one in unsaid(proposal)}
    if missing:
        event("something to report")
        assert {refusal.node for refusal in proposal.consequences.refused} == missing.keys()
        assert {p.code for r in proposal.consequences.refused for p in r.problems} == {"missing-capability"}
    if missing and not isinstance(change, PutNode):
        nodes = [evolve(node, capabilities=_reported(node, missing)) for node in mesh.nodes]
        first = propose(evolve(mesh, nodes=nodes), [change])
        assert not first.consequences.harmful


def _reported(node: Node, missing: dict[str, tuple[str, ...]]) -> tuple[Capability, ...] | None:
    if node.name not in missing:
        return node.capabilities
    new = missing[node.name]
    others = [said for said in node.capabilities or () if said.name not in new]
    return (*others, *(Capability(name=name) for name in new))
