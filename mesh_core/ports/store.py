"""The port of the store: where a mesh is kept, and the outages that it can raise. Paths are text."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from types import TracebackType
from typing import Protocol

from attrs import frozen

from mesh_core.event import Event
from mesh_core.model.build import Build, Request, Said
from mesh_core.model.mesh import Mesh
from mesh_core.model.module import Module
from mesh_core.model.origin import Put
from mesh_core.model.said import Report
from mesh_core.model.sent import Sent, Standing
from mesh_core.model.source import Looked, Seen, Source


@frozen(kw_only=True)
class Recorded:
    """An event as the log keeps it. Numbers only grow; the first event has number 1."""

    number: int
    event: Event


@frozen(kw_only=True)
class RecordedManifest:
    """A manifest, when it was first recorded, and whether it is the current one of its name."""

    module: Module
    recorded_at: str
    current: bool


class Session(Protocol):
    """One transaction of a store, from `Store.writing`; it ends with its block, or with an outage.

    Every method raises `StoreOutage`, and `RuntimeError` once the session has ended. An outage is
    not to be caught inside the block: nothing of the session can be kept then.
    """

    def mesh(self) -> Mesh:
        """The mesh as this session has it: with everything that it recorded so far."""

    def record(self, event: Event) -> int:
        """Apply the event's changes, in their order, and log the event; the number it has there.

        Afterwards `mesh()` is `mesh_core.apply_all(mesh() before, event.changes)`. A manifest or a
        report is dated with `event.at`. Each `PutModule` is a new `Put`, with its origin, also of the
        manifest that was there, and ends what was held of that name; so does a `DropModule`. What was seen
        of a source is forgotten once the source is another, and not when it is set to an equal one. Raises
        whatever `apply` raises (`NoSuchNode`, `CatalogueError`, `InvalidValue`), `ModuleInUse` for a
        `DropModule` of a module that is assigned to a node or was last declared on one, and `ValueError`
        for what cannot be written down and read back. Then nothing of this event is recorded, and the
        session goes on. Design, part 7.
        """

    def standings(self, nodes: Iterable[str] | None = None) -> Mapping[str, Standing]:
        """How it stands with these nodes (None: all of the mesh), by name, as this session has it.

        A name that is no node of the mesh is not in it.
        """

    def send(self, sent: Sent, body: bytes) -> None:
        """Write down what a node is to be told, before anything of it is published.

        Its generation has to be greater than `last` of the node's standing, and is that from then on, for
        the node's name, for ever. Its modules are what was last declared there (as by `declare`, but a
        module need not be in the catalogue any more). `body` is the document's bytes, kept for as long as
        it is the node's newest. Raises `NoSuchNode`, and `ValueError` for a generation that is not newer.
        """

    def published(self, node: str, generation: int) -> None:
        """The broker has confirmed it; nothing where that generation is not kept any more."""

    def hear(self, report: Report, at: str) -> None:
        """A node's report, taken in at this instant; it takes the place of the one before.

        What it has reported past is dropped: every `sent` but the newest whose generation is less than
        `Standing.released` after this. A
        generation that is greater than `last` is `last` from then on, and then `sent` is empty: what was
        sent by an older store is not what the machine has. Raises `NoSuchNode`, and `ValueError` for a
        report that would not read back as it is.
        """

    def seen(self, node: str, machine: str, at: str) -> bool:
        """Something was heard of a node from this machine, said at this instant: whether it is its own.

        The first that speaks under a name is. Any other is remembered as a stranger, and changes nothing
        else. Raises `NoSuchNode`.
        """

    def give_to_another(self, node: str) -> None:
        """From now on the name belongs to whichever machine speaks first: there are no strangers."""

    def saw(self, module: str, source: Source, looked: Looked, at: str) -> bool:
        """What a look at a module's source came to: whether it is written down.

        A head takes the place of the one before; anything else is remembered beside the head that was seen
        last, until the next look. Nothing, where the module's source is another by now, or none.
        """

    def ask(self, request: Request, at: str, who: str) -> Build:
        """Write down a build that is asked for, before any builder hears of it.

        Raises `ValueError` for an id that is not new, and for what would not read back as it is.
        """

    def asked(self, ids: Iterable[str], at: str) -> None:
        """The broker has confirmed these requests. An id that is not known is nothing."""

    def cancel(self, id: str, at: str) -> bool:
        """No answer to it counts any more: whether it was not over yet. False for an id that is not known."""

    def builder_said(self, said: Said, at: str) -> bool:
        """What was heard of a builder: whether it counts.

        The first answer counts, and no other; none does of a build that was cancelled, or is not known. That
        it was taken counts as often as it is said, until the build is over. Raises `ValueError` for an answer
        that counts and would not read back as it is.
        """

    def builds(self, limit: int | None = None) -> tuple[Build, ...]:
        """As `Store.builds`, with everything that was written down so far."""

    def open_builds(self) -> tuple[Build, ...]:
        """As `Store.open_builds`, with everything that was written down so far."""

    def build(self, id: str) -> Build | None:
        """The build of that id, as this session has it."""

    def heads(self) -> Mapping[str, Seen]:
        """As `Store.heads`, with everything that was written down so far."""

    def put_of(self, module: str) -> Put | None:
        """What is current of a module, as this session has it; None where the catalogue does not have it."""

    def hold(self, module: str, build: str) -> None:
        """What this build made waits for somebody's word, in place of what did before.

        It waits until it is put, or something else of that name is, or is dropped. Raises `ValueError` for a
        build that is not known, made nothing, or is of another module.
        """

    def add_builder(self, builder: str, at: str) -> None:
        """A builder of that name may say something from now on. Again is nothing.

        Raises `InvalidValue` for what is no name of a node.
        """

    def remove_builder(self, builder: str) -> bool:
        """It may not any more: whether there was one. What it built stays."""

    def declare(self, node: str, modules: Iterable[str]) -> None:
        """Remember that these modules, and no others, were last declared on a node.

        Raises `NoSuchNode`, and `NoSuchModule` for a name that the catalogue does not have; then
        what was declared there stays as it was.
        """


class Writing(Protocol):
    """What `with` is given for one transaction: entering gives the session, leaving ends it."""

    def __enter__(self) -> Session:
        """Begin. Raises `StoreBusy`, `StoreReadOnly`, or any other outage."""

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
        /,
    ) -> bool | None:
        """Commit once, or take everything back if an exception comes through (which goes on)."""


class Store(Protocol):
    """Where a mesh is kept: modules, nodes, assignments, reports, pins, and what was done to them.

    What holds of every store:

    - What was committed is there after the process is killed; what was not is not.
    - Reading changes nothing, sees one moment, and neither waits for a writer nor makes one wait.
    - An event, and a manifest once recorded, is never changed and never deleted.
    - A module that is assigned to a node, or was last declared on one, cannot be forgotten; nor one
      that a machine runs by its last report, or that is in a generation it has not reported past.
    - Removing a node takes its assignments, reports, pins and what was declared on it, and every
      pin at it. Its generation stays, for when a node of that name is added again.
    - A node that never reported has no capabilities.
    - A build is never forgotten, and its request never another; its first answer is never changed.

    Every method raises `StoreUnreadable` where the store turns out to be damaged, `StoreTooNew`
    where a newer program changed it meanwhile, and any other `StoreOutage`. Inside `writing()` the
    session is asked, not the store: the store's own methods raise `RuntimeError` then. Design, part
    7.
    """

    def mesh(self) -> Mesh:
        """The mesh as last committed."""

    def declared(self) -> Mapping[str, tuple[str, ...]]:
        """By node, the names of the modules last declared on it, sorted.

        A node on which nothing is declared is not in it.
        """

    def standings(self) -> Mapping[str, Standing]:
        """How it stands with every node of the mesh, by name."""

    def pending(self) -> tuple[tuple[str, int, bytes], ...]:
        """Node, generation and bytes of the newest of each node that no broker has confirmed, by name."""

    def newest(self, nodes: Iterable[str]) -> tuple[tuple[str, int, bytes], ...]:
        """As `pending`, of these nodes, confirmed or not; a node that was sent nothing is not in it."""

    def history(self, limit: int | None = None) -> tuple[Recorded, ...]:
        """The newest events, at most `limit` of them (None: all), newest first."""

    def manifests(self, name: str) -> tuple[RecordedManifest, ...]:
        """Every manifest ever recorded for a module's name, each once, the first recorded first.

        None of them is current when the module was dropped; empty for a name never recorded.
        """

    def puts(self, name: str | None = None) -> tuple[Put, ...]:
        """Everything that ever became the current manifest of a name (None: of every name), oldest first.

        None of a name is current when the module was dropped.
        """

    def current(self) -> Mapping[str, Put]:
        """What is current of each module of the catalogue, by name."""

    def heads(self) -> Mapping[str, Seen]:
        """What is known of each source of the mesh, by the module's name; also where nobody looked yet."""

    def builds(self, limit: int | None = None) -> tuple[Build, ...]:
        """The newest builds, at most `limit` of them (None: all), newest first."""

    def build(self, id: str) -> Build | None:
        """The build of that id."""

    def open_builds(self) -> tuple[Build, ...]:
        """Those that are not over, oldest first."""

    def held(self) -> Mapping[str, Build]:
        """By module, the build that waits for somebody's word."""

    def builders(self) -> tuple[str, ...]:
        """The names of the builders that may say something, sorted."""

    def writing(self) -> Writing:
        """One transaction: `with store.writing() as session: ...`.

        From entering to leaving no one else can write. Leaving it commits once; an exception takes
        everything back. Sessions of one store do not nest (`RuntimeError`).
        """

    def backup(self, path: str) -> None:
        """Write the store, as last committed and whole, to a new file, which opens as a store.

        Raises `StoreExists` where there is a file already, `StoreNowhere` where one stands in
        place of a folder; no outage leaves half a file.
        """

    def close(self) -> None:
        """Let go of the store; once more does nothing. Nothing else may be called afterwards."""


