"""The store against a plain model, step by step, on a disk.

The law (port `Store`; design, part 7): after `record(event)` the store's mesh is `apply_all` of its mesh
before, or, where a change is refused, everything is as it was. The model is a `Mesh` and a few dictionaries
that know nothing of tables; after each step every table is counted, for itself, against it.
"""

import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from attrs import evolve
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from mesh_adapters.store import SqliteStore
from mesh_core import (
    CatalogueError,
    Change,
    DropModule,
    DropNode,
    InvalidValue,
    Mesh,
    Module,
    Node,
    NoSuchNode,
    Pin,
    PutModule,
    PutNode,
    Report,
    SetPin,
    Unassign,
    apply,
)
from mesh_core.change import Attach, SetNetwork, SetSource
from mesh_core.event import Event
from mesh_core.model.build import Build, Built, Request
from mesh_core.model.build import Said as FromBuilder
from mesh_core.model.network import Attachment, Network
from mesh_core.model.said import Report as Said
from mesh_core.model.sent import Sent
from mesh_core.model.source import Looked, Seen, Source
from mesh_core.network.addresses import addressed, moving
from mesh_core.ports import ModuleInUse, NoSuchModule, Session, StoreBusy
from tests.integration.store.helpers import counts, raw
from tests.integration.store.model import Model
from tests.integration.store.strategies import (
    ATTACHMENTS,
    BUILT,
    CHANGES,
    ENTRIES,
    FROM_BUILDERS,
    GENERATIONS,
    IDS,
    LOOKS,
    MANIFESTS,
    MODULES,
    NETWORKS,
    NODES,
    PINS,
    REQUESTS,
    SAID,
    SENT,
    SOURCES,
    named,
)

REFUSALS = (NoSuchNode, CatalogueError, InvalidValue, ModuleInUse, NoSuchModule, ValueError)
Word = Callable[[str], list[Change]]
WORDS: list[Word] = [
    lambda _: [],
    lambda module: [PutModule(module=Module(name=module, version="3"))],
    lambda module: [DropModule(module=module)],
]
"""What somebody says of what is held."""
MACHINES = st.sampled_from(["m0", "m1", "m2"])


def refusal_of(act: Callable[[], object]) -> tuple[type[Exception], dict[str, object]] | None:
    """Which refusal an act ends in, with its facts; None where it is done."""
    try:
        act()
    except REFUSALS as refusal:
        return type(refusal), vars(refusal)
    return None


class Boom(Exception):
    """What goes wrong in the middle of a command."""


