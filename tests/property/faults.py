"""Resolvers with a fault each, planted to see the law fail that it breaks.

Every one is the real resolver with its input or its outcome bent, as a slip in its rules would bend
it. `FAULTS` has them by the check that has to notice.
"""

from collections.abc import Callable, Iterable
from itertools import count
from typing import Any

from attrs import evolve

from mesh_core import Catalogue, Dependent, Mesh, Module, Node, Plan, Refusal, Resolution, resolve
from mesh_core.model.module import Claim
from mesh_core.model.node import Pin
from mesh_core.model.resolution import Answer, PlannedModule, Reason
from mesh_core.problems import (
    AmbiguousInMesh,
    AmbiguousOnNode,
    ClaimedTwice,
    NoProvider,
    PinUnsatisfied,
    Problem,
    ResourceConflict,
    UnknownModule,
)
from mesh_core.testing.laws import (
    Resolver,
    check_determinism,
    check_harmless_pin,
    check_isolation,
    check_locality,
    check_minimality,
    check_monotone_capabilities,
    check_no_silent_choice,
    check_order,
    check_soundness,
    check_verdicts_do_not_choose,
)
from mesh_core.testing.laws.law import Check

Outcome = Plan | Refusal
Made = Callable[[], Resolver]
FAULTS: list[tuple[Check, Made, str]] = []
"""A check, what makes a faulty resolver for it (some remember, so each is made anew), and what it says."""


def breaks(*checks: Check, says: str) -> Callable[[Made], Made]:
    """Enter what makes a faulty resolver under the checks that have to notice, and to say this."""

    def entered(made: Made) -> Made:
        FAULTS.extend((check, made, says) for check in checks)
        return made

    return entered


def of_mesh(bent: Callable[[Mesh], Mesh]) -> Resolver:
    """The resolver that sees another mesh than it is given."""
    return lambda mesh: resolve(bent(mesh))


def of_nodes(bent: Callable[[Mesh, Node], Node]) -> Resolver:
    return of_mesh(lambda mesh: evolve(mesh, nodes=[bent(mesh, node) for node in mesh.nodes]))


def of_modules(bent: Callable[[Module], Module]) -> Resolver:
    return of_mesh(lambda mesh: evolve(mesh, catalogue=Catalogue(modules=[bent(m) for m in mesh.catalogue])))


def of_outcomes(bent: Callable[[Mesh, Resolution, Outcome], Outcome]) -> Resolver:
    """The resolver that gives something else for some nodes."""

    def bending(mesh: Mesh) -> Resolution:
        resolution = resolve(mesh)
        return Resolution(outcomes=[bent(mesh, resolution, o) for o in resolution.outcomes])

    return bending


def of_plans(bent: Callable[[Mesh, Plan], Outcome]) -> Resolver:
    return of_outcomes(lambda mesh, _, o: bent(mesh, o) if isinstance(o, Plan) else o)


def of_planned_modules(bent: Callable[[PlannedModule], PlannedModule]) -> Resolver:
    return of_plans(lambda _, plan: evolve(plan, modules=tuple(bent(m) for m in plan.modules)))


def marked(outcome: Outcome, mark: object) -> Outcome:
    """The outcome with a mark on each of its modules."""
    modules = tuple(evolve(m, version=f"{m.version}.{mark}") for m in outcome.modules)
    return evolve(outcome, modules=modules)


def refused(outcome: Outcome, problems: Iterable[Problem]) -> Refusal:
    stuck = outcome.stuck if isinstance(outcome, Refusal) else ()
    return Refusal(
        node=outcome.node,
        modules=outcome.modules,
        answers=outcome.answers,
        problems=tuple(problems),
        stuck=stuck,
    )


def without(outcome: Outcome, forgotten: Callable[[Problem], bool]) -> Outcome:
    """The outcome as if nobody had thought of these problems."""
    if isinstance(outcome, Plan):
        return outcome
    left = tuple(p for p in outcome.problems if not forgotten(p))
    if left:
        return evolve(outcome, problems=left)
    return Plan(node=outcome.node, modules=outcome.modules, answers=outcome.answers)


