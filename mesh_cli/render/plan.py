"""How a plan looks: first what would be on each node, then who is refused, the cause first."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Container, Iterable, Iterator, Mapping, Sized

from mesh_cli.output import styled, visible
from mesh_cli.render.network import notes
from mesh_core.analysis.material import Settled
from mesh_core.canonical import canonical_json
from mesh_core.explain import Explainer
from mesh_core.explain.material import below, headline
from mesh_core.explain.network import concerning
from mesh_core.explain.words import counted, some
from mesh_core.model.material import MaterialFault
from mesh_core.model.mesh import Mesh
from mesh_core.model.resolution import Answer, Outcome, Plan, PlannedModule, Reason, Refusal, Resolution
from mesh_core.model.sent import Standing
from mesh_core.network.overlay import NoKey, Note, overlay
from mesh_core.problems import facts
from mesh_core.push import Held, Send, plan_fingerprint
from mesh_core.push import Outcome as PushOutcome
from mesh_core.wire.declaration import on_machine

_EXPLAINED = 20
"""How many different refusals are explained in full; a person reads no more at once."""


class PlanView:
    """A resolution with its material faults against what was last declared, as lines.

    `outcomes` are those of a push of the nodes that were sent something: a node may be sent another
    declaration although its modules have the names that they had. `networks` are those of them of which only
    the network is another.
    """

    def __init__(
        self,
        mesh: Mesh,
        settled: Settled,
        declared: Mapping[str, tuple[str, ...]],
        outcomes: Mapping[str, PushOutcome] | None = None,
        standings: Mapping[str, Standing] | None = None,
        networks: Container[str] = (),
    ) -> None:
        self._mesh = mesh
        self._settled = settled
        self._resolution = resolution = settled.resolution
        self._faults = _by_node(settled.faults)
        self._planned = [plan for plan in resolution.plans if plan.node not in self._faults]
        self._refused = len(resolution.refusals) + len(self._faults)
        self._declared = declared
        self._outcomes = outcomes or {}
        self._networks = networks
        self._of_a_store = outcomes is not None
        self._others = Others(mesh, standings or {})
        self._explainer = Explainer(mesh, resolution)
        self._takers = _takers(resolution)
        self._width = max((len(node.name) for node in mesh.nodes), default=0)

    def changes(self, nodes: Iterable[str]) -> bool:
        """Whether something would change on one of these nodes."""
        shown = set(nodes)
        return any(self._changed(plan) for plan in self._planned if plan.node in shown)

    def whole(self) -> list[str]:
        """The plan of the whole mesh."""
        if not self._mesh.nodes:
            return ["there are no nodes yet; add one: mesh node add NAME"]
        changing = [plan for plan in self._planned if self._changed(plan)]
        unchanged = [plan.node for plan in self._planned if not self._changed(plan)]
        lines = [self._head(len(changing), len(unchanged)), ""]
        for plan in changing:
            lines += [*self._plan(plan, everything=False), ""]
        if unchanged:
            lines += [f"nothing to change on {some(unchanged)}", ""]
        lines += self._refusals(self._resolution.refusals)
        lines += self._immaterial(self._faults)
        told = [*notes(self._mesh, self._network_notes())]
        return [*lines, *told, *([""] if told else []), self._count(changing)]

    def _network_notes(self) -> Iterator[Note]:
        """What is amiss in the network but for keys: machines bring those, and push says so."""
        for one in overlay(self._mesh, self._resolution).notes:
            if not isinstance(one, NoKey):
                yield one

    def of_node(self, node: str) -> list[str]:
        """The plan of one node, with what does not change too; or why it is refused."""
        outcome = self._resolution.nodes[node]
        if isinstance(outcome, Refusal):
            return self._refusals([outcome])[:-1]
        if node in self._faults:
            return self._immaterial({node: self._faults[node]})[:-1]
        lines = self._plan(outcome, everything=True)
        takers = self._takers.get(node, [])
        if takers:
            lines.append(f"{counted(len(takers), 'node takes', 'nodes take')} from it: {some(takers)}")
        return [*lines, *notes(self._mesh, concerning(self._network_notes(), [node]))]

    def refused(self, nodes: Container[str]) -> list[str]:
        """Why these of them are refused; the same reasons are told together."""
        refusals = [refusal for refusal in self._resolution.refusals if refusal.node in nodes]
        faults = {node: them for node, them in self._faults.items() if node in nodes}
        return [*self._refusals(refusals), *self._immaterial(faults)]

    def _head(self, changing: int, unchanged: int) -> str:
        short = plan_fingerprint(self._mesh, self._settled)[:7]
        parts = [counted(changing, "node changes", "nodes change")]
        parts += [f"{unchanged} unchanged"] if unchanged else []
        parts += [f"{self._refused} refused"] if self._refused else []
        return f"Plan {short}   {', '.join(parts)}"

    def _count(self, changing: list[Plan]) -> str:
        added = sum(len(self._added(plan)) for plan in changing)
        removed = sum(len(self._removed(plan)) for plan in changing)
        changed = sum(len(self._other(plan)) for plan in changing)
        parts = [f"{added} to add"]
        parts += [f"{changed} to change"] if changed else []
        parts += [f"{removed} to remove"]
        parts += [f"{counted(self._refused, 'node')} refused"] if self._refused else []
        push = "      Next: mesh push" if self._of_a_store and changing else ""
        return ", ".join(parts) + "." + push

    def _added(self, plan: Plan) -> list[str]:
        declared = self._declared.get(plan.node, ())
        return [name for name in plan.order if name not in declared]

    def _removed(self, plan: Plan) -> list[str]:
        return [name for name in self._declared.get(plan.node, ()) if name not in plan.members]

    def _other(self, plan: Plan) -> list[str]:
        """The modules that stay, and are another thing on the node than it was sent."""
        declared = self._declared.get(plan.node, ())
        return [name for name in self._others.on(plan.node) if name in plan.members and name in declared]

    def _changed(self, plan: Plan) -> bool:
        told = self._added(plan) or self._removed(plan) or self._other(plan)
        return bool(told) or isinstance(self._outcomes.get(plan.node), Send | Held)

    def _plan(self, plan: Plan, *, everything: bool) -> list[str]:
        """A node's name, and beside it a line for each module, with what the module takes below."""
        added, other = self._added(plan), self._other(plan)
        lines: list[str] = []
        for module in plan.modules:
            if everything or module.name in added or module.name in other:
                sign = "+" if module.name in added else "~" if module.name in other else "="
                lines.append(_module_line(module, sign))
                lines += [f"    {line}" for line in self._answers(plan, module.name)]
        lines += [styled(f"- {name}", "red") for name in self._removed(plan)]
        if self._changed(plan) and not (added or other or self._removed(plan)):
            what = "its network" if plan.node in self._networks else "what its modules are told of others"
            lines.append(styled(f"~ {what}", "yellow"))
        return list(self._beside(plan.node, lines or ["nothing"]))

    def _beside(self, node: str, lines: list[str]) -> Iterator[str]:
        margin = " " * self._width
        for place, line in enumerate(lines):
            yield f"{node.ljust(self._width) if not place else margin}  {line}"

    def _answers(self, plan: Plan, module: str) -> Iterator[str]:
        """What a module takes; a name that several ask for stands under the first of them."""
        every: dict[str, list[Answer]] = defaultdict(list)
        for answer in plan.answers:
            if _first(answer.required_by, plan) != module:
                continue
            if answer.every:
                every[answer.provision].append(answer)
            else:
                yield f"{self._one(plan, answer)}{_unsettled(plan, answer)}"
        for provision, answers in every.items():
            sources = some([f"{a.node} ({a.module}){self._at(plan, a)}{_mark(plan, a)}" for a in answers])
            yield f"takes {provision} from every: {sources}"

    def _one(self, plan: Plan, answer: Answer) -> str:
        node = self._mesh.node(plan.node)
        pin = node.pin(answer.provision) if node else None
        why = "pinned" if pin else "the only one that offers it"
        if answer.node == plan.node:
            return f"has {answer.provision} from {answer.module} on itself   {why}"
        return (
            f"takes {answer.provision} from {answer.node} ({answer.module}){self._at(plan, answer)}   {why}"
        )

    def _at(self, plan: Plan, answer: Answer) -> str:
        """The address that it is taken from, which is what templates are given; none on the node itself."""
        there = self._mesh.node(answer.node)
        address = there.network.address if there is not None and answer.node != plan.node else None
        return f" at {address}" if address is not None else ""

    def _refusals(self, refusals: Iterable[Refusal]) -> list[str]:
        """Each refused node with its problems; nodes refused for the same are told together."""
        lines: list[str] = []
        groups = list(_same(refusals).values())
        for group in groups[:_EXPLAINED]:
            lines += [*self._refusal(group), ""]
        return lines + _more(groups[_EXPLAINED:])

    def _refusal(self, group: list[Refusal]) -> list[str]:
        lines: list[str] = []
        for explanation in self._explainer.refusal(group[0]):
            lines += _reason(explanation.headline, explanation.below)
        return self._stays([refusal.node for refusal in group], lines)

    def _immaterial(self, faults: Mapping[str, list[MaterialFault]]) -> list[str]:
        """Each node with a template that names what does not exist; the same on several is told together."""
        lines: list[str] = []
        groups = list(_same_material(faults).values())
        for group in groups[:_EXPLAINED]:
            why = [line for fault in faults[group[0]] for line in _reason(headline(fault), below(fault))]
            lines += [*self._stays(group, why), ""]
        return lines + _more(groups[_EXPLAINED:])

    def _stays(self, nodes: list[str], why: list[str]) -> list[str]:
        """Nodes that get no new plan for the same reasons, and what follows from that."""
        first, *others = nodes
        lines = list(why)
        if others:
            lines.append(f"refused for the same: {some(others)}")
        takers = sorted({taker for node in nodes for taker in self._takers.get(node, ())})
        if takers:
            lines.append(f"{counted(len(takers), 'node takes', 'nodes take')} from it: {some(takers)}")
        lines.append("it keeps what it has" if not others else "they keep what they have")
        return list(self._beside(first, lines))