class StoreMachine(RuleBasedStateMachine):
    """Two connections to one store, and the model."""

    @initialize(entries=st.lists(ENTRIES, min_size=3, max_size=3), manifests=st.lists(MANIFESTS))
    def begin(self, entries: list[Node], manifests: list[Module]) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="mesh-machine-"))
        self.path = self.folder / "mesh.db"
        self.model = Model()
        self.events = 0
        self.stores = [SqliteStore.create(self.path), SqliteStore.open(self.path, patience=0)]
        with self.stores[0].writing() as session:
            for number, entry in enumerate(entries):
                self.attempt(session, [PutNode(node=evolve(entry, name=f"n{number}"))])
            for manifest in manifests:
                self.attempt(session, [PutModule(module=manifest)])

    def teardown(self) -> None:
        for store in self.stores:
            store.close()
        left = [found.name for found in self.folder.iterdir()]
        shutil.rmtree(self.folder)
        assert left == ["mesh.db"]

    def event(self, changes: list[Change]) -> Event:
        self.events += 1
        return Event(at=f"t{self.events}", who="ann", command="", changes=changes)

    def attempt(self, session: Session, changes: list[Change]) -> None:
        """Record one event in a session and in the model; a refusal is the same in both."""
        event, after = self.event(changes), self.model.copy()
        refused = refusal_of(lambda: after.record(event))
        assert refusal_of(lambda: session.record(event)) == refused
        if refused is None:
            self.model = after
        assert session.mesh() == self.model.mesh

    @rule(which=st.integers(0, 1), events=st.lists(st.lists(CHANGES, max_size=4), max_size=3))
    def record(self, which: int, events: list[list[Change]]) -> None:
        """One command; its refused events leave nothing, and its others are recorded."""
        with self.stores[which].writing() as session:
            for changes in events:
                self.attempt(session, changes)

    @rule(which=st.integers(0, 1), entry=ENTRIES, manifest=MANIFESTS, pin=PINS, node=NODES)
    def furnish(self, which: int, entry: Node, manifest: Module, pin: Pin, node: str) -> None:
        """More of what is mostly accepted, so that there is something to remove."""
        with self.stores[which].writing() as session:
            self.attempt(session, [PutModule(module=manifest)])
            self.attempt(session, [PutNode(node=entry)])
            self.attempt(session, [SetPin(node=node, pin=pin)])

    @rule(which=st.integers(0, 1), change=CHANGES)
    def record_one(self, which: int, change: Change) -> None:
        """One change on its own, which no other takes back with it."""
        with self.stores[which].writing() as session:
            self.attempt(session, [change])

    @rule(which=st.integers(0, 1), network=NETWORKS, entries=st.lists(ATTACHMENTS, max_size=3))
    def address(self, which: int, network: Network, entries: list[Attachment]) -> None:
        """Give the mesh a network, and attach nodes to it in one go: addresses may change hands."""
        moved: list[Change] = [
            Attach(node=node.name, network=entry)
            for node, entry in zip(self.model.mesh.nodes, entries, strict=False)
        ]
        with self.stores[which].writing() as session:
            self.attempt(session, [*moved, SetNetwork(network=network)])
            self.attempt(session, moved)
            self.attempt(session, list(addressed(self.model.mesh, moved)))

    @rule(which=st.integers(0, 1), network=st.none() | NETWORKS)
    def move(self, which: int, network: Network | None) -> None:
        """As somebody who says another range: everybody has an address of it, or is told."""
        with self.stores[which].writing() as session:
            self.attempt(session, list(moving(self.model.mesh, network)))

    @rule(which=st.integers(0, 1))
    def report_again(self, which: int) -> None:
        """Every machine that reported says the same once more."""
        with self.stores[which].writing() as session:
            for node in self.model.mesh.nodes:
                if node.capabilities is not None:
                    report = Report(node=node.name, capabilities=node.capabilities)
                    self.attempt(session, [report])

    @rule(which=st.integers(0, 1))
    def declare_what_is_assigned(self, which: int) -> None:
        """As a push would."""
        with self.stores[which].writing() as session:
            for node in self.model.mesh.nodes:
                modules = [name for name in node.assigned if name in self.model.mesh.catalogue]
                session.declare(node.name, modules)
                self.model.declare(node.name, modules)

    @rule(which=st.integers(0, 1), node=NODES)
    def drop_node(self, which: int, node: str) -> None:
        """With what it has, and what is pinned at it."""
        self.record_one(which, DropNode(node=node))

    @rule(which=st.integers(0, 1), module=MODULES, unassign=st.booleans())
    def drop_module(self, which: int, module: str, unassign: bool) -> None:
        """Taken away first from where it is assigned, or not; where it is declared it stays."""
        nodes = self.model.mesh.nodes if unassign else ()
        away: list[Change] = [Unassign(node=node.name, module=module) for node in nodes]
        with self.stores[which].writing() as session:
            self.attempt(session, [*away, DropModule(module=module)])

    @rule(which=st.integers(0, 1), node=NODES, modules=named(MODULES))
    def declare(self, which: int, node: str, modules: list[str]) -> None:
        after = self.model.copy()
        with self.stores[which].writing() as session:
            refused = refusal_of(lambda: after.declare(node, modules))
            assert refusal_of(lambda: session.declare(node, modules)) == refused
        if refused is None:
            self.model = after

    @rule(which=st.integers(0, 1), sent=SENT, body=st.binary(max_size=4), ahead=st.booleans())
    def send(self, which: int, sent: Sent, body: bytes, ahead: bool) -> None:
        """The next generation, or any."""
        if ahead:
            sent = evolve(sent, generation=self.model.last.get(sent.node, 0) + 1)
        after = self.model.copy()
        with self.stores[which].writing() as session:
            refused = refusal_of(lambda: after.send(sent, body))
            assert refusal_of(lambda: session.send(sent, body)) == refused
        if refused is None:
            self.model = after

    @rule(which=st.integers(0, 1), node=NODES, generation=GENERATIONS, newest=st.booleans())
    def publish(self, which: int, node: str, generation: int, newest: bool) -> None:
        generation = self.model.last.get(node, 0) if newest else generation
        with self.stores[which].writing() as session:
            session.published(node, generation)
        self.model.publish(node, generation)

    @rule(which=st.integers(0, 1), report=SAID)
    def hear(self, which: int, report: Said) -> None:
        self.events += 1
        after, at = self.model.copy(), f"t{self.events}"
        with self.stores[which].writing() as session:
            refused = refusal_of(lambda: after.hear(report, at))
            assert refusal_of(lambda: session.hear(report, at)) == refused
        if refused is None:
            self.model = after

    @rule(which=st.integers(0, 1), node=NODES, machine=MACHINES, given=st.booleans())
    def speak(self, which: int, node: str, machine: str, given: bool) -> None:
        """Under a name that may have been given to another before."""
        if self.model.mesh.node(node) is None:
            return
        self.events += 1
        at = f"t{self.events}"
        with self.stores[which].writing() as session:
            if given:
                session.give_to_another(node)
                self.model.give_to_another(node)
            assert session.seen(node, machine, at) == self.model.see(node, machine, at)

    @rule(which=st.integers(0, 1), module=MODULES, source=SOURCES, looked=LOOKS, own=st.booleans())
    def look(self, which: int, module: str, source: Source, looked: Looked, own: bool) -> None:
        """At the source that is there, or at any."""
        source = (self.model.mesh.source(module) or source) if own else source
        self.events += 1
        at = f"t{self.events}"
        with self.stores[which].writing() as session:
            assert session.saw(module, source, looked, at) == self.model.saw(module, source, looked, at)

    @rule(which=st.integers(0, 1), module=MODULES, sources=st.lists(SOURCES, max_size=2), looked=LOOKS)
    def set_source(self, which: int, module: str, sources: list[Source], looked: Looked) -> None:
        """Again, and perhaps elsewhere, after somebody looked."""
        first = SetSource(module=module, source=self.model.mesh.source(module) or Source(repository="/a"))
        with self.stores[which].writing() as session:
            self.attempt(session, [first])
            assert session.saw(module, first.source, looked, "t") == self.model.saw(
                module, first.source, looked, "t"
            )
            for source in (first.source, *sources):
                self.attempt(session, [SetSource(module=module, source=source)])

    @rule(which=st.integers(0, 1), request=REQUESTS)
    def ask(self, which: int, request: Request) -> None:
        self.events += 1
        after, at = self.model.copy(), f"t{self.events}"
        with self.stores[which].writing() as session:
            refused = refusal_of(lambda: after.ask(request, at, "ann"))
            assert refusal_of(lambda: session.ask(request, at, "ann")) == refused
            if refused is None:
                self.model = after
            assert session.builds() == self.builds()

    @rule(which=st.integers(0, 1), ids=st.lists(IDS, max_size=3), cancelled=st.none() | IDS)
    def confirm_or_cancel(self, which: int, ids: list[str], cancelled: str | None) -> None:
        self.events += 1
        at = f"t{self.events}"
        with self.stores[which].writing() as session:
            session.asked(ids, at)
            for id in ids:
                self.model.change_build(id, open=False, sent_at=at)
            if cancelled is not None:
                done = self.model.change_build(cancelled, cancelled_at=at)
                assert session.cancel(cancelled, at) == done

    @rule(which=st.integers(0, 1), said=st.lists(FROM_BUILDERS, min_size=1, max_size=4))
    def a_builder_speaks(self, which: int, said: list[FromBuilder]) -> None:
        self.events += 1
        at = f"t{self.events}"
        with self.stores[which].writing() as session:
            for one in said:
                assert session.builder_said(one, at) == self.model.builder_said(one, at)
                assert session.build(one.request) == self.model.builds.get(one.request)

    @rule(which=st.integers(0, 1), module=MODULES, id=IDS)
    def hold(self, which: int, module: str, id: str) -> None:
        """Also what was never built, or of another module."""
        with self.stores[which].writing() as session:
            self.attempt_to_hold(session, module, id)

    @rule(
        which=st.integers(0, 1),
        request=REQUESTS,
        built=BUILT,
        cancelled=st.booleans(),
        word=st.sampled_from(WORDS),
    )
    def build_and_hold(self, which: int, request: Request, built: Built, cancelled: bool, word: Word) -> None:
        """As somebody who wants to see first what was built; and perhaps says the word."""
        with self.stores[which].writing() as session:
            if request.id not in self.model.builds:
                assert session.ask(request, "t", "ann") == self.model.ask(request, "t", "ann")
            if cancelled:
                done = self.model.change_build(request.id, cancelled_at="t")
                assert session.cancel(request.id, "t") == done
            built = evolve(built, request=request.id)
            assert session.builder_said(built, "t") == self.model.builder_said(built, "t")
            module = self.model.builds[request.id].request.module
            self.attempt_to_hold(session, module, request.id)
            self.attempt(session, word(module))

    def attempt_to_hold(self, session: Session, module: str, id: str) -> None:
        after = self.model.copy()
        refused = refusal_of(lambda: after.hold(module, id))
        assert refusal_of(lambda: session.hold(module, id)) == refused
        if refused is None:
            self.model = after

    @rule(which=st.integers(0, 1), builder=NODES, there=st.booleans())
    def a_builder_comes_or_goes(self, which: int, builder: str, there: bool) -> None:
        with self.stores[which].writing() as session:
            if there:
                session.add_builder(builder, "t")
                self.model.builders |= {builder}
            else:
                assert session.remove_builder(builder) == (builder in self.model.builders)
                self.model.builders -= {builder}

    def builds(self) -> tuple[Build, ...]:
        """Newest first."""
        return tuple(reversed(self.model.builds.values()))

    @rule(which=st.integers(0, 1), changes=st.lists(CHANGES, max_size=4), node=NODES)
    def fail_in_the_middle(self, which: int, changes: list[Change], node: str) -> None:
        """An exception takes back everything, also what was recorded without a fault."""
        model = self.model

        def command() -> None:
            with self.stores[which].writing() as session:
                for change in changes:
                    self.attempt(session, [change])
                if self.model.mesh.node(node):
                    session.declare(node, [])
                raise Boom

        with pytest.raises(Boom):
            command()
        self.model = model

    @rule(changes=st.lists(CHANGES, max_size=3))
    def two_at_once(self, changes: list[Change]) -> None:
        """While one writes, the other reads what was committed, and is told to wait."""
        writer, other = self.stores
        committed = self.model.mesh
        with writer.writing() as session:
            self.attempt(session, changes)
            assert other.mesh() == committed
            with pytest.raises(StoreBusy), other.writing():
                pytest.fail("two sessions at once")

    @rule(which=st.integers(0, 1))
    def reopen(self, which: int) -> None:
        self.stores[which].close()
        self.stores[which] = SqliteStore.open(self.path, patience=0)

    @rule()
    def go_on_from_a_backup(self) -> None:
        backup = self.folder / "backup.db"
        self.stores[0].backup(str(backup))
        for store in self.stores:
            store.close()
        backup.replace(self.path)
        self.stores = [SqliteStore.open(self.path, patience=0) for _ in self.stores]

    @invariant()
    def both_say_what_the_model_says(self) -> None:
        for store in self.stores:
            assert store.mesh() == self.model.mesh
            assert store.declared() == self.model.declared
            assert store.history() == self.model.history
            nodes = [node.name for node in self.model.mesh.nodes]
            assert store.standings() == {node: self.model.standing(node) for node in nodes}
            assert list(store.pending()) == self.model.newest(pending=True)
            assert list(store.newest(["n0", "n1", "n2"])) == self.model.newest(pending=False)
            for name in ("a", "b", "c"):
                current = self.model.mesh.catalogue.get(name)
                recorded = self.model.manifests.get(name, {})
                assert [(m.module, m.recorded_at, m.current) for m in store.manifests(name)] == [
                    (module, at, module == current) for module, at in recorded.items()
                ]

    @invariant()
    def both_know_where_everything_came_from(self) -> None:
        numbers = self.model.put_numbers()
        puts = [
            (number, change.module, change.origin, at, numbers.get(change.module.name) == number)
            for number, (change, at) in enumerate(self.model.puts, 1)
        ]
        for store in self.stores:
            found = store.puts()
            assert [(p.number, p.manifest, p.origin, p.at, p.current) for p in found] == puts
            assert store.puts("a") == tuple(put for put in found if put.manifest.name == "a")
            assert {name: put.number for name, put in store.current().items()} == numbers
            assert set(store.current().values()) == {put for put in found if put.current}

    @invariant()
    def both_know_what_was_seen_and_what_is_built(self) -> None:
        builds, heads = self.builds(), self.model.heads
        for store in self.stores:
            assert store.heads() == {name: heads.get(name, Seen()) for name, _ in self.model.mesh.sources}
            assert store.builds() == builds
            assert store.builds(2) == builds[:2]
            assert store.open_builds() == tuple(build for build in reversed(builds) if not build.over)
            held = {module: self.model.builds[id] for module, id in self.model.held.items()}
            assert store.held() == held
            assert store.builders() == tuple(sorted(self.model.builders))

    @invariant()
    def the_tables_hold_no_row_more(self) -> None:
        assert counts(self.path) == self.model.rows()
        with raw(self.path, foreign_keys=False) as conn:
            reported = conn.execute(
                "SELECT name, reported_at FROM nodes WHERE reported_at IS NOT NULL"
            ).fetchall()
            assert dict(reported) == self.model.reported_at
            assert conn.execute("PRAGMA foreign_key_check").fetchall() == []