def forgetting(forgotten: Callable[[Problem], bool]) -> Resolver:
    return of_outcomes(lambda _mesh, _resolution, outcome: without(outcome, forgotten))


def among(codes: frozenset[str]) -> Callable[[Problem], bool]:
    return lambda problem: problem.code in codes


def unpinned_choice(problem: Problem) -> bool:
    return isinstance(problem, AmbiguousInMesh) and problem.pin is None


# Laws 1 and 2


@breaks(check_order, check_determinism, says="changes its resolution|resolved differently")
def counts_its_calls() -> Resolver:
    calls = count()
    return of_outcomes(lambda _mesh, _resolution, outcome: marked(outcome, next(calls)))


@breaks(check_determinism, says="resolved differently")
def knows_a_mesh_by_its_identity() -> Resolver:
    known: list[Mesh] = []

    def remembering(mesh: Mesh, _: Resolution, outcome: Outcome) -> Outcome:
        if not any(mesh is one for one in known):
            known.append(mesh)
            return outcome
        return marked(outcome, "again")

    return of_outcomes(remembering)


@breaks(check_determinism, says="resolved differently")
def gives_what_is_equal_and_looks_different() -> Resolver:
    calls = count()

    def alike(answer: Answer) -> Answer:
        # 1 == True, and another document comes of it.
        every: Any = int(answer.every)
        return evolve(answer, every=every)

    def bent(_mesh: Mesh, _resolution: Resolution, outcome: Outcome) -> Outcome:
        if next(calls) % 2:
            return outcome
        return evolve(outcome, answers=tuple(map(alike, outcome.answers)))

    return of_outcomes(bent)


# Law 3


def also(mesh: Mesh, plan: Plan, by: tuple[Dependent, ...]) -> Plan:
    """The plan with a module more, if the catalogue has one."""
    more = [module for module in mesh.catalogue if module.name not in plan.members][:1]
    added = [PlannedModule(name=m.name, version=m.version, reason=Reason.PULLED_IN, by=by) for m in more]
    return evolve(plan, modules=(*added, *plan.modules))


@breaks(check_minimality, says="neither assigned nor bound")
def adds_a_module_that_nobody_wants() -> Resolver:
    return of_plans(lambda mesh, plan: also(mesh, plan, ()))


@breaks(check_minimality, says="no other module of the plan")
def adds_a_module_for_one_that_is_not_there() -> Resolver:
    nobody = Dependent(module="nobody", requires="p")
    return of_plans(lambda mesh, plan: also(mesh, plan, (nobody,)))


@breaks(check_minimality, says="which does not require")
def adds_a_module_for_one_that_does_not_want_it() -> Resolver:
    def bent(mesh: Mesh, plan: Plan) -> Plan:
        if not plan.modules:
            return plan
        return also(mesh, plan, (Dependent(module=plan.order[0], requires="no"),))

    return of_plans(bent)


@breaks(check_minimality, says="is said to be assigned and is not")
def says_that_what_is_pulled_in_is_assigned() -> Resolver:
    return of_planned_modules(lambda module: evolve(module, reason=Reason.ASSIGNED))


@breaks(check_minimality, says="or the other way round")
def says_that_what_is_bound_is_pulled_in() -> Resolver:
    return of_planned_modules(lambda module: evolve(module, reason=Reason.PULLED_IN) if module.by else module)


