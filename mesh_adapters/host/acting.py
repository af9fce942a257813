"""Act: do what reconciliation decided, with the journal before and after (design, part 8).

Everything is intended in one transaction before the first act; what is done is confirmed once it lasts: files
in one go, everything else one by one. So whoever is killed here finds, the next time, what was to be done.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from attrs import evolve, frozen

from mesh_adapters.host.files import words_of
from mesh_adapters.host.gathering import Gathered
from mesh_adapters.host.journal import Entry, Journal
from mesh_adapters.host.kind import (
    Acted,
    Around,
    Done,
    Failed,
    Kind,
    LeftAlone,
    Observed,
    StillNeeded,
    Unobservable,
)
from mesh_adapters.host.machine import Machine
from mesh_core import Resource
from mesh_core.reconcile import LET_GO, ON_THE_MACHINE, Act, Action, Owned, State, holds, intending, settled


@frozen(kw_only=True)
class Event:
    """One action, and what came of it."""

    action: Action
    modules: tuple[str, ...]
    acted: Acted


Watch = Callable[[Event], None]
Enough = Callable[[], bool]
"""Asked before each action whether to stop there: somebody wants to, or something newer is to be begun."""


def never() -> bool:
    """A run that goes on to its end."""
    return False


_QUICK = frozenset({"file", "directory"})
"""Kinds whose acts are confirmed together: they last only when their directories are synced."""


class Acting:
    """One run over the actions of one declaration."""

    def __init__(
        self,
        gathered: Gathered,
        kinds: Mapping[str, Kind],
        machine: Machine,
        journal: Journal,
        watch: Watch,
        enough: Enough = never,
    ) -> None:
        self._gathered = gathered
        self._kinds = kinds
        self._machine = machine
        self._journal = journal
        self._watch = watch
        self._enough = enough
        self.stopped = False
        """Whether it ended before its last action."""
        self._intended: dict[str, Entry] = {}
        self._came: dict[str, Entry] = {}
        self._going: dict[str, str] = {}
        self._gone: set[str] = set()
        self._lasting: dict[str, Entry | None] = {}
        """What the journal is to say once it lasts; None: nothing any more."""
        self._untold: list[Event] = []
        """What is so once the files are in their places."""
        self.events: list[Event] = []

    def perform(self, actions: Sequence[Action], **facts: object) -> None:
        """Intend all, fetch, act on each in order, confirm. `facts` go into the journal with the intents."""
        self._tidy()
        self._going = {a.identity: a.kind for a in actions if a.act in (Act.REMOVE, Act.SWEEP)}
        changed_since = self._intend(actions, facts)
        unfetched = self._fetch(actions)
        for action in actions:
            if action.identity in self._came and action.act in LET_GO:
                continue  # it came again, with something that was made in this run
            if self._enough():
                self.stopped = True
                break
            why = changed_since.get(action.identity) or unfetched.get(action.identity)
            why = why or self._for_nothing(action)
            if why is not None:
                self._not_done(action, why)
            else:
                self._one(action)
        self._flush()

    def _for_nothing(self, action: Action) -> str | None:
        """Why there is nothing to take notice of: what it watches and was to change, all failed."""
        if action.act is not Act.REFRESH or not action.because:
            return None
        self._flush()
        failed = {event.action.identity for event in self.events if isinstance(event.acted, Failed)}
        if not failed.issuperset(action.because):
            return None
        known = self._gathered.entries.get(action.identity)
        owed = known is not None and known.owned.stale
        return None if owed else f"what it watches did not change: {', '.join(action.because)}"

    def _not_done(self, action: Action, why: str) -> None:
        known = self._gathered.entries.get(action.identity)
        if action.act is Act.REFRESH and known is not None:
            self._lasting[action.identity] = known  # nothing changed that it would have to notice later
        self._note(action, Failed(why=why))

    def _tidy(self) -> None:
        """Take away what a run that was killed had begun to write."""
        for entry in self._gathered.entries.values():
            if entry.owned.in_flight and entry.resource.path is not None:
                self._machine.files.tidy(entry.resource.path)

    def _intend(self, actions: Sequence[Action], facts: Mapping[str, object]) -> dict[str, str]:
        """Write all intents, with the bytes that are about to be replaced; whose bytes changed, is told."""
        for action in actions:
            if action.act is Act.RESTORE:
                self._content(action)  # it raises where the bytes are not there: before anything is touched
        changed: dict[str, str] = {}
        sweeping = {"sweep_due": True} if any(a.act is Act.SWEEP for a in actions) else {}
        entries = self._intents(actions, changed)
        self._journal.intend(entries, self._bytes_before(actions, changed), **facts, **sweeping)
        return changed

    def _intents(self, actions: Sequence[Action], changed: Mapping[str, str]) -> Iterator[Entry]:
        for action in actions:
            if action.act in ON_THE_MACHINE and action.identity not in changed:
                self._intended[action.identity] = self._entry(action)
        yield from self._intended.values()
        acted_on = {action.identity for action in actions}
        for identity in self._gathered.declared:
            known = self._gathered.entries.get(identity)
            if known is None or identity in acted_on:
                continue
            remembered = self._remembered(identity)
            if known.resource != remembered:
                yield evolve(known, resource=remembered)

    def _bytes_before(self, actions: Iterable[Action], changed: dict[str, str]) -> Iterator[bytes]:
        """The bytes that were there before the mesh and that the journal has not, one file at a time."""
        for action in actions:
            known = self._gathered.entries.get(action.identity)
            news = action.act not in LET_GO and (known is None or known.owned.before != action.before)
            digest = action.before.get("sha256") if news and action.before is not None else None
            if digest is not None:
                content = self._bytes_of(action, str(digest))
                if isinstance(content, str):
                    changed[action.identity] = content
                else:
                    yield content

    def _bytes_of(self, action: Action, digest: str) -> bytes | str:
        declared = self._gathered.declared[action.identity].prepared.content
        if declared is not None and hashlib.sha256(declared).hexdigest() == digest:
            return declared
        path = str(self._gathered.resource(action.identity).path)
        try:
            content = self._machine.files.read(path)
        except OSError as error:
            return f"{path}: {error.strerror}"
        if hashlib.sha256(content).hexdigest() != digest:
            return f"{path} is being changed by somebody else; nothing was done to it"
        return content

    def _entry(self, action: Action) -> Entry:
        """The journal's entry from the moment on where the act is intended."""
        known = self._came.get(action.identity) or self._gathered.entries.get(action.identity)
        owned = intending(action, known.owned if known is not None else None)
        return Entry(owned=owned, resource=self._remembered(action.identity))

    def _remembered(self, identity: str) -> Resource:
        resource = self._gathered.resource(identity)
        return self._kinds[resource.kind].remembered(resource)

    def _fetch(self, actions: Sequence[Action]) -> dict[str, str]:
        """Fetch everything first; what cannot be, keeps all of its modules from being touched."""
        making = [a for a in actions if a.act in (Act.MAKE, Act.CHANGE, Act.PUT_BACK)]
        unfetched: dict[str, str] = {}
        for name, kind in self._kinds.items():
            mine = [a for a in making if a.kind == name]
            if not mine or self._fetched(kind, mine) is None:
                continue
            for module in {m for a in mine for m in self._gathered.modules(a.identity)}:
                of_module = [a for a in mine if module in self._gathered.modules(a.identity)]
                failed = self._fetched(kind, of_module)
                if failed is not None:
                    why = f"{module} is not touched, since not all that it needs can be had: {failed.why}"
                    touching = [*making, *(a for a in actions if a.act is Act.REFRESH)]
                    of_all = [a for a in touching if module in self._gathered.modules(a.identity)]
                    unfetched |= {a.identity: why for a in of_all}
        return unfetched

    def _fetched(self, kind: Kind, actions: Sequence[Action]) -> Failed | None:
        return kind.fetch([self._gathered.resource(a.identity) for a in actions], self._machine)

    def _one(self, action: Action) -> None:
        if action.kind not in _QUICK:
            self._flush()
        if action.act in ON_THE_MACHINE:
            action, acted = self._on_the_machine(action)
        else:
            acted = Done()
        self._settle(action, acted)
        self._note(action, acted)
        if action.kind not in _QUICK:
            self._flush()

    def _on_the_machine(self, action: Action) -> tuple[Action, Acted]:
        """Act as things are now: our own acts before this one, and others', may have come between."""
        seen = self._seen(action)
        if isinstance(seen, Unobservable):
            return action, Failed(why=seen.why)
        if seen != action.observed and action.act in LET_GO:
            owned = self._intended[action.identity].owned
            if not owned.made_so(seen):
                return action, LeftAlone(why="somebody else has just changed it")
        elif seen != action.observed:
            action = self._as_seen(action, seen)
        if action.act is Act.MAKE or action.identity in self._came:
            failed = self._intend_again(action)
            if failed is not None:
                return action, failed
        brought = self._bring(action)
        if isinstance(brought, Failed):
            return action, brought
        acted = self._held(action, self._act(action))
        self._look_what_came(brought)
        return action, acted

    def _seen(self, action: Action) -> Observed:
        if action.kind not in _QUICK or action.identity in self._came:
            return action.observed
        resource = self._gathered.resource(action.identity)
        return self._kinds[action.kind].observe([resource], self._machine)[action.identity]

    def _as_seen(self, action: Action, seen: State | None) -> Action:
        """What is replaced for the first time is remembered as it is now; else it drifted just now."""
        if action.act is Act.MAKE:
            return evolve(action, observed=seen, before=seen)
        return evolve(action, observed=seen, act=Act.PUT_BACK)

    def _intend_again(self, action: Action) -> Failed | None:
        """Where what is there came after the intent was written, write it anew."""
        intended = self._intended[action.identity]
        entry = self._entry(action)
        if entry == intended:
            return None
        changed: dict[str, str] = {}
        kept = list(self._bytes_before([action], changed))
        if changed:
            return Failed(why=changed[action.identity])
        self._journal.intend([entry], kept)
        self._intended[action.identity] = entry
        return None

    def _held(self, action: Action, acted: Acted) -> Acted:
        """A directory that is not empty since something of ours stays in it goes when that goes."""
        if not isinstance(acted, LeftAlone):
            return acted
        ours = {*self._gathered.declared, *self._gathered.entries, *self._came} - self._gone
        ours |= self._gathered.turned.keys()  # gone as what it was; it comes as something else
        within = f"{action.identity}/"
        return StillNeeded(why=acted.why) if any(other.startswith(within) for other in ours) else acted

    def _bring(self, action: Action) -> list[Entry] | Failed:
        """Write down what comes along, and make it where it does not come by itself.

        Returns what the act itself is to bring. That is in flight until the act is done: what one that failed
        brought is there or not, and the next run looks.
        """
        kind, resource = self._kinds[action.kind], self._gathered.resource(action.identity)
        brought = kind.brings(action, resource, self._machine)
        if isinstance(brought, Failed):
            return brought
        coming = [
            self._brought(resource, action.position)
            for resource in brought.resources
            if brought.made_first or self._comes(resource.identity)
        ]
        if coming:
            self._journal.intend(coming)
            self._came |= {entry.owned.identity: entry for entry in coming}
        if not brought.made_first:
            return coming
        for entry in coming:
            made = self._make_first(entry)
            if isinstance(made, Failed):
                return made
            self._have_come([entry])
        return []

    def _have_come(self, entries: Iterable[Entry]) -> None:
        for entry in entries:
            come = evolve(entry, owned=settled(entry.owned, entry.owned.intended))
            self._came[entry.owned.identity] = self._lasting[entry.owned.identity] = come
            self._gone.discard(entry.owned.identity)

    def _comes(self, identity: str) -> bool:
        """Whether it is to be written down: not what is owned for its own sake and goes in this run."""
        known = self._gathered.entries.get(identity)
        there = known is not None and identity not in self._gone and identity not in self._gathered.declared
        return not there or (known is not None and known.owned.brought)

    def _look_what_came(self, entries: Iterable[Entry]) -> None:
        """After an act, failed or not: what did not come is not owned, or somebody's later would pass for it.

        What cannot be looked at, or is halfway, stays in flight; what is declared has its own turn.
        """
        for entry in entries:
            owned = entry.owned
            seen = self._kinds[owned.kind].observe([entry.resource], self._machine)[owned.identity]
            if seen is None and owned.brought:
                del self._came[owned.identity]
                self._lasting[owned.identity] = None
            elif isinstance(seen, State) and holds(owned.intended, seen):
                self._have_come([entry])

    def _brought(self, resource: Resource, position: int) -> Entry:
        """What is owned of what comes along. Where it is declared as well, that comes to it in its turn."""
        identity = resource.identity
        declared = identity in self._gathered.declared
        known = self._intended.get(identity) or self._gathered.entries.get(identity)
        owned = Owned(
            identity=identity,
            kind=resource.kind,
            position=position,
            before=known.owned.before if known is not None and declared else None,
            left=None,
            in_flight=True,
            intended=self._kinds[resource.kind].bring(resource, self._machine),
            brought=not declared,
        )
        return Entry(owned=owned, resource=resource)

    def _make_first(self, entry: Entry) -> Acted:
        owned = entry.owned
        action = Action(
            act=Act.MAKE,
            identity=owned.identity,
            kind=owned.kind,
            position=owned.position,
            observed=None,
            target=owned.intended,
            before=None,
        )
        return self._kinds[owned.kind].act(action, entry.resource, None, self._machine)

    def _act(self, action: Action) -> Acted:
        kind, resource = self._kinds[action.kind], self._gathered.resource(action.identity)
        if action.target is None:
            return kind.take_off(action, resource, self._around(action), self._machine)
        return kind.act(action, resource, self._content(action), self._machine)

    def _around(self, action: Action) -> Around:
        """The others of its kind: those that go too, and those that stay."""
        left = {e.action.identity for e in (*self.events, *self._untold) if isinstance(e.acted, LeftAlone)}
        going = {i for i, kind in self._going.items() if kind == action.kind} - left - self._came.keys()
        leaving = [self._gathered.entries[identity] for identity in sorted(going - {action.identity})]
        staying = [
            one.resource for one in self._gathered.declared.values() if one.resource.kind == action.kind
        ]
        return Around(
            leaving=tuple(entry.resource for entry in leaving),
            brought=tuple(entry.resource for entry in leaving if entry.owned.brought),
            staying=tuple(staying),
        )

    def _content(self, action: Action) -> bytes | None:
        declared = self._gathered.declared.get(action.identity)
        if action.act not in LET_GO:
            return declared.prepared.content if declared is not None else None
        digest = action.target.get("sha256") if action.target is not None else None
        return None if digest is None else self._machine.kept(str(digest))

    def _settle(self, action: Action, acted: Acted) -> None:
        """What the journal is to say of it from now on; where it failed, the intent stands."""
        identity = action.identity
        if isinstance(acted, Failed):
            return
        if isinstance(acted, StillNeeded):
            known = self._gathered.entries[identity]
            left = known.owned.left_as(action.observed)
            self._lasting[identity] = evolve(known, owned=settled(known.owned, left, brought=True))
        elif action.act in LET_GO:
            self._gone.add(identity)
            self._lasting[identity] = None
        else:
            entry = self._intended.get(identity) or self._entry(action)
            self._lasting[identity] = evolve(entry, owned=settled(entry.owned, action.target, brought=False))

    def _flush(self) -> None:
        """Have everything so far last, write that down, and tell it."""
        if self._lasting:
            failed = self._unplaced()
            self._untold = [failed.get(event.action.identity, event) for event in self._untold]
            lasting = [entry for entry in self._lasting.values() if entry is not None]
            self._journal.confirm(lasting, [i for i, entry in self._lasting.items() if entry is None])
            self._lasting = {}
        told, self._untold = self._untold, []
        for event in told:
            self.events.append(event)
            self._watch(event)

    def _unplaced(self) -> dict[str, Event]:
        """The events, by identity, of files that could not be put in their places after all."""
        failed: dict[str, Event] = {}
        whys = {f"path:{path}": words_of(error, path) for path, error in self._machine.files.settle().items()}
        for event in self._untold:
            identity = event.action.identity
            if identity in whys:
                failed[identity] = evolve(event, acted=Failed(why=whys[identity]))
                self._lasting.pop(identity, None)
        return failed

    def _note(self, action: Action, acted: Acted) -> None:
        modules = self._gathered.modules(action.identity)
        self._untold.append(Event(action=action, modules=modules, acted=acted))
