"""Verified fixes: the steps that would remove a problem and add none anywhere.

Which steps are tried is a matter of order and never of trust: each is applied to the mesh as a value and
resolved. Steps that cannot touch a problem (law 7) are not tried. They come in tiers, and a tier is tried
only when the ones before it gave nothing: first what gives the node what it lacks, then what takes the need
away, then what takes something from another node.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from attrs import frozen

from mesh_core.analysis.what_if import Step, WhatIf
from mesh_core.change import Assign, SetPin, Unassign, Unpin
from mesh_core.model.node import Node, Pin
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
    key,
)

SHOWN = 3
TRIED = 200


@frozen(kw_only=True)
class Fixes:
    """What was found for a problem. `stopped` says that not everything that could mend it was tried.

    No step that mends a problem moves an answer, so each may be taken as it stands: a pin alone moves one,
    its own, and where there is a problem with that there was no answer (law 5). Where other problems of the
    refusal left nothing to show or to try, it is stopped after 0 tries.
    """

    found: tuple[Step, ...]
    tried: int
    stopped: bool


def fixes_for(problem: Problem, what_if: WhatIf, shown: int = SHOWN, tries: int = TRIED) -> Fixes:
    """Up to `shown` fixes of a problem that stands in the mesh, after at most `tries` tries."""
    found: list[Step] = []
    seen: set[Step] = set()
    if not shown:
        return Fixes(found=(), tried=0, stopped=True)
    for tier in _tiers(problem, what_if):
        for step in tier:
            if step in seen:
                continue
            if len(seen) == tries:
                return Fixes(found=tuple(found), tried=tries, stopped=True)
            seen.add(step)
            if what_if.mends(key(problem), step):
                found.append(step)
            if len(found) == shown:
                break
        if found:
            break
    return Fixes(found=tuple(found), tried=len(seen), stopped=False)


def fixes_for_all(
    problems: Iterable[Problem], what_if: WhatIf, shown: int = SHOWN, tries: int = TRIED
) -> tuple[tuple[Problem, Fixes], ...]:
    """The fixes of a refusal's problems: `shown` and `tries` are for all of them together.

    Every problem gets one before any gets a second, as far as `shown` goes.
    """
    problems = tuple(problems)
    results: list[tuple[Problem, Fixes]] = []
    for place, problem in enumerate(problems):
        waiting = len(problems) - place - 1
        share = min(shown, max(1, shown - waiting))
        fixes = fixes_for(problem, what_if, shown=share, tries=tries)
        results.append((problem, fixes))
        shown -= len(fixes.found)
        tries -= fixes.tried
    return tuple(results)


def _tiers(problem: Problem, what_if: WhatIf) -> Iterator[Iterator[Step]]:
    match problem:
        case UnknownModule():
            yield iter([Unassign(node=problem.node, module=problem.module)])
        case NoProvider() | AmbiguousInMesh() | PinUnsatisfied():
            yield _give_answer(problem, what_if)
            yield _unassign_here(problem.node, problem.required_by, what_if)
        case AmbiguousOnNode():
            yield _assign_here(problem.node, problem.candidates, what_if)
            yield _unassign_here(problem.node, problem.required_by, what_if)
        case MissingCapability():
            yield _unassign_here(problem.node, (problem.module,), what_if)
        case ClaimedTwice() | ResourceConflict():
            yield _unassign_here(problem.node, problem.modules, what_if)
        case ClaimedElsewhere():
            yield _unassign_here(problem.node, (problem.module,), what_if)
            yield _unassign_there(problem, what_if)
        case Cycle():
            yield _assign_here(problem.node, (), what_if)
            yield _unassign_here(problem.node, problem.modules, what_if)
        case _:
            assert_never(problem)


def _give_answer(problem: NoProvider | AmbiguousInMesh | PinUnsatisfied, what_if: WhatIf) -> Iterator[Step]:
    """A pin at an offer, no pin, or an assignment that brings an offer."""
    if isinstance(problem, NoProvider) and problem.scope is None:
        return
    offers = what_if.workings.world.offers.get(problem.provision, ())
    at = [offer.node for offer in offers]
    for offer in offers:
        yield _pin(problem, offer.node, offer.module if at.count(offer.node) > 1 else None)
    if not isinstance(problem, AmbiguousInMesh):  # where there are too many offers, one more mends nothing
        yield from _assign_offers(problem, what_if)
    if not isinstance(problem, NoProvider):
        yield Unpin(node=problem.node, provision=problem.provision)


def _pin(problem: NoProvider | AmbiguousInMesh | PinUnsatisfied, node: str, module: str | None) -> SetPin:
    pin = Pin(provision=problem.provision, node=node, module=module)
    return SetPin(node=problem.node, pin=pin)


def _assign_offers(problem: NoProvider | AmbiguousInMesh | PinUnsatisfied, what_if: WhatIf) -> Iterator[Step]:
    """Assignments that would bring an offer: the providers themselves, then what pulls one in."""
    catalogue = what_if.workings.world.catalogue
    providers = catalogue.providers.get(problem.provision, ())
    bringing = [m for m in sorted(catalogue.modules) if not catalogue.closures[m].isdisjoint(providers)]
    nodes = what_if.mesh.nodes
    if isinstance(problem, PinUnsatisfied):
        nodes = tuple(node for node in nodes if node.name == problem.pin.node)
    for modules in (providers, bringing):
        for module in modules:
            for node in _able_first(nodes, module, what_if):
                yield Assign(node=node.name, module=module)


def _able_first(nodes: Iterable[Node], module: str, what_if: WhatIf) -> list[Node]:
    """Nodes that have what the module and all it pulls in need, before those that lack something."""
    catalogue = what_if.workings.world.catalogue
    needed = {
        capability
        for member in catalogue.closures[module]
        for capability in catalogue.rules[member].module.capabilities
    }
    findings = what_if.workings.findings

    def reluctance(node: Node) -> tuple[bool, bool, str]:
        lacking = any(node.lacks(capability) for capability in needed)
        return lacking, bool(findings[node.name].problems), node.name

    return sorted(nodes, key=reluctance)


def _assign_here(node: str, candidates: tuple[str, ...], what_if: WhatIf) -> Iterator[Step]:
    """The candidates, then every other module, which may pull one in."""
    for module in (*candidates, *sorted(what_if.workings.world.catalogue.modules)):
        yield Assign(node=node, module=module)


def _unassign_here(node: str, modules: Iterable[str], what_if: WhatIf) -> Iterator[Step]:
    """The assignments that bring one of the modules onto the node."""
    entry = what_if.mesh.node(node)
    closures = what_if.workings.world.catalogue.closures
    wanted = frozenset(modules)
    for assigned in entry.assigned if entry else ():
        if not wanted.isdisjoint(closures.get(assigned, ())):
            yield Unassign(node=node, module=assigned)


def _unassign_there(problem: ClaimedElsewhere, what_if: WhatIf) -> Iterator[Step]:
    for holder in problem.candidates:
        yield from _unassign_here(holder.node, (holder.module,), what_if)