@breaks(check_minimality, says="taken away|in two ways")
def keeps_what_was_assigned_before() -> Resolver:
    """What is assigned is remembered, and given again when the mesh of the same catalogue returns."""
    kept: dict[tuple[Catalogue, str], set[str]] = {}

    def remembering(mesh: Mesh, node: Node) -> Node:
        known = kept.setdefault((mesh.catalogue, node.name), set())
        known.update(node.assigned)
        return evolve(node, assigned=known)

    def bent(mesh: Mesh, resolution: Resolution, outcome: Outcome) -> Outcome:
        node = mesh.node(outcome.node)
        assert node is not None
        return evolve(
            outcome,
            modules=tuple(
                m if m.name in node.assigned or m.by else evolve(m, reason=Reason.PULLED_IN)
                for m in outcome.modules
            ),
        )

    def bending(mesh: Mesh) -> Resolution:
        resolution = of_nodes(remembering)(mesh)
        return Resolution(outcomes=[bent(mesh, resolution, o) for o in resolution.outcomes])

    return bending


@breaks(check_minimality, says="taken away|in two ways")
def keeps_an_answer_that_is_gone() -> Resolver:
    kept: dict[tuple[Catalogue, str], dict[str, Answer]] = {}

    def bent(mesh: Mesh, _: Resolution, outcome: Outcome) -> Outcome:
        now = {answer.provision: answer for answer in outcome.answers if not answer.every}
        known = kept.setdefault((mesh.catalogue, outcome.node), {})
        gone = [answer for name, answer in known.items() if name not in now]
        known.update(now)
        return evolve(outcome, answers=(*outcome.answers, *gone))

    return of_outcomes(bent)


# Law 4


@breaks(check_soundness, says="lacks the capability")
def thinks_that_every_capability_is_there() -> Resolver:
    return of_modules(lambda module: evolve(module, capabilities=()))


@breaks(check_soundness, says="stands twice on")
def thinks_that_nobody_claims_on_a_node() -> Resolver:
    return forgetting(lambda p: isinstance(p, ClaimedTwice))


@breaks(check_soundness, says="planned nodes hold the claim")
def looks_for_claims_on_the_node_only() -> Resolver:
    return of_modules(
        lambda module: evolve(module, claims=[Claim(name=claim.name) for claim in module.claims])
    )


@breaks(check_soundness, says="has no Requirement")
def forgets_what_is_bound() -> Resolver:
    return of_planned_modules(lambda module: evolve(module, by=()))


@breaks(check_soundness, says="has no Requirement")
def binds_to_the_provider_that_stands_last() -> Resolver:
    def bent(mesh: Mesh, plan: Plan) -> Plan:
        provides = {m.name: {p.name for p in m.provides} for m in mesh.catalogue}
        last: dict[str, tuple[Dependent, ...]] = {}
        for binding in plan.bindings:
            providers = [m for m in plan.order if binding.requires in provides[m]]
            asked = Dependent(module=binding.module, requires=binding.requires)
            last[providers[-1]] = (*last.get(providers[-1], ()), asked)
        return evolve(plan, modules=tuple(evolve(m, by=last.get(m.name, ())) for m in plan.modules))

    return of_plans(bent)


@breaks(check_soundness, says="has no Requirement")
def puts_providers_last() -> Resolver:
    return of_plans(lambda _, plan: evolve(plan, modules=plan.modules[::-1]))


@breaks(check_soundness, says="has no Requirement")
def forgets_answers_from_one() -> Resolver:
    return of_plans(lambda _, plan: evolve(plan, answers=tuple(a for a in plan.answers if a.every)))


@breaks(check_soundness, says="has no Requirement.*every=True")
def leaves_an_offer_out_from_every() -> Resolver:
    def bent(_: Mesh, plan: Plan) -> Plan:
        every = [answer for answer in plan.answers if answer.every]
        kept = tuple(answer for answer in plan.answers if answer not in every[-1:])
        return evolve(plan, answers=kept, unsettled=tuple(u for u in plan.unsettled if u in kept))

    return of_plans(bent)


@breaks(check_soundness, says="has no Requirement")
def answers_with_what_nobody_offers() -> Resolver:
    def elsewhere(answer: Answer) -> Answer:
        return answer if answer.every else evolve(answer, module="nobody")

    return of_plans(
        lambda _, plan: evolve(
            plan,
            answers=tuple(map(elsewhere, plan.answers)),
            unsettled=tuple(map(elsewhere, plan.unsettled)),
        )
    )


