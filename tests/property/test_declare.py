"""A plan becomes a declaration: nothing of it is lost, and nothing else is said (design, part 8).

> It carries [...] the modules with their resources and answers.
"""

from collections.abc import Iterator

from hypothesis import event, given

from mesh_core import Mesh, Module, Plan, Resolution, Scope, resolve
from mesh_core.declare import declare
from mesh_core.model.declaration import Declaration, DeclaredModule, Given
from mesh_core.network.overlay import overlay
from mesh_core.testing import meshes
from mesh_core.wire.declaration import declaration_from_data, declaration_to_data

Offers = set[tuple[str, str]]


def declared(mesh: Mesh) -> Iterator[tuple[Plan, Declaration]]:
    resolution = resolve(mesh)
    networks = overlay(mesh, resolution).networks
    for plan in resolution.plans:
        yield plan, declare(plan, mesh, generation=7, network=networks.get(plan.node))


def manifest(mesh: Mesh, name: str) -> Module:
    module = mesh.catalogue.get(name)
    assert module is not None
    return module


def offers(mesh: Mesh, resolution: Resolution, provision: str) -> Offers:
    """Every offer of a name, from the definition: "every pair (r, m) with m in S(n) and m providing r"."""
    return {
        (outcome.node, placed.name)
        for outcome in resolution.outcomes
        for placed in outcome.placed
        for p in manifest(mesh, placed.name).provides
        if p.name == provision and p.scope is Scope.MESH
    }


def who(given: tuple[Given, ...]) -> Offers:
    return {(one.node, one.module) for one in given}


@given(mesh=meshes())
def test_the_modules_stand_in_the_order_of_the_plan_with_all_that_they_consist_of(mesh: Mesh) -> None:
    for plan, declaration in declared(mesh):
        assert (declaration.node, declaration.generation) == (plan.node, 7)
        assert mesh.network is not None or declaration.network is None
        assert tuple(module.name for module in declaration.modules) == plan.order
        assert not declaration.allow_removals
        assert not declaration.empty
        for module in declaration.modules:
            of = manifest(mesh, module.name)
            assert (module.version, module.resources, module.checks) == (of.version, of.resources, of.checks)


@given(mesh=meshes())
def test_every_requirement_of_every_module_is_answered_and_nothing_else_is(mesh: Mesh) -> None:
    resolution = resolve(mesh)
    refused = {refusal.node for refusal in resolution.refusals}
    for plan, declaration in declared(mesh):
        for module in declaration.modules:
            requires = manifest(mesh, module.name).requires
            assert [(a.provision, a.every) for a in module.answers] == [(r.name, r.every) for r in requires]
            _answered_rightly(module, plan, mesh, resolution, refused)


def _answered_rightly(
    module: DeclaredModule, plan: Plan, mesh: Mesh, resolution: Resolution, refused: set[str]
) -> None:
    bound = {b.requires: b.provider for b in plan.bindings if b.module == module.name}
    addresses = {node.name: node.network.address for node in mesh.nodes}
    for answer in module.answers:
        there = offers(mesh, resolution, answer.provision)
        if answer.every:
            settled = {(node, name) for node, name in there if node not in refused}
            assert who(answer.given) == settled
            event("an unsettled one is left out" if settled != there else "all of every")
        elif answer.provision in bound:
            assert who(answer.given) == {(plan.node, bound[answer.provision])}
        else:
            assert who(answer.given) <= there
            (one,) = [a for a in plan.answers if not a.every and a.provision == answer.provision]
            assert who(answer.given) == {(one.node, one.module)}
            event("answers itself" if one.node == plan.node else "takes")
        for one_of in answer.given:
            (provision,) = [p for p in manifest(mesh, one_of.module).provides if p.name == answer.provision]
            assert one_of.exports == provision.exports
            assert one_of.address == (addresses[one_of.node] if mesh.network is not None else None)


@given(mesh=meshes())
def test_it_is_read_as_it_was_written(mesh: Mesh) -> None:
    for _, declaration in declared(mesh):
        data = declaration_to_data(declaration)
        assert declaration_from_data(data) == declaration
        event("with a network" if declaration.network else "without a network")
        assert data["items"] == sum(1 + len(m.resources) for m in declaration.modules)


@given(mesh=meshes())
def test_the_word_that_all_may_go_is_also_the_word_that_there_is_nothing(mesh: Mesh) -> None:
    """> An empty declaration changes nothing; an empty one needs `empty: true` (the table *The machine*)"""
    for plan in resolve(mesh).plans:
        declaration = declare(plan, mesh, generation=1, allow_removals=True)
        assert declaration.allow_removals
        assert declaration.empty is not bool(plan.modules)
