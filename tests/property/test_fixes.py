"""Verified fixes: every command that a refusal suggests is known to work.

> A sentence [...] ends with commands that are known to work, because each was tried on the mesh as a value
> and resolved. (design, part 6)

Every suggested command has been applied to the mesh as a value and re-resolved, and removes that problem
without adding one anywhere. On small meshes, whenever brute force finds one assign, unassign, pin or unpin
that does so, at least one is suggested. At most 3 are shown and 200 tried for each refusal, and it says when
it stopped early.
"""

from collections.abc import Iterator

from hypothesis import event, given, settings
from hypothesis import strategies as st

from mesh_core import (
    Capability,
    Catalogue,
    Mesh,
    Module,
    Node,
    Provision,
    Refusal,
    Requirement,
    Resolution,
    Scope,
    apply,
    explain,
    resolve,
)
from mesh_core.analysis.fixes import SHOWN, TRIED, fixes_for, fixes_for_all
from mesh_core.analysis.proposal import propose
from mesh_core.analysis.what_if import Key, WhatIf
from mesh_core.explain import Explainer
from mesh_core.problems import key
from mesh_core.testing import meshes
from tests.property.test_what_if import every_step, moves
from tests.unit.analysis.builders import keys, step_of

MANY = settings(max_examples=2 * settings().max_examples)


def mendable(mesh: Mesh, before: Resolution) -> set[Key]:
    """The problems that one step, whichever, would remove without adding one: by trying them all."""
    standing = keys(before)
    found: set[Key] = set()
    for step in every_step(mesh):
        left = keys(resolve(apply(mesh, step)))
        if left <= standing:
            found |= standing - left
    return found


@MANY
@given(mesh=meshes(most_nodes=3))
def test_whatever_one_step_can_mend_gets_a_fix_that_does(mesh: Mesh) -> None:
    before = resolve(mesh)
    if not before.refusals:
        return
    can_be_mended = mendable(mesh, before)
    what_if = WhatIf(mesh)
    for refusal in before.refusals:
        for problem in refusal.problems:
            fixes = fixes_for(problem, what_if)
            assert len(fixes.found) <= SHOWN
            assert fixes.tried <= TRIED
            assert not fixes.stopped
            assert bool(fixes.found) is (key(problem) in can_be_mended), problem
            event(f"{problem.code}: {'mended' if fixes.found else 'no step mends it'}")
            assert len({*fixes.found}) == len(fixes.found)
            for step in fixes.found:
                after = resolve(apply(mesh, step))
                assert key(problem) not in keys(after)
                assert keys(after) <= keys(before)
                assert not moves(before, after)


@MANY
@given(mesh=meshes(most_nodes=3))
def test_a_refusal_shows_three_at_most_and_one_where_there_is_one(mesh: Mesh) -> None:
    before = resolve(mesh)
    what_if = WhatIf(mesh)
    for refusal in before.refusals:
        shared = fixes_for_all(refusal.problems, what_if)
        assert [problem for problem, _ in shared] == [*refusal.problems]
        assert sum(len(fixes.found) for _, fixes in shared) <= SHOWN
        assert sum(fixes.tried for _, fixes in shared) <= TRIED
        alone = {key(problem): fixes_for(problem, what_if) for problem in refusal.problems}
        helped = [bool(alone[key(problem)].found) for problem, _ in shared]
        got = [bool(fixes.found) for _, fixes in shared]
        # The first three that can be helped are, and nobody is given what does not help.
        assert sum(got) == min(SHOWN, sum(helped))
        assert got == [can and sum(helped[:place]) < SHOWN for place, can in enumerate(helped)]