class Others:
    """Which modules are another thing now than a node was sent, as far as that is known."""

    def __init__(self, mesh: Mesh, standings: Mapping[str, Standing]) -> None:
        self._mesh = mesh
        self._standings = standings
        self._now: dict[str, str] = {}

    def on(self, node: str) -> list[str]:
        """The names of those modules, sorted."""
        standing = self._standings.get(node)
        newest = standing.newest if standing is not None else None
        sent = newest.manifests if newest is not None else ()
        return [
            name for name, digest in sent if name in self._mesh.catalogue and digest != self._digest(name)
        ]

    def _digest(self, name: str) -> str:
        module = self._mesh.catalogue.get(name)
        assert module is not None
        if name not in self._now:
            self._now[name] = on_machine(module)
        return self._now[name]


def _reason(headline: str, details: Iterable[str]) -> list[str]:
    first = styled("refused: ", "red", bold=True) + visible(headline)
    return [first, *(f"    {visible(line)}" for line in details)]


def _more(groups: Iterable[Sized]) -> list[str]:
    """How many nodes are refused beside those that were explained."""
    left = sum(len(group) for group in groups)
    if not left:
        return []
    return [f"{counted(left, 'more node is', 'more nodes are')} refused: mesh plan NODE says why", ""]


def _module_line(module: PlannedModule, sign: str) -> str:
    text = f"{module.name} {module.version}"
    colour = {"+": "green", "~": "yellow"}.get(sign)
    shown = f"{sign} {text}" if colour is None else styled(f"{sign} {text}", colour)
    return f"{shown}{' ' * max(1, 24 - len(text))}{_why(module)}"