@breaks(check_soundness, says="does not say which takes")
def forgets_what_is_unsettled() -> Resolver:
    return of_plans(lambda _, plan: evolve(plan, unsettled=()))


@breaks(check_soundness, says="does not say which takes")
def calls_every_take_unsettled() -> Resolver:
    return of_plans(lambda _, plan: evolve(plan, unsettled=plan.takes))


@breaks(check_soundness, says="has no Requirement")
def plans_without_a_provider() -> Resolver:
    return forgetting(lambda p: isinstance(p, NoProvider))


@breaks(check_soundness, says="has no Requirement")
def plans_without_a_choice_on_the_node() -> Resolver:
    return forgetting(lambda p: isinstance(p, AmbiguousOnNode))


@breaks(check_soundness, says="do not work")
def refuses_what_is_wholly_assigned() -> Resolver:
    """So that a plan, given to its node as it is, is none there."""

    def whole(outcome: Outcome) -> bool:
        reasons = {module.reason for module in outcome.modules}
        return len(outcome.modules) > 1 and reasons == {Reason.ASSIGNED}

    def bent(_: Mesh, resolution: Resolution, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Refusal):
            return outcome
        if whole(outcome):
            return refused(outcome, [UnknownModule(node=outcome.node, module="whole")])
        bad = {o.node for o in resolution.outcomes if whole(o) or isinstance(o, Refusal)}
        return evolve(outcome, unsettled=tuple(t for t in outcome.takes if t.node in bad))

    return of_outcomes(bent)


# Law 5


def chooses(which: Callable[[AmbiguousInMesh], int]) -> Resolver:
    """Where there are several candidates, one is taken after all, by its place among them."""

    def bent(_mesh: Mesh, _resolution: Resolution, outcome: Outcome) -> Outcome:
        if isinstance(outcome, Plan):
            return outcome
        chosen = []
        for problem in outcome.problems:
            if isinstance(problem, AmbiguousInMesh) and problem.pin is None:
                offer = problem.candidates[which(problem)]
                answer = Answer(
                    provision=problem.provision,
                    every=False,
                    node=offer.node,
                    module=offer.module,
                    required_by=problem.required_by,
                )
                chosen.append(answer)
        return without(evolve(outcome, answers=(*outcome.answers, *chosen)), unpinned_choice)

    return of_outcomes(bent)


@breaks(check_no_silent_choice, says="moves from")
def chooses_the_first_offer() -> Resolver:
    return chooses(lambda _: 0)


@breaks(check_no_silent_choice, says="moves from")
def chooses_the_last_offer() -> Resolver:
    return chooses(lambda _: -1)


@breaks(check_no_silent_choice, says="moves from")
def chooses_its_own_offer() -> Resolver:
    def own(problem: AmbiguousInMesh) -> int:
        nodes = [offer.node for offer in problem.candidates]
        return nodes.index(problem.node) if problem.node in nodes else 0

    return chooses(own)


@breaks(check_no_silent_choice, says="dropped without a word")
def does_without_where_it_would_have_to_choose() -> Resolver:
    return forgetting(unpinned_choice)


@breaks(check_no_silent_choice, says="falls back from its pin")
def falls_back_from_a_pin() -> Resolver:
    """Where what is pinned is not there, and somebody else has it, it is taken from there."""

    def unpinned(mesh: Mesh, node: Node) -> Node:
        failing = unsatisfied(resolve(mesh).nodes[node.name])
        free = evolve(node, pins=[pin for pin in node.pins if pin.provision not in failing])
        others = [other for other in mesh.nodes if other.name != node.name]
        answers = resolve(evolve(mesh, nodes=[*others, free])).nodes[node.name].answers
        found = {answer.provision for answer in answers if not answer.every}
        return free if failing <= found else node

    return of_nodes(unpinned)