TestStoreMachine = StoreMachine.TestCase
TestStoreMachine.settings = settings(max_examples=settings().max_examples // 2, stateful_step_count=20)


@contextmanager
def a_store() -> Iterator[SqliteStore]:
    with (
        tempfile.TemporaryDirectory(prefix="mesh-store-") as folder,
        closing(SqliteStore.create(Path(folder) / "mesh.db")) as store,
    ):
        yield store


@given(st.lists(MANIFESTS, max_size=3), st.lists(ENTRIES, max_size=3, unique_by=lambda n: n.name))
def test_what_is_written_is_read(manifests: list[Module], entries: list[Node]) -> None:
    """Any manifest and any entry, text and numbers and all."""
    changes: list[Change] = [PutNode(node=entry) for entry in entries]
    mesh = Mesh()
    for manifest in manifests:
        try:
            mesh = apply(mesh, PutModule(module=manifest))
        except CatalogueError:
            continue
        changes.append(PutModule(module=manifest))
    for entry in entries:
        mesh = apply(mesh, PutNode(node=entry))
    with a_store() as store:
        with store.writing() as session:
            session.record(Event(at="t", who="ann", command="", changes=changes))
        store._shelf.clear()  # read it from the file, not from memory
        assert store.mesh() == mesh
        assert store.history()[0].event.changes == tuple(changes)