@MANY
@given(mesh=meshes())
def test_every_command_that_is_shown_can_be_typed_and_works(mesh: Mesh) -> None:
    before = resolve(mesh)
    explainer = Explainer(mesh, before)
    for refusal in before.refusals:
        explanations = explainer.refusal(refusal)
        for explanation in (*explanations, *map(explainer.problem, refusal.problems)):
            for line in explanation.fixes:
                proposal = propose(mesh, [step_of(line)])
                after = keys(proposal.resolution)
                assert key(explanation.problem) not in after
                assert after <= keys(before)
                assert not proposal.consequences.harmful, "it is recorded as it stands"


@MANY
@given(mesh=meshes())
def test_every_problem_has_a_sentence(mesh: Mesh) -> None:
    """> A sentence names the node, the chain from the assignment to the need, what was looked for and
    > where, and ends with commands that are known to work
    """
    before = resolve(mesh)
    explainer = Explainer(mesh, before)
    for refusal in before.refusals:
        text = explain(refusal, mesh, before)
        assert text == "\n".join(explanation.text for explanation in explainer.refusal(refusal))
        assert text.count("refused: ") == len(refusal.problems)
        for problem in refusal.problems:
            first, *below = explain(problem, mesh, before).splitlines()
            assert first.startswith("refused: ")
            assert refusal.node in first
            assert all(line.startswith("  ") and line.strip() for line in below)
            assert not any(
                word in line for line in (first, *below) for word in ("None", "()", "Scope.", "=", "  ,")
            )
            for chain in (line for line in below if line.startswith(f"  {refusal.node} -> ")):
                check_chain(chain, refusal, mesh)


def check_chain(chain: str, refusal: Refusal, mesh: Mesh) -> None:
    """It begins with an assignment, and each module in it is required by the one before."""
    _, first, *steps = chain.strip().split(" -> ")
    entry = mesh.node(refusal.node)
    assert entry is not None
    module = first.removesuffix(" (assigned)")
    assert first.endswith(" (assigned)"), chain
    assert module in entry.assigned
    while steps:
        need = steps.pop(0)
        manifest = mesh.catalogue.get(module)
        assert manifest is not None
        said = [f"requires {r.name}" for r in manifest.requires] + [
            f"needs {c}" for c in manifest.capabilities
        ]
        assert need in said
        if steps:
            module = steps.pop(0)
            provider = mesh.catalogue.get(module)
            assert provider is not None
            assert need.removeprefix("requires ") in {p.name for p in provider.provides}


def large(crowd: int, able: int, wanting: int) -> Mesh:
    """So many nodes, of which the last few could bear the provider that the first few want."""
    database = Provision(name="database", scope=Scope.MESH)
    postgres = Module(name="postgres", version="1", provides=[database], capabilities=["g"])
    web = Module(name="web", version="1", requires=[Requirement(name="database")])
    nodes = [Node(name=f"n{place:04}", capabilities=[]) for place in range(crowd - able)]
    nodes += [
        Node(name=f"n{crowd - place:04}", capabilities=[Capability(name="g")]) for place in range(1, able + 1)
    ]
    nodes += [Node(name=f"w{place}", assigned=["web"], capabilities=[]) for place in range(wanting)]
    return Mesh(catalogue=Catalogue(modules=[postgres, web]), nodes=nodes)


def texts(mesh: Mesh) -> Iterator[str]:
    resolution = resolve(mesh)
    for refusal in resolution.refusals:
        yield explain(refusal, mesh, resolution)


@given(crowd=st.integers(150, 350), able=st.integers(0, 2), wanting=st.integers(1, 2))
@settings(max_examples=15)
def test_on_a_large_mesh_it_says_when_it_stopped(crowd: int, able: int, wanting: int) -> None:
    """Those that can bear it are tried first; where there are none, not everything can be tried."""
    everything = crowd + wanting
    for text in texts(large(crowd, able, wanting)):
        if able:
            assert f"fix: mesh assign n{crowd - able:04} postgres" in text
            assert text.count("mesh assign") == able
        else:
            assert "mesh assign" not in text
            assert ("stopped looking for a fix after 200 tries" in text) is (everything >= TRIED)
            assert ("fix: mesh unassign w" in text) is (everything < TRIED)