def unsatisfied(outcome: Outcome) -> set[str]:
    problems = outcome.problems if isinstance(outcome, Refusal) else ()
    return {problem.provision for problem in problems if isinstance(problem, PinUnsatisfied)}


@breaks(check_no_silent_choice, says="not refused for its pin")
def takes_a_pin_for_a_wish() -> Resolver:
    return forgetting(lambda p: isinstance(p, PinUnsatisfied))


@breaks(check_no_silent_choice, says="not refused for its pin|falls back")
def sees_only_the_node_of_a_pin() -> Resolver:
    return of_nodes(lambda _, node: evolve(node, pins=[evolve(pin, module=None) for pin in node.pins]))


@breaks(check_no_silent_choice, says="changes the modules of")
def installs_a_provider_where_there_is_none() -> Resolver:
    def installed(mesh: Mesh, node: Node) -> Node:
        outcome = resolve(mesh).nodes[node.name]
        problems = outcome.problems if isinstance(outcome, Refusal) else ()
        wanted = {p.candidates[0] for p in problems if isinstance(p, NoProvider) and p.candidates}
        return evolve(node, assigned={*node.assigned, *wanted})

    return of_nodes(installed)


@breaks(check_no_silent_choice, says="changes the modules of")
def starts_its_own_provider_first() -> Resolver:
    def bent(_: Mesh, plan: Plan) -> Plan:
        own = {answer.module for answer in plan.answers if answer.node == plan.node}
        first = [module for module in plan.modules if module.name in own]
        return evolve(plan, modules=(*first, *(m for m in plan.modules if m.name not in own)))

    return of_plans(bent)


# Law 6


@breaks(check_verdicts_do_not_choose, says="other than by its requirements")
def leaves_out_what_the_machine_cannot_run() -> Resolver:
    def able(mesh: Mesh, node: Node) -> Node:
        def runs(name: str) -> bool:
            module = mesh.catalogue.get(name)
            return module is None or not any(map(node.lacks, module.capabilities))

        return evolve(node, assigned=[name for name in node.assigned if runs(name)])

    return of_nodes(able)


@breaks(
    check_verdicts_do_not_choose,
    check_isolation,
    says="other than by its requirements|other nodes' problems change",
)
def offers_nothing_where_a_node_is_refused() -> Resolver:
    def bending(mesh: Mesh) -> Resolution:
        resolution = resolve(mesh)
        bad = {refusal.node for refusal in resolution.refusals}
        good = evolve(
            mesh, nodes=[evolve(n, assigned=() if n.name in bad else n.assigned) for n in mesh.nodes]
        )
        others = resolve(good)
        return Resolution(
            outcomes=[o if o.node in bad else others.nodes[o.node] for o in resolution.outcomes]
        )

    return bending


def leaving_out(*kinds: type[ClaimedTwice | ResourceConflict]) -> Resolver:
    """Of the modules that are in conflict on a node, the last is not given to it."""

    def sorted_out(mesh: Mesh, node: Node) -> Node:
        outcome = resolve(mesh).nodes[node.name]
        problems = outcome.problems if isinstance(outcome, Refusal) else ()
        last = {p.modules[-1] for p in problems if isinstance(p, kinds)}
        return evolve(node, assigned={*node.assigned} - last)

    return of_nodes(sorted_out)


@breaks(check_verdicts_do_not_choose, says="other than by its requirements")
def leaves_out_who_claims_last() -> Resolver:
    return leaving_out(ClaimedTwice)


@breaks(check_verdicts_do_not_choose, says="other than by its requirements")
def leaves_out_the_last_of_a_resource() -> Resolver:
    return leaving_out(ResourceConflict)


def of_refusals(bent: Callable[[Refusal], Refusal]) -> Resolver:
    return of_outcomes(lambda _mesh, _, o: o if isinstance(o, Plan) else bent(o))


@breaks(check_verdicts_do_not_choose, says="other than by its requirements")
def gives_no_answers_where_it_refuses() -> Resolver:
    return of_refusals(lambda refusal: evolve(refusal, answers=()))


