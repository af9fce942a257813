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


@define
class Model:
    """What a store should hold, without a table in sight."""

    mesh: Mesh = Factory(Mesh)
    declared: dict[str, tuple[str, ...]] = Factory(dict)
    reported_at: dict[str, str] = Factory(dict)
    manifests: dict[str, dict[Module, str]] = Factory(dict)
    history: tuple[Recorded, ...] = ()

    def copy(self) -> "Model":
        manifests = {name: dict(recorded) for name, recorded in self.manifests.items()}
        return evolve(
            self,
            declared=dict(self.declared),
            reported_at=dict(self.reported_at),
            manifests=manifests,
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
        declared_on = tuple(sorted(node for node, modules in self.declared.items() if name in modules))
        if assigned_to or declared_on:
            raise ModuleInUse(name, assigned_to, declared_on)

    def note(self, before: Mesh, change: Change, at: str) -> None:
        match change:
            case PutModule(module=module):
                self.manifests.setdefault(module.name, {}).setdefault(module, at)
            case DropNode(node=name):
                self.declared.pop(name, None)
                self.reported_at.pop(name, None)
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

    def rows(self) -> dict[str, int]:
        nodes = self.mesh.nodes
        return {
            "modules": len(self.mesh.catalogue.modules),
            "nodes": len(nodes),
            "assignments": sum(len(node.assigned) for node in nodes),
            "pins": sum(len(node.pins) for node in nodes),
            "capabilities": sum(len(node.capabilities or ()) for node in nodes),
            "declared": sum(len(modules) for modules in self.declared.values()),
            "events": len(self.history),
        }
