"""What a store should hold, without a table in sight; and small meshes whose names meet often."""

from typing import Any

from attrs import Factory, define, evolve
from hypothesis import strategies as st

from mesh_core import (
    Assign,
    Capability,
    Catalogue,
    Change,
    Claim,
    DropModule,
    DropNode,
    Mesh,
    Module,
    Node,
    NoSuchNode,
    Pin,
    Provision,
    PutModule,
    PutNode,
    Report,
    Requirement,
    Resource,
    Scope,
    SetPin,
    Unassign,
    Unpin,
    apply,
)
from mesh_core.event import Event
from mesh_core.model.said import Doing
from mesh_core.model.said import Report as Said
from mesh_core.model.sent import Answered, Held, Offered, Sent, Standing
from mesh_core.ports import ModuleInUse, NoSuchModule, Recorded

# Few names, so that they meet. Of nodes and modules some are never there.

NODES = st.sampled_from(["n0", "n1", "n2"])
MODULES = st.sampled_from(["a", "b", "c"])
PROVISIONS = st.sampled_from(["p", "q"])
TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | TEXT,
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(TEXT, inner, max_size=2),
    max_leaves=3,
)


def named(names: st.SearchStrategy[str]) -> st.SearchStrategy[list[str]]:
    return st.lists(names, unique=True, max_size=3)


def keyed(values: st.SearchStrategy[Any], key: str) -> st.SearchStrategy[list[Any]]:
    return st.lists(values, unique_by=lambda value: getattr(value, key), max_size=2)


CAPABILITIES = keyed(
    st.builds(Capability, name=PROVISIONS, present=st.booleans(), detail=st.none() | TEXT), "name"
)
PINS = st.builds(Pin, provision=PROVISIONS, node=NODES, module=st.none() | MODULES)
MANIFESTS = st.builds(
    Module,
    name=MODULES,
    version=st.sampled_from(["1", "2"]),
    # Provided in one scope by most, and never what the same module requires: most stand side by side.
    provides=keyed(
        st.builds(
            Provision,
            name=st.just("p"),
            scope=st.sampled_from([Scope.NODE, Scope.NODE, Scope.NODE, Scope.MESH]),
            exports=st.dictionaries(TEXT, TEXT, max_size=2),
        ),
        "name",
    ),
    requires=keyed(
        st.builds(Requirement, name=st.sampled_from(["q", "q", "p"]), every=st.booleans()), "name"
    ),
    claims=keyed(st.builds(Claim, name=st.just("port:1"), scope=st.just(Scope.NODE)), "name"),
    capabilities=named(PROVISIONS),
    resources=keyed(
        st.builds(
            Resource,
            kind=st.just("package"),
            name=st.sampled_from(["x", "y"]),
            attributes_json=st.dictionaries(st.sampled_from(["k", "å"]), PLAIN, max_size=2),
        ),
        "identity",
    ),
)
ENTRIES = st.builds(
    Node,
    name=NODES,
    assigned=named(MODULES),
    capabilities=st.none() | CAPABILITIES,
    pins=keyed(PINS, "provision"),
)
CHANGES: st.SearchStrategy[Change] = st.one_of(
    st.builds(Assign, node=NODES, module=MODULES | st.just("No Name")),
    st.builds(Unassign, node=NODES, module=MODULES),
    st.builds(SetPin, node=NODES, pin=PINS),
    st.builds(Unpin, node=NODES, provision=PROVISIONS),
    st.builds(PutModule, module=MANIFESTS),
    st.builds(DropModule, module=MODULES),
    st.builds(PutNode, node=ENTRIES),
    st.builds(DropNode, node=NODES),
    st.builds(Report, node=NODES, capabilities=CAPABILITIES),
    st.just(Report(node="n0", capabilities=(Capability(name="p"), Capability(name="p")))),
)

GENERATIONS = st.integers(0, 6)
# The modules of both are also such as the catalogue does not have.
SENT = st.builds(
    Sent,
    node=NODES,
    generation=GENERATIONS,
    fingerprint=TEXT,
    modules=named(MODULES),
    resources=named(TEXT),
    claims=st.lists(st.builds(Held, claim=TEXT, module=MODULES), max_size=2),
    offers=st.lists(
        st.builds(Offered, provision=TEXT, module=MODULES, exports=st.dictionaries(TEXT, TEXT, max_size=2)),
        max_size=2,
    ),
    answers=st.lists(st.builds(Answered, provision=TEXT, node=NODES, module=MODULES), max_size=2),
    allow_removals=st.booleans(),
    empty=st.booleans(),
    at=TEXT,
)


def _said(taken: int | None, finished: bool, **rest: Any) -> Said:
    return Said(generation=taken, applied=taken if finished else None, **rest)


SAID = st.builds(
    _said,
    taken=st.none() | GENERATIONS,
    finished=st.booleans(),
    node=NODES,
    machine=TEXT,
    doing=st.sampled_from(Doing),
    modules=named(MODULES),
    capabilities=CAPABILITIES,
    why=st.lists(TEXT, max_size=2),
    left_out=GENERATIONS,
    refused=st.none() | GENERATIONS,
    healthy=st.none() | st.booleans(),
)


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
        )

    def record(self, event: Event) -> None:
        """Raises what the store is to raise; then this model is of no more use.

        Each manifest has to stand alone, and all of them need only agree when the event is made.
        """
        modules = {module.name: module for module in self.mesh.catalogue}
        for change in event.changes:
            before = self.mesh
            if isinstance(change, PutModule):
                modules[change.module.name] = Catalogue(modules=(change.module,)).modules[0]
            elif isinstance(change, DropModule):
                self.refuse_module_in_use(change.module, modules)
                modules.pop(change.module, None)
            else:
                self.mesh = apply(self.mesh, change)
            self.note(before, change, event.at)
        self.mesh = evolve(self.mesh, catalogue=Catalogue(modules=modules.values()))
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
        match change:
            case PutModule(module=module):
                self.manifests.setdefault(module.name, {}).setdefault(module, at)
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

    def rows(self) -> dict[str, int]:
        nodes, standings = self.mesh.nodes, self.standings.values()
        return {
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
        }