@breaks(check_verdicts_do_not_choose, says="other than by its requirements")
def gives_no_order_where_it_refuses() -> Resolver:
    def by_name(refusal: Refusal) -> Refusal:
        return evolve(refusal, modules=tuple(sorted(refusal.modules, key=lambda m: m.name)))

    return of_refusals(by_name)


@breaks(check_verdicts_do_not_choose, says="other than by its requirements")
def gives_no_bindings_where_it_refuses() -> Resolver:
    return of_refusals(lambda r: evolve(r, modules=tuple(evolve(m, by=()) for m in r.modules)))


@breaks(check_verdicts_do_not_choose, says="other than by its requirements")
def gives_no_modules_where_it_refuses() -> Resolver:
    return of_refusals(lambda refusal: evolve(refusal, modules=refusal.modules[:1]))


# Law 7


def marking(mark: Callable[[Mesh, Resolution, Outcome], object]) -> Resolver:
    return of_outcomes(lambda mesh, r, o: marked(o, mark(mesh, r, o)))


@breaks(check_locality, says="not its business")
def counts_the_nodes() -> Resolver:
    return marking(lambda mesh, _resolution, _outcome: len(mesh.nodes))


@breaks(check_locality, says="not its business")
def counts_the_modules() -> Resolver:
    return marking(lambda mesh, _resolution, _outcome: len(mesh.catalogue.modules))


@breaks(check_locality, says="not its business")
def looks_at_all_reports() -> Resolver:
    return marking(lambda mesh, *_: sum(len(node.capabilities or ()) for node in mesh.nodes))


@breaks(check_locality, says="not its business")
def looks_at_all_assignments() -> Resolver:
    return marking(lambda mesh, *_: sum(len(node.assigned) for node in mesh.nodes))


@breaks(check_locality, says="not its business")
def counts_the_refused() -> Resolver:
    return marking(lambda _, resolution, *__: len(resolution.refusals))


@breaks(check_locality, says="not its business")
def reads_the_manifest_of_what_it_takes() -> Resolver:
    def versions(mesh: Mesh, _: Resolution, outcome: Outcome) -> list[str]:
        taken = [mesh.catalogue.get(take.module) for take in outcome.takes]
        return [module.version for module in taken if module is not None]

    return marking(versions)


@breaks(check_locality, says="not its business")
def follows_the_pins_of_another_node() -> Resolver:
    def pinned(mesh: Mesh, node: Node) -> Node:
        every = {pin.provision: pin for other in mesh.nodes for pin in other.pins}
        return evolve(node, pins=(every | {pin.provision: pin for pin in node.pins}).values())

    return of_nodes(pinned)


@breaks(check_locality, says="not its business")
def prefers_what_another_node_has() -> Resolver:
    def alike(mesh: Mesh, node: Node) -> Node:
        outcome = resolve(mesh).nodes[node.name]
        problems = outcome.problems if isinstance(outcome, Refusal) else ()
        elsewhere = {name for other in mesh.nodes for name in other.assigned}
        open_ = [{*p.candidates} & elsewhere for p in problems if isinstance(p, AmbiguousOnNode)]
        return evolve(node, assigned={*node.assigned, *(min(some) for some in open_ if some)})

    return of_nodes(alike)


# Law 8


@breaks(check_isolation, says="other nodes' problems change")
def refuses_who_takes_from_a_refused_node() -> Resolver:
    return of_plans(
        lambda _, plan: (
            refused(plan, [UnknownModule(node=plan.node, module="unsettled")]) if plan.unsettled else plan
        )
    )


@breaks(check_isolation, says="other nodes' problems change|not those from refused nodes")
def tells_each_problem_of_the_mesh_once() -> Resolver:
    def bending(mesh: Mesh) -> Resolution:
        told: set[str] = set()
        outcomes: list[Outcome] = []
        for outcome in resolve(mesh).outcomes:
            outcomes.append(without(outcome, among(frozenset(told))))
            told |= {p.code for p in getattr(outcome, "problems", ())}
        return Resolution(outcomes=outcomes)

    return bending


