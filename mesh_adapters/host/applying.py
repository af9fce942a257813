"""Apply: gather, decide, act (design, part 8).

> A declaration is state, sent whole, latest wins.

A declaration that is not taken changes nothing. One that is taken is applied as far as it goes: what fails is
reported in the words of whatever refused, the rest is applied, and the next run goes on from there.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import TypeAlias

from attrs import asdict, evolve, frozen

from mesh_adapters.host.acting import Acting, Enough, Event, Watch, never
from mesh_adapters.host.applied import Applied
from mesh_adapters.host.checking import Asked, asked_from_data, checks_of, run_checks
from mesh_adapters.host.gathering import Gathered, Trouble, gather, observe
from mesh_adapters.host.journal import Entry, Journal
from mesh_adapters.host.kind import Failed, Kind
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay import hosts
from mesh_adapters.host.status import status_of
from mesh_core import Fault, Resource, WireError
from mesh_core.model.declaration import Declaration
from mesh_core.reconcile import (
    ON_THE_MACHINE,
    Action,
    NotTaken,
    State,
    Taken,
    TooManyRemovals,
    holds,
    most_removed,
    reconcile,
    too_many,
    why_not,
)
from mesh_core.wire.data import check_to_data
from mesh_core.wire.declaration import received


@frozen(kw_only=True)
class Host:
    """A machine with its journal, and the kinds that it knows."""

    machine: Machine
    journal: Journal
    kinds: Mapping[str, Kind]


@frozen(kw_only=True)
class Malformed:
    """What was handed over is no declaration, or was cut or changed on its way."""

    faults: tuple[Fault, ...]


@frozen(kw_only=True)
class Decided:
    """What applying would do: nothing was changed yet. `seen` is the digest of the bytes as they came."""

    declaration: Declaration
    digest: str
    seen: str
    gathered: Gathered
    actions: tuple[Action, ...]

    @property
    def changes(self) -> tuple[Action, ...]:
        """The actions that change the machine."""
        return tuple(action for action in self.actions if action.act in ON_THE_MACHINE)


@frozen(kw_only=True)
class Stopped:
    """A run that did not come to its end: what was done until then stands in the journal."""

    node: str
    generation: int
    events: tuple[Event, ...]


Refused: TypeAlias = Malformed | NotTaken
"""Why nothing was changed."""


def nothing(_event: Event) -> None:
    """A watch that does not look."""


def decide(content: bytes, host: Host) -> Decided | Refused:
    """What a declaration's bytes ask of this machine. Raises `JournalError`."""
    try:
        declaration, digest = received(content)
    except WireError as error:
        return Malformed(faults=tuple(error.faults))
    refused = why_not(declaration, digest, host.journal.taken())
    if refused is not None:
        return refused
    entries = host.journal.entries()
    gathered, actions = _reconciled(declaration, entries, host)
    owned = [entry.owned for entry in entries]
    going = () if declaration.allow_removals else too_many(actions, owned)
    if going:
        known = sum(not one.brought for one in owned)
        return TooManyRemovals(
            generation=declaration.generation, owned=known, most=most_removed(known), going=going
        )
    seen = hashlib.sha256(content).hexdigest()
    return Decided(declaration=declaration, digest=digest, seen=seen, gathered=gathered, actions=actions)


def _reconciled(
    declaration: Declaration, entries: Sequence[Entry], host: Host
) -> tuple[Gathered, tuple[Action, ...]]:
    gathered = gather(declaration, entries, host.kinds, host.machine)
    owned = [entry.owned for entry in gathered.entries.values()]
    wanted = [one.prepared.wanted for one in gathered.declared.values()]
    sweep = bool(host.journal.fact("sweep_due") or gathered.turned)
    return gathered, reconcile(wanted, owned, gathered.observed, sweep=sweep)


def apply(decided: Decided, host: Host, watch: Watch = nothing) -> Applied:
    """Do what was decided, to its end. Raises `JournalError`."""
    applied = apply_until(decided, host, never, watch)
    if isinstance(applied, Stopped):
        raise AssertionError("nobody asked to stop")
    return applied


