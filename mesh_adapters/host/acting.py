"""Act: do what reconciliation decided, with the journal before and after (design, part 8).

Everything is intended in one transaction before the first act; what is done is confirmed once it lasts: files
in one go, everything else one by one. So whoever is killed here finds, the next time, what was to be done.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

from mesh_adapters.host.gathering import Gathered
from mesh_adapters.host.journal import Entry, Journal, settled
from mesh_adapters.host.kind import Acted, Done, Failed, Kind, LeftAlone, StillNeeded
from mesh_adapters.host.machine import Machine
from mesh_core import Resource
from mesh_core.reconcile import LET_GO, ON_THE_MACHINE, Act, Action, Owned


@frozen(kw_only=True)
class Event:
    """One action, and what came of it."""

    action: Action
    modules: tuple[str, ...]
    acted: Acted


Watch = Callable[[Event], None]

_QUICK = frozenset({"file", "directory"})
"""Kinds whose acts are confirmed together: they last only when their directories are synced."""


class Acting:
    """One run over the actions of one declaration."""

    def __init__(
        self, gathered: Gathered, kinds: Mapping[str, Kind], machine: Machine, journal: Journal, watch: Watch
    ) -> None:
        self._gathered = gathered
        self._kinds = kinds
        self._machine = machine
        self._journal = journal
        self._watch = watch
        self._intended: dict[str, Entry] = {}
        self._done: list[Entry] = []
        self._gone: list[str] = []
        self.events: list[Event] = []

    def perform(self, actions: Sequence[Action], **facts: object) -> None:
        """Intend all, fetch, act on each in order, confirm. `facts` go into the journal with the intents."""
        changed_since = self._intend(actions, facts)
        unfetched = self._fetch(actions)
        for action in actions:
            why = changed_since.get(action.identity) or unfetched.get(action.identity)
            if why is not None:
                self._note(action, Failed(why=why))
            else:
                self._one(action)
        self._flush()

    def _intend(self, actions: Sequence[Action], facts: Mapping[str, object]) -> dict[str, str]:
        """Write all intents, with the bytes that are about to be replaced; whose bytes changed, is told."""
        kept: list[bytes] = []
        changed: dict[str, str] = {}
        for action in actions:
            if action.act is Act.MAKE and self._replaces_a_file(action):
                content = self._bytes_before(action)
                if isinstance(content, str):
                    changed[action.identity] = content
                    continue
                kept.append(content)
            if action.act in ON_THE_MACHINE:
                self._intended[action.identity] = self._entry(action)
        sweeping = {"sweep_due": True} if any(a.act is Act.SWEEP for a in actions) else {}
        self._journal.intend(self._intended.values(), kept, **facts, **sweeping)
        return changed

    def _replaces_a_file(self, action: Action) -> bool:
        return action.observed is not None and action.observed.get("sha256") is not None

    def _bytes_before(self, action: Action) -> bytes | str:
        path = str(self._gathered.resource(action.identity).path)
        try:
            content = self._machine.files.read(path)
        except OSError as error:
            return f"{path}: {error.strerror}"
        if action.observed is None or hashlib.sha256(content).hexdigest() != action.observed.get("sha256"):
            return f"{path} is being changed by somebody else; nothing was done to it"
        return content

    def _entry(self, action: Action) -> Entry:
        """The journal's entry from the moment on where the act is intended."""
        known = self._gathered.entries.get(action.identity)
        left = known.owned.left if known is not None else None
        stale = bool(action.because) or (known is not None and known.owned.stale)
        return Entry(
            owned=Owned(
                identity=action.identity,
                kind=action.kind,
                position=action.position,
                before=action.before,
                left=left,
                in_flight=True,
                intended=action.target,
                brought=action.act is Act.SWEEP,
                stale=stale,
            ),
            resource=self._gathered.resource(action.identity),
        )

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
                    of_all = [a for a in making if module in self._gathered.modules(a.identity)]
                    unfetched |= {a.identity: why for a in of_all}
        return unfetched

    def _fetched(self, kind: Kind, actions: Sequence[Action]) -> Failed | None:
        return kind.fetch([self._gathered.resource(a.identity) for a in actions], self._machine)

    def _one(self, action: Action) -> None:
        if action.kind not in _QUICK:
            self._flush()
        acted = self._bring(action) or self._act(action) if action.act in ON_THE_MACHINE else Done()
        self._settle(action, acted)
        self._note(action, acted)
        if action.kind not in _QUICK:
            self._flush()

    def _bring(self, action: Action) -> Failed | None:
        """Write down what comes along, and make it where it does not come by itself."""
        kind, resource = self._kinds[action.kind], self._gathered.resource(action.identity)
        brought = kind.brings(action, resource, self._machine)
        if isinstance(brought, Failed):
            return brought
        entries = [self._brought(r, action.position) for r in brought.resources]
        entries = [e for e in entries if e.owned.identity not in self._gathered.entries]
        if entries:
            self._journal.intend(entries)
        for entry in entries:
            if brought.made_first:
                made = self._make_first(entry)
                if isinstance(made, Failed):
                    return made
            self._done.append(settled(entry, entry.owned.intended))
        return None

    def _brought(self, resource: Resource, position: int) -> Entry:
        wanted = self._kinds[resource.kind].bring(resource, self._machine)
        owned = Owned(
            identity=resource.identity,
            kind=resource.kind,
            position=position,
            before=None,
            left=None,
            in_flight=True,
            intended=wanted,
            brought=True,
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
        resource = self._gathered.resource(action.identity)
        content = self._content(action)
        return self._kinds[action.kind].act(action, resource, content, self._machine)

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
        if action.act is Act.LEAVE or isinstance(acted, LeftAlone):
            self._gone.append(identity)
        elif isinstance(acted, StillNeeded):
            known = self._gathered.entries[identity]
            self._done.append(settled(known, known.owned.left, brought=True))
        elif action.act in LET_GO:
            self._gone.append(identity)
        else:
            entry = self._intended.get(identity) or self._entry(action)
            self._done.append(settled(entry, action.target, brought=False))

    def _flush(self) -> None:
        if self._done or self._gone:
            self._machine.files.settle()
            self._journal.confirm(self._done, self._gone)
            self._done, self._gone = [], []

    def _note(self, action: Action, acted: Acted) -> None:
        event = Event(action=action, modules=self._gathered.modules(action.identity), acted=acted)
        self.events.append(event)
        self._watch(event)
