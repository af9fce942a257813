"""What a kind of resource is: it observes, decides with a pure function, and acts (design, part 8).

Each kind is one small file under `kinds/`, found through the entry-point group `mesh.resource_kinds`, so that
others add theirs: an entry point loads a class without arguments that keeps the promises of `Kind`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal, Protocol, TypeAlias

from attrs import frozen

from mesh_adapters.host.machine import Machine
from mesh_core import Resource
from mesh_core.reconcile import Action, State, Wanted


@frozen(kw_only=True)
class Attribute:
    """An attribute that a kind knows: its name, what it wants, in words, and whether a value is that."""

    name: str
    wanted: str
    fits: Callable[[Any], bool]
    needed: bool = False


@frozen(kw_only=True)
class AttributeFault:
    """An attribute that a kind does not know, or cannot use; without `key` the fault is of the whole."""

    key: str | None
    found: str
    wanted: str
    suggestion: str | None = None

    def __str__(self) -> str:
        meant = f"; {self.suggestion!r} would do" if self.suggestion else ""
        where = f"{self.key}: " if self.key else ""
        return f"{where}{self.found}; {self.wanted}{meant}"


class Immaterial(Exception):
    """A declared resource that cannot be made of what is there, with the reason: a *material fault*."""


@frozen(kw_only=True)
class Unobservable:
    """A resource that could not be looked at, with the reason. It never counts as one that is not there.

    `elsewhere` is whether it only makes sense on a machine that runs, and this is a root directory that
    stands for one: then it is left out, and nothing is wrong.
    """

    why: str
    elsewhere: bool = False


Observed: TypeAlias = State | Unobservable | None
"""What is there (None: nothing), or why that cannot be said."""


@frozen(kw_only=True)
class Prepared:
    """A declared resource as its kind reads it: the state that is wanted, and the bytes of its content."""

    wanted: Wanted
    content: bytes | None = None


@frozen(kw_only=True)
class Done:
    """It is so now. `notes` are worth a line in the report."""

    notes: tuple[str, ...] = ()


@frozen(kw_only=True)
class Failed:
    """It is not so, in the words of whatever refused. The next run tries again."""

    why: str


@frozen(kw_only=True)
class StillNeeded:
    """It is not taken off, since something else that stays needs it: from now on it is there for that."""

    why: str


@frozen(kw_only=True)
class LeftAlone:
    """It is not taken off, since somebody else has put something there; the mesh lets go of it."""

    why: str


Acted: TypeAlias = Done | Failed | StillNeeded | LeftAlone


@frozen(kw_only=True)
class Brought:
    """What will come along with an act and is not there yet, in the order in which it comes.

    `made_first` is whether the host has to make it before the act; else the act itself brings it.
    """

    resources: tuple[Resource, ...] = ()
    made_first: bool = False


@frozen(kw_only=True)
class Around:
    """The other resources of a kind, when one of them is taken off.

    What is `leaving` is in the journal and going in the same run: it may be taken along. What of that is
    `brought` came along with something, and was never declared. What is `staying` is declared.
    """

    leaving: tuple[Resource, ...] = ()
    brought: tuple[Resource, ...] = ()
    staying: tuple[Resource, ...] = ()


@frozen(kw_only=True)
class Context:
    """What a template sees: plain data, `{"node": ..., "module": ..., "answers": ...}`."""

    data: Mapping[str, Any]


class Kind(Protocol):
    """A kind of resource. Pure but for `observe`, `fetch`, `brings` and `act`.

    A kind raises for what no code can go on from; what may well happen on a machine is returned.
    """

    name: str
    """As it stands in `kind`."""
    place: Literal["path", "name"]
    """Which of the two a resource of this kind has."""
    attributes: tuple[Attribute, ...]
    """Every attribute that it knows; a manifest with another is refused when it is added."""

    def faults(self, resource: Resource) -> Iterator[AttributeFault]:
        """What is wrong with a resource beyond single attributes (those are checked already)."""
        ...

    def prepare(self, resource: Resource, context: Context) -> Prepared:
        """The wanted state, and the content. Raises `Immaterial`. Pure: the same on the control plane."""
        ...

    def on(self, machine: Machine, state: State) -> State:
        """The state that `prepare` wants, without the facts that this machine cannot have.

        `prepare` knows no machine: under a root nothing runs, and without privileges no owner is given.
        """
        ...

    def observe(self, resources: Sequence[Resource], machine: Machine) -> Mapping[str, Observed]:
        """What is there of each resource, by identity; every fact that `prepare` and `on` may want."""
        ...

    def remembered(self, resource: Resource) -> Resource:
        """What of it the journal has to keep, so that it can be looked at and taken off later."""
        ...

    def fetch(self, resources: Sequence[Resource], machine: Machine) -> Failed | None:
        """Get here, ahead of time, everything that is needed to make these; nothing is changed by that."""
        ...

    def brings(self, action: Action, resource: Resource, machine: Machine) -> Brought | Failed:
        """What comes along with an act, so that it is in the journal before the act."""
        ...

    def bring(self, resource: Resource, machine: Machine) -> State:
        """The state in which something that comes along will be."""
        ...

    def act(self, action: Action, resource: Resource, content: bytes | None, machine: Machine) -> Acted:
        """Make `action.target` so (None: take it off).

        `resource` is as declared, or as it was when it was declared last; `content` belongs to the target:
        that which `prepare` gave, or that which was there before. Done twice it does no harm.
        """
        ...

    def take_off(self, action: Action, resource: Resource, around: Around, machine: Machine) -> Acted:
        """Act where `action.target` is None. A kind whose resources need each other looks around first."""
        ...


class SimpleKind:
    """What most kinds need not say: nothing is wrong, left out, fetched or brought beyond the attributes."""

    def faults(self, resource: Resource) -> Iterator[AttributeFault]:
        """Nothing beyond the attributes."""
        yield from ()

    def on(self, machine: Machine, state: State) -> State:
        """Every machine can have it all."""
        return state

    def remembered(self, resource: Resource) -> Resource:
        """All of it."""
        return resource

    def fetch(self, resources: Sequence[Resource], machine: Machine) -> Failed | None:
        """Nothing has to be fetched."""
        return None

    def brings(self, action: Action, resource: Resource, machine: Machine) -> Brought | Failed:
        """Nothing comes along."""
        return Brought()

    def bring(self, resource: Resource, machine: Machine) -> State:
        """Nothing of such a kind comes along."""
        raise NotImplementedError(f"a {resource.kind} does not come along with anything")

    def act(self, action: Action, resource: Resource, content: bytes | None, machine: Machine) -> Acted:
        """Every kind says what it does."""
        raise NotImplementedError(f"a {resource.kind} does nothing")

    def take_off(self, action: Action, resource: Resource, around: Around, machine: Machine) -> Acted:
        """By itself: the others do not matter."""
        return self.act(action, resource, None, machine)