def apply_until(decided: Decided, host: Host, enough: Enough, watch: Watch = nothing) -> Applied | Stopped:
    """Do what was decided, or as far as it got before it was `enough`. Raises `JournalError`."""
    if hosts.declared(decided.declaration):
        decided = _looked_again(decided, host)
    if decided.actions:
        host.journal.check()
    declaration = decided.declaration
    taken = Taken(node=declaration.node, generation=declaration.generation, digest=decided.digest)
    acting = Acting(decided.gathered, host.kinds, host.machine, host.journal, watch, enough)
    modules = {identity: list(one.modules) for identity, one in decided.gathered.declared.items()}
    acting.perform(decided.actions, taken=asdict(taken), seen=None, modules=modules)
    events, troubles = tuple(acting.events), decided.gathered.troubles
    if acting.stopped:
        return Stopped(node=declaration.node, generation=declaration.generation, events=events)
    if decided.gathered.turned:
        more, troubles = _apply_turned(declaration, events, host, watch)
        events += more
    asked = checks_of(declaration)
    applied = Applied(
        node=declaration.node,
        generation=declaration.generation,
        events=events,
        troubles=troubles,
        checks=run_checks(asked, host.machine),
    )
    host.journal.drop_unneeded()
    # What is left out under a root is not left out where the same root runs as a machine.
    as_said = applied.well and not applied.troubles
    _remember(applied, asked, decided.seen if as_said else None, host.journal)
    return applied


def _looked_again(decided: Decided, host: Host) -> Decided:
    """What is to be done as things are now: names of the mesh that were in a file may have gone since."""
    gathered, actions = _reconciled(decided.declaration, host.journal.entries(), host)
    return evolve(decided, gathered=gathered, actions=actions)


def _apply_turned(
    declaration: Declaration, done: Sequence[Event], host: Host, watch: Watch
) -> tuple[tuple[Event, ...], tuple[Trouble, ...]]:
    """Once what was of another kind is off, make what is declared in its place; what failed is let be."""
    gathered, actions = _reconciled(declaration, host.journal.entries(), host)
    failed = {event.action.identity for event in done if isinstance(event.acted, Failed)}
    acting = Acting(gathered, host.kinds, host.machine, host.journal, watch)
    acting.perform([action for action in actions if action.identity not in failed])
    stuck = [
        Trouble(
            identity=identity,
            kind=one.resource.kind,
            modules=one.modules,
            why=f"there is a {gathered.entries[identity].owned.kind} here that could not be taken off",
        )
        for identity, one in gathered.turned.items()
        if identity not in failed
    ]
    return tuple(acting.events), (*gathered.troubles, *stuck)


def _remember(applied: Applied, asked: Sequence[Asked], seen: str | None, journal: Journal) -> None:
    """What `status` answers, and what tells the next run that nothing is new."""
    journal.remember(
        sweep_due=False,
        seen=seen,
        status=status_of(applied),
        checks=[{"module": one.module, "check": check_to_data(one.check)} for one in asked],
    )


def unchanged(content: bytes, host: Host) -> Applied | None:
    """The outcome where the very same bytes were applied well before, and everything is as it was left.

    None where it is not certain: then `decide` looks at it. This costs hashing the bytes and looking at what
    is owned; nothing is read into values, so that a host that is told the same every few minutes is cheap.
    """
    journal = host.journal
    taken, seen = journal.taken(), journal.fact("seen")
    if taken is None or seen is None or hashlib.sha256(content).hexdigest() != seen:
        return None
    left = journal.left()
    if left is None or journal.fact("sweep_due") or not _as_left(left, host):
        return None
    asked = [asked_from_data(data) for data in journal.fact("checks")]
    checks = run_checks(asked, host.machine)
    return Applied(node=taken.node, generation=taken.generation, events=(), troubles=(), checks=checks)


def _as_left(left: Mapping[str, tuple[str, State | None]], host: Host) -> bool:
    """Whether everything is as the host left it. What has a path needs no more to be looked at."""
    resources = [
        Resource(kind=kind, path=identity[len("path:") :])
        for identity, (kind, _) in left.items()
        if identity.startswith("path:")
    ]
    if others := left.keys() - {resource.identity for resource in resources}:
        resources += [entry.resource for entry in host.journal.entries_of(others)]
    observed, unseen = observe(resources, host.kinds, host.machine)
    return not unseen and all(holds(state, observed[identity]) for identity, (_, state) in left.items())