class Unreadable(StrEnum):
    """Why a path cannot be read as a store."""

    NOT_A_FILE = "not-a-file"
    """A directory, a device, a pipe."""
    OUT_OF_REACH = "out-of-reach"
    """The system does not let us: permissions, a failing disk, a disk without locks."""
    EMPTY = "empty"
    NO_DATABASE = "no-database"
    """Some other kind of file."""
    NO_STORE = "no-store"
    """A database, of another program."""
    DAMAGED = "damaged"


class StoreError(Exception):
    """A store did not do what was asked: an outage, or a refusal."""


class StoreExists(StoreError):
    """A new store, or a backup, was to be made where a file is: `path`, which is left as it is."""

    def __init__(self, path: str) -> None:
        self.path = path
        super().__init__(f"{path} exists already")


class ModuleInUse(StoreError):
    """A module was to be forgotten, and these nodes have it: assigned, declared, or running.

    `declared_on` has those where it was last declared, or is in a generation that the node has not reported
    past; `running_on` those whose last report has it.
    """

    def __init__(
        self,
        module: str,
        assigned_to: tuple[str, ...],
        declared_on: tuple[str, ...],
        running_on: tuple[str, ...] = (),
    ) -> None:
        self.module = module
        self.assigned_to = assigned_to
        self.declared_on = declared_on
        self.running_on = running_on
        nodes = ", ".join(sorted({*assigned_to, *declared_on, *running_on}))
        super().__init__(f"{module} is in use on {nodes}")


