"""What a store should hold, without a table in sight."""

from typing import Any

from attrs import Factory, define, evolve

from mesh_core import (
    Catalogue,
    Change,
    DropModule,
    DropNode,
    Mesh,
    Module,
    NoSuchNode,
    PutModule,
    PutNode,
    Report,
    apply,
    apply_all,
)
from mesh_core.change import DropSource, SetNetwork
from mesh_core.event import Event
from mesh_core.model.build import Build, Built, Request, Taken
from mesh_core.model.build import Said as FromBuilder
from mesh_core.model.said import Report as Said
from mesh_core.model.sent import Sent, Standing
from mesh_core.model.source import (
    Looked,
    Newest,
    Seen,
    Source,
)
from mesh_core.ports import ModuleInUse, NoSuchModule, Recorded


@define
class Model:
    """What a store should hold, without a table in sight."""

    mesh: Mesh = Factory(Mesh)
    declared: dict[str, tuple[str, ...]] = Factory(dict)
    reported_at: dict[str, str] = Factory(dict)
    manifests: dict[str, dict[Module, str]] = Factory(dict)
    history: tuple[Recorded, ...] = ()
    last: dict[str, int] = Factory(dict)
    standings: dict[str, Standing] = Factory(dict)
    """Of nodes with which there was something; `last` is not told in them."""
    bodies: dict[str, bytes] = Factory(dict)
    """Of the newest of each node to which something was sent."""
    puts: tuple[tuple[PutModule, str], ...] = ()
    """Each as it was recorded, and when; its number is its place."""
    heads: dict[str, Seen] = Factory(dict)
    """Of sources at which somebody looked."""
    builds: dict[str, Build] = Factory(dict)
    """By the id, as they were asked for."""
    held: dict[str, str] = Factory(dict)
    builders: frozenset[str] = frozenset()

    def copy(self) -> "Model":
        manifests = {name: dict(recorded) for name, recorded in self.manifests.items()}
        return evolve(
            self,
            declared=dict(self.declared),
            reported_at=dict(self.reported_at),
            manifests=manifests,
            last=dict(self.last),
            standings=dict(self.standings),
            bodies=dict(self.bodies),
            heads=dict(self.heads),
            builds=dict(self.builds),
            held=dict(self.held),
        )

    def record(self, event: Event) -> None:
        """Raises what the store is to raise; then this model is of no more use.

        Each manifest has to stand alone, and all of them need only agree when the event is made. So do
        addresses, which are not looked at before.
        """
        first = self.mesh
        self.mesh = evolve(first, network=None)
        modules = {module.name: module for module in self.mesh.catalogue}
        for change in event.changes:
            before = self.mesh
            if isinstance(change, PutModule):
                modules[change.module.name] = Catalogue(modules=(change.module,)).modules[0]
            elif isinstance(change, DropModule):
                self.refuse_module_in_use(change.module, modules)
                modules.pop(change.module, None)
                self.mesh = apply(self.mesh, DropSource(module=change.module))
            elif not isinstance(change, SetNetwork):
                self.mesh = apply(self.mesh, change)
            self.note(before, change, event.at)
        Catalogue(modules=modules.values())
        self.mesh = apply_all(first, event.changes)
        self.history = (Recorded(number=len(self.history) + 1, event=event), *self.history)

    def refuse_module_in_use(self, name: str, modules: dict[str, Module]) -> None:
        if name not in modules:
            return
        assigned_to = tuple(node.name for node in self.mesh.nodes if name in node.assigned)
        declared_on = {node for node, modules in self.declared.items() if name in modules}
        running_on = []
        for node, standing in sorted(self.standings.items()):
            declared_on |= {node for sent in standing.sent if name in sent.modules}
            if standing.report is not None and name in standing.report.modules:
                running_on.append(node)
        if assigned_to or declared_on or running_on:
            raise ModuleInUse(name, assigned_to, tuple(sorted(declared_on)), tuple(running_on))

    def note(self, before: Mesh, change: Change, at: str) -> None:
        if isinstance(change, PutModule):
            self.held.pop(change.module.name, None)
        if isinstance(change, DropModule):
            self.held.pop(change.module, None)
        self.heads = {
            name: seen for name, seen in self.heads.items() if before.source(name) == self.mesh.source(name)
        }
        match change:
            case PutModule(module=module):
                self.manifests.setdefault(module.name, {}).setdefault(module, at)
                self.puts += ((change, at),)
            case DropNode(node=name):
                self.declared.pop(name, None)
                self.reported_at.pop(name, None)
                self.standings.pop(name, None)
                self.bodies.pop(name, None)
            case Report(node=name):
                self.reported_at[name] = at
            case PutNode(node=node):
                old = before.node(node.name)
                if node.capabilities is None:
                    self.reported_at.pop(node.name, None)
                elif old is None or old.capabilities != node.capabilities:
                    self.reported_at[node.name] = at
            case _:
                pass

    def declare(self, node: str, modules: list[str]) -> None:
        if self.mesh.node(node) is None:
            raise NoSuchNode(node)
        for module in sorted(modules):
            if module not in self.mesh.catalogue:
                raise NoSuchModule(module)
        self.declared.pop(node, None)
        if modules:
            self.declared[node] = tuple(sorted(modules))

    def standing(self, node: str) -> Standing:
        """One with its `last`."""
        if self.mesh.node(node) is None:
            raise NoSuchNode(node)
        return evolve(self.standings.get(node, Standing(node=node)), last=self.last.get(node, 0))

    def send(self, sent: Sent, body: bytes) -> None:
        before = self.standing(sent.node)
        if sent.generation <= before.last:
            raise ValueError
        self.standings[sent.node] = evolve(before, sent=(*before.sent, sent))
        self.last[sent.node] = sent.generation
        self.bodies[sent.node] = body
        self.declare(sent.node, [module for module in sent.modules if module in self.mesh.catalogue])

    def publish(self, node: str, generation: int) -> None:
        if node in self.standings:
            marked = [
                evolve(sent, published=sent.published or sent.generation == generation)
                for sent in self.standings[node].sent
            ]
            self.standings[node] = evolve(self.standings[node], sent=tuple(marked))

    def hear(self, report: Said, at: str) -> None:
        before = self.standing(report.node)
        after = evolve(before, report=report, heard_at=at)
        kept = tuple(s for s in before.sent if s is before.newest or s.generation >= after.released)
        if (report.generation or 0) > before.last:
            self.last[report.node] = report.generation or 0
            self.bodies.pop(report.node, None)
            kept = ()
        self.standings[report.node] = evolve(after, sent=kept)

    def see(self, node: str, machine: str, at: str) -> bool:
        before = self.standing(node)
        own = before.machine in (None, machine)
        if own:
            after = evolve(before, machine=machine, seen_at=at)
        else:
            after = evolve(before, strangers=tuple(sorted({*before.strangers, machine})))
        self.standings[node] = after
        return own

    def give_to_another(self, node: str) -> None:
        if node in self.standings:
            self.standings[node] = evolve(self.standings[node], machine=None, strangers=())

    def newest(self, *, pending: bool) -> list[tuple[str, int, bytes]]:
        sents = [(standing.newest, standing.node) for standing in self.standings.values()]
        return sorted(
            (node, sent.generation, self.bodies[node])
            for sent, node in sents
            if sent is not None and not (pending and sent.published)
        )

    def put_numbers(self) -> dict[str, int]:
        """By module of the catalogue, the number of what was put last."""
        numbers = {change.module.name: number for number, (change, _) in enumerate(self.puts, 1)}
        return {name: number for name, number in numbers.items() if name in self.mesh.catalogue}

    def saw(self, module: str, source: Source, looked: Looked, at: str) -> bool:
        if self.mesh.source(module) != source:
            return False
        if isinstance(looked, Newest):
            self.heads[module] = Seen(head=looked.commit, head_at=at)
        else:
            before = self.heads.get(module, Seen())
            self.heads[module] = evolve(before, unfound=looked, unfound_at=at)
        return True

    def ask(self, request: Request, at: str, who: str) -> Build:
        if request.id in self.builds:
            raise ValueError
        number = len(self.builds) + 1
        self.builds[request.id] = Build(number=number, request=request, asked_at=at, asked_by=who)
        return self.builds[request.id]

    def change_build(self, id: str, *, open: bool = True, **change: Any) -> bool:
        """Of one that is there, and not over if it has to be open: whether there is one."""
        build = self.builds.get(id)
        if build is None or (open and build.over):
            return False
        self.builds[id] = evolve(build, **change)
        return True

    def builder_said(self, said: FromBuilder, at: str) -> bool:
        if isinstance(said, Taken):
            return self.change_build(said.request, taken_by=said.builder, taken_at=at)
        return self.change_build(said.request, answer=said, answered_at=at)

    def hold(self, module: str, id: str) -> None:
        build = self.builds.get(id)
        if build is None or not isinstance(build.answer, Built) or build.request.module != module:
            raise ValueError
        self.held[module] = id

    def rows(self) -> dict[str, int]:
        nodes, standings = self.mesh.nodes, self.standings.values()
        return {
            "manifests": sum(len(recorded) for recorded in self.manifests.values()),
            "puts": len(self.puts),
            "sources": len(self.mesh.sources),
            "heads": len(self.heads),
            "builds": len(self.builds),
            "held": len(self.held),
            "builders": len(self.builders),
            "modules": len(self.mesh.catalogue.modules),
            "nodes": len(nodes),
            "assignments": sum(len(node.assigned) for node in nodes),
            "pins": sum(len(node.pins) for node in nodes),
            "capabilities": sum(len(node.capabilities or ()) for node in nodes),
            "declared": sum(len(modules) for modules in self.declared.values()),
            "events": len(self.history),
            "generations": len(self.last),
            "sent": sum(len(standing.sent) for standing in standings),
            "sent_modules": sum(len(sent.modules) for standing in standings for sent in standing.sent),
            "reports": sum(standing.report is not None for standing in standings),
            "running": sum(len(s.report.modules) for s in standings if s.report is not None),
            "machines": sum(standing.seen_at is not None for standing in standings),
            "strangers": sum(len(standing.strangers) for standing in standings),
            "network": int(self.mesh.network is not None),
            "retired_addresses": len(self.mesh.network.retired) if self.mesh.network is not None else 0,
            "endpoints": sum(len(node.network.endpoints) for node in nodes),
        }