def _why(module: PlannedModule) -> str:
    if module.reason is Reason.ASSIGNED:
        return "assigned"
    first, *others = module.by
    more = f" (and {len(others)} more)" if others else ""
    return f"pulled in: {first.module} requires {first.requires}{more}"


def _first(required_by: tuple[str, ...], outcome: Outcome) -> str:
    return next(name for name in outcome.order if name in required_by)


def _unsettled(plan: Plan, answer: Answer) -> str:
    return f"   unsettled: {answer.node} is refused, see below" if answer in plan.unsettled else ""


def _mark(plan: Plan, answer: Answer) -> str:
    return " (unsettled)" if answer in plan.unsettled else ""


def _takers(resolution: Resolution) -> dict[str, list[str]]:
    """By node, the planned nodes that take from it."""
    takers: dict[str, set[str]] = defaultdict(set)
    for plan in resolution.plans:
        for answer in plan.takes:
            takers[answer.node].add(plan.node)
    return {node: sorted(names) for node, names in takers.items()}


def _same(refusals: Iterable[Refusal]) -> dict[str, list[Refusal]]:
    """Refusals by all the facts of their problems, whatever node they are on."""
    groups: dict[str, list[Refusal]] = {}
    for refusal in refusals:
        same = canonical_json([facts(problem) for problem in refusal.problems])
        groups.setdefault(same, []).append(refusal)
    return groups


def _by_node(faults: Iterable[MaterialFault]) -> dict[str, list[MaterialFault]]:
    by_node: dict[str, list[MaterialFault]] = {}
    for fault in faults:
        by_node.setdefault(fault.node, []).append(fault)
    return by_node


def _same_material(faults: Mapping[str, list[MaterialFault]]) -> dict[str, list[str]]:
    """Nodes by all the facts of their material faults."""
    groups: dict[str, list[str]] = {}
    for node, of_node in faults.items():
        same = canonical_json([[fault.module, fault.resource, fault.why] for fault in of_node])
        groups.setdefault(same, []).append(node)
    return groups