class StoreOutage(StoreError):
    """A store is out of reach; `path` is where it should be."""

    def __init__(self, path: str, sentence: str) -> None:
        self.path = path
        super().__init__(sentence)


class StoreMissing(StoreOutage):
    """There is nothing at `path`."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"there is no store at {path}")


class StoreNowhere(StoreOutage):
    """A new store, or a backup, was to be made at `path`, below `file`, which is not a directory."""

    def __init__(self, path: str, file: str) -> None:
        self.file = file
        super().__init__(path, f"{path} cannot be made: {file} is not a directory")


class StoreUnreadable(StoreOutage):
    """`path` is no store, or a damaged one: `why` says which, `detail` (for people) what is so."""

    def __init__(self, path: str, why: Unreadable, detail: str = "") -> None:
        self.why = why
        self.detail = detail
        super().__init__(path, f"{path} cannot be read as a store: {detail or why}")


class StoreTooNew(StoreOutage):
    """The store has schema `found`, the program knows those up to `known`. No more was read."""

    def __init__(self, path: str, found: int, known: int) -> None:
        self.found = found
        self.known = known
        super().__init__(path, f"{path} has schema {found}, and this program knows those up to {known}")


class StoreReadOnly(StoreOutage):
    """The file, or the directory it is in, cannot be written, and writing was needed."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"{path} cannot be written")


class StoreBusy(StoreOutage):
    """Another command kept the store for longer than one waits."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"another command is writing to {path}")


class StoreFull(StoreOutage):
    """The disk is full."""

    def __init__(self, path: str) -> None:
        super().__init__(path, f"the disk of {path} is full")


class NoSuchModule(LookupError):
    """A module that the catalogue does not have was declared; `module` is its name."""

    def __init__(self, module: str) -> None:
        self.module = module
        super().__init__(f"no module is called {module!r}")