@breaks(check_isolation, says="not those from refused nodes")
def never_says_unsettled() -> Resolver:
    return of_plans(lambda _, plan: evolve(plan, unsettled=()))


# Law 9


@breaks(check_harmless_pin, says="changes something")
def shows_how_many_pins_there_are() -> Resolver:
    def pins(mesh: Mesh, _: Resolution, outcome: Outcome) -> int:
        node = mesh.node(outcome.node)
        return len(node.pins) if node else 0

    return marking(pins)


@breaks(check_harmless_pin, says="changes something")
def cannot_pin_a_node_to_itself() -> Resolver:
    def beyond(pin: Pin, node: Node) -> Pin:
        return evolve(pin, node=f"not-{pin.node}") if pin.node == node.name else pin

    return of_nodes(lambda _, node: evolve(node, pins=[beyond(pin, node) for pin in node.pins]))


@breaks(check_harmless_pin, says="changes something")
def finds_no_pin_by_module() -> Resolver:
    return of_nodes(
        lambda _, node: evolve(
            node, pins=[evolve(p, module=p.module and f"not-{p.module}") for p in node.pins]
        )
    )


@breaks(check_harmless_pin, says="changes something")
def takes_a_pinned_name_for_answered() -> Resolver:
    """Who is pinned has no need of any other: what is asked from every is left out too."""

    def bent(mesh: Mesh, _: Resolution, outcome: Outcome) -> Outcome:
        node = mesh.node(outcome.node)
        pinned = {pin.provision for pin in node.pins} if node else set()
        kept = [a for a in outcome.answers if not (a.every and a.provision in pinned)]
        return evolve(outcome, answers=tuple(kept))

    return of_outcomes(bent)


# Law 10


@breaks(check_monotone_capabilities, says="has a new problem")
def tells_only_the_first_problem() -> Resolver:
    return of_refusals(lambda refusal: evolve(refusal, problems=refusal.problems[:1]))


@breaks(check_monotone_capabilities, says="has a new problem")
def tells_missing_capabilities_by_themselves() -> Resolver:
    def bent(refusal: Refusal) -> Refusal:
        missing = tuple(p for p in refusal.problems if p.code == "missing-capability")
        return evolve(refusal, problems=missing or refusal.problems)

    return of_refusals(bent)


@breaks(check_monotone_capabilities, says="is refused")
def refuses_a_machine_that_can_too_much() -> Resolver:
    """A machine that can do what none of its modules needs."""

    def bent(mesh: Mesh, plan: Plan) -> Outcome:
        node = mesh.node(plan.node)
        able = node and any(said.present for said in node.capabilities or ())
        needed = any(module.capabilities for module in mesh.catalogue if module.name in plan.members)
        if not able or needed:
            return plan
        return refused(plan, [UnknownModule(node=plan.node, module="able")])

    return of_plans(bent)


# Every law


@breaks(
    check_order,
    check_determinism,
    check_minimality,
    check_soundness,
    check_no_silent_choice,
    check_verdicts_do_not_choose,
    check_locality,
    check_isolation,
    check_harmless_pin,
    check_monotone_capabilities,
    says="not every node has one outcome",
)
def forgets_a_node() -> Resolver:
    return lambda mesh: Resolution(outcomes=resolve(mesh).outcomes[1:])


def by_the_order_of_a_set(mesh: Mesh) -> Resolution:
    """Its plans have their modules as a set gives them: another way under another hash seed."""

    def bent(_mesh: Mesh, _resolution: Resolution, outcome: Outcome) -> Outcome:
        place = {name: place for place, name in enumerate({*outcome.order})}
        return evolve(outcome, modules=tuple(sorted(outcome.modules, key=lambda m: place[m.name])))

    return of_outcomes(bent)(mesh)
