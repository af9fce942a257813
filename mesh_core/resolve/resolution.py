"""`resolve`: the two passes, in order (design, part 3)."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Set
from typing import NamedTuple

from attrs import frozen

from mesh_core.model.mesh import Mesh
from mesh_core.model.node import Node
from mesh_core.model.resolution import Answer, Plan, Refusal, Resolution
from mesh_core.problems import Offer, Problem, in_order
from mesh_core.resolve.answers import Lacking, World, answers_of
from mesh_core.resolve.catalogue_rules import read_catalogue
from mesh_core.resolve.offers import Footing, PassOne
from mesh_core.resolve.verdicts import verdicts


def resolve(mesh: Mesh) -> Resolution:
    """What every node of a mesh should be: for each a `Plan`, or a `Refusal` with every problem.

    Pure: equal meshes give equal resolutions. Raises nothing for any mesh. Design, part 3.
    """
    return work_out(mesh).resolution()


@frozen(kw_only=True)
class Workings:
    """A resolved mesh with all that was worked out on the way, by node."""

    pass_one: PassOne
    footings: Mapping[str, Footing]
    world: World
    findings: Mapping[str, Finding]

    def resolution(self) -> Resolution:
        """What comes of it for every node."""
        findings = self.findings.values()
        refused = {finding.node for finding in findings if finding.problems}
        return Resolution(outcomes=(_outcome(finding, refused) for finding in findings))


def work_out(mesh: Mesh) -> Workings:
    """Both passes over every node."""
    catalogue = read_catalogue(mesh.catalogue)
    pass_one = PassOne(catalogue)
    footings = {node.name: pass_one.footing(node.assigned) for node in mesh.nodes}
    world = World(
        catalogue=catalogue,
        nodes=footings.keys(),
        offers=_by_name((name, footing.offers) for name, footing in footings.items()),
        holders=_by_name((name, footing.holds) for name, footing in footings.items()),
        lacking=Lacking(catalogue),
    )
    findings = {node.name: find(node, footings[node.name], world) for node in mesh.nodes}
    return Workings(pass_one=pass_one, footings=footings, world=world, findings=findings)


class Finding(NamedTuple):
    """What pass two finds of one node, before it is known which others are refused (law 8)."""

    node: str
    footing: Footing
    answers: tuple[Answer, ...]
    problems: tuple[Problem, ...]


def find(node: Node, footing: Footing, world: World) -> Finding:
    """Pass two of one node: its answers and all its problems."""
    answers, unanswered = answers_of(node, footing, world)
    problems = unanswered + verdicts(node, footing, world)
    return Finding(node=node.name, footing=footing, answers=answers, problems=in_order(problems))


def _outcome(finding: Finding, refused: Set[str]) -> Plan | Refusal:
    """A node with a problem is refused; every other gets a plan, and its unsettled takes with it."""
    footing, answers = finding.footing, finding.answers
    if finding.problems:
        return Refusal(
            node=finding.node,
            modules=footing.modules,
            answers=answers,
            problems=finding.problems,
            stuck=footing.stuck,
        )
    unsettled = tuple([answer for answer in answers if answer.node in refused]) if answers else ()
    return Plan(node=finding.node, modules=footing.modules, answers=answers, unsettled=unsettled)


def _by_name(
    pairs_by_node: Iterable[tuple[str, tuple[tuple[str, str], ...]]],
) -> dict[str, tuple[Offer, ...]]:
    """Which modules on which nodes stand behind each name; sorted, as the nodes come sorted."""
    offers: dict[str, list[Offer]] = defaultdict(list)
    for node, pairs in pairs_by_node:
        for name, module in pairs:
            offers[name].append(Offer(node=node, module=module))
    return {name: tuple(who) for name, who in offers.items()}
