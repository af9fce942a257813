"""Laws 5, 6 and 9: who chooses a machine, and what does not."""

from __future__ import annotations

from collections.abc import Iterator

import hypothesis
from attrs import evolve

from mesh_core.change import Assign, SetPin, apply, apply_all
from mesh_core.model.catalogue import Catalogue
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Scope
from mesh_core.model.node import Node, Pin
from mesh_core.model.resolution import Outcome, Refusal, Resolution
from mesh_core.problems import AmbiguousInMesh, NoProvider, PinUnsatisfied
from mesh_core.testing.laws.law import Law, Resolver, broken, keep, nowhere, whole
from mesh_core.testing.strategies.dice import Dice

_LAW_5 = Law.NO_SILENT_CHOICE


def check_no_silent_choice(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Design, part 3, law 5:

    > *No silent choice of a machine*: adding assignments leaves the node and module of a
    > mesh-scoped answer from one provider as they are or refuses; it never makes it another. A
    > pin never falls back. A mesh-scoped requirement adds no module. (Changing the catalogue or
    > taking an assignment away can move an answer; whoever does that is told, part 8.)

    Nor does it order (*Pass two*). Raises `AssertionError`.
    """
    resolved = whole(_LAW_5, resolve)

    def no_silent_choice(mesh: Mesh, dice: Dice) -> None:
        before = resolved(mesh)
        for pinned in (mesh, *_pinned_elsewhere(mesh, before)):
            _no_falling_back(pinned, resolved(pinned))
        alone = resolved(_without_mesh_scoped_requirements(mesh))
        for asking, silent in zip(before.outcomes, alone.outcomes, strict=True):
            if _on_node(asking) != _on_node(silent):
                what = "a mesh-scoped requirement changes the modules of"
                broken(_LAW_5, f"{what} {asking.node}", mesh)
        every = _all_assignments(mesh)
        several = apply_all(mesh, dice.some(every, 4))
        for more in (several, *(apply(mesh, change) for change in every)):
            _no_move(mesh, before, more, resolved(more))

    keep(_LAW_5, no_silent_choice, settings)


def _all_assignments(mesh: Mesh) -> list[Assign]:
    return [Assign(node=node.name, module=module.name) for node in mesh.nodes for module in mesh.catalogue]


def _chosen(outcome: Outcome) -> dict[str, tuple[str, str]]:
    """Where each name that is asked from one provider is taken from."""
    return {a.provision: (a.node, a.module) for a in outcome.answers if not a.every}


def _no_move(mesh: Mesh, before: Resolution, more: Mesh, after: Resolution) -> None:
    for name, outcome in after.nodes.items():
        now = _chosen(outcome)
        for provision, offer in _chosen(before.nodes[name]).items():
            if provision in now and now[provision] != offer:
                broken(_LAW_5, f"{provision} of {name} moves from {offer}", mesh, more)
            if provision not in now and provision not in _unanswered(outcome):
                broken(_LAW_5, f"{provision} of {name} is dropped without a word", mesh, more)


def _unanswered(outcome: Outcome) -> dict[str, Pin | None]:
    """The mesh-scoped names that a node is refused for, with the pins that its problems give."""
    if not isinstance(outcome, Refusal):
        return {}
    return {
        problem.provision: None if isinstance(problem, NoProvider) else problem.pin
        for problem in outcome.problems
        if isinstance(problem, NoProvider | AmbiguousInMesh | PinUnsatisfied)
    }


def _no_falling_back(mesh: Mesh, resolution: Resolution) -> None:
    scopes = {p.name: p.scope for module in mesh.catalogue for p in module.provides}
    for node in mesh.nodes:
        outcome = resolution.nodes[node.name]
        chosen, unanswered = _chosen(outcome), _unanswered(outcome)
        for name in _asked_from_one(mesh, outcome):
            pin = node.pin(name)
            if pin is None or scopes.get(name) is not Scope.MESH:
                continue
            at, module = chosen.get(name, (pin.node, pin.module))
            if at != pin.node or pin.module not in (None, module):
                broken(_LAW_5, f"{name} of {node.name} falls back from its pin", mesh)
            if name not in chosen and unanswered.get(name) != pin:
                broken(_LAW_5, f"{node.name} is not refused for its pin of {name}", mesh)


def _pinned_elsewhere(mesh: Mesh, resolution: Resolution) -> Iterator[Mesh]:
    """For each answer: its node pinned to take it from a node that is not there, and from another."""
    for outcome in resolution.outcomes:
        for provision, (at, _) in _chosen(outcome).items():
            others = [node.name for node in mesh.nodes if node.name != at][:1]
            for target in (nowhere(mesh), *others):
                yield apply(mesh, SetPin(node=outcome.node, pin=Pin(provision=provision, node=target)))


def _asked_from_one(mesh: Mesh, outcome: Outcome) -> set[str]:
    return {
        requirement.name
        for module in mesh.catalogue
        if module.name in outcome.members
        for requirement in module.requires
        if not requirement.every
    }


def _without_mesh_scoped_requirements(mesh: Mesh) -> Mesh:
    meshed = {p.name for module in mesh.catalogue for p in module.provides if p.scope is Scope.MESH}
    stripped = [
        evolve(module, requires=[r for r in module.requires if r.name not in meshed])
        for module in mesh.catalogue
    ]
    return evolve(mesh, catalogue=Catalogue(modules=stripped))


def _on_node(outcome: Outcome) -> tuple[object, ...]:
    """What pass one gives a node: S, its order, its bindings, and who is stuck."""
    stuck = outcome.stuck if isinstance(outcome, Refusal) else ()
    return outcome.members, outcome.order, outcome.bindings, stuck


def check_verdicts_do_not_choose(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Design, part 3, law 6:

    > *Verdicts do not choose*: capabilities, claims and resources never change S, order,
    > bindings or answers (all four are public values, for refused nodes too); they only decide
    > what is planned and what refused.

    Raises `AssertionError`.
    """
    law = Law.VERDICTS_DO_NOT_CHOOSE
    resolved = whole(law, resolve)

    def verdicts_do_not_choose(mesh: Mesh, _: Dice) -> None:
        # Whatever two meshes differ in only by verdicts, each is held to be as this one.
        without = _without_verdicts(mesh)
        for one, another in zip(resolved(mesh).outcomes, resolved(without).outcomes, strict=True):
            if (*_on_node(one), one.answers) != (*_on_node(another), another.answers):
                broken(law, f"{one.node} is other than by its requirements", mesh, without)

    keep(law, verdicts_do_not_choose, settings)


def _without_verdicts(mesh: Mesh) -> Mesh:
    """The mesh without capabilities, claims and resources; all else as it is."""
    modules = [evolve(m, capabilities=(), claims=(), resources=()) for m in mesh.catalogue]
    nodes = [evolve(node, capabilities=None) for node in mesh.nodes]
    return Mesh(catalogue=Catalogue(modules=modules), nodes=nodes)


def check_harmless_pin(resolve: Resolver, settings: hypothesis.settings | None = None) -> None:
    """Design, part 3, law 9:

    > *Harmless pin*: a pin, for a name not yet pinned on that node, to the standing answer from
    > one provider changes nothing.

    Each such pin of a mesh, at the node and at the module on it. Raises `AssertionError`.
    """
    law = Law.HARMLESS_PIN
    resolved = whole(law, resolve)

    def harmless_pin(mesh: Mesh, _: Dice) -> None:
        before = resolved(mesh)
        for change in _standing(mesh, before):
            if resolved(apply(mesh, change)) != before:
                pin = f"{change.pin.provision} from {change.pin.target}"
                broken(law, f"pinning {change.node} to take {pin} changes something", mesh)

    keep(law, harmless_pin, settings)


def _standing(mesh: Mesh, resolution: Resolution) -> Iterator[SetPin]:
    for node in mesh.nodes:
        for provision, (at, module) in _chosen(resolution.nodes[node.name]).items():
            if not _is_pinned(node, provision):
                for by in (None, module):
                    yield SetPin(node=node.name, pin=Pin(provision=provision, node=at, module=by))


def _is_pinned(node: Node, provision: str) -> bool:
    return node.pin(provision) is not None
