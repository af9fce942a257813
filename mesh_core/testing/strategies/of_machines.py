"""Strategies for what a host decides on: what is declared, owned and observed (design, part 8).

Few names and few values, so that much happens: files in directories, a service that watches them, packages.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from attrs import field, frozen
from hypothesis import strategies as st

from mesh_core.reconcile.owned import Owned
from mesh_core.reconcile.reconcile import Wanted
from mesh_core.reconcile.state import Fact, State
from mesh_core.testing.strategies.dice import Dice, thrown

EDITED = "edited"
"""A value that only a person gives."""

KINDS: Mapping[str, str] = MappingProxyType(
    {
        "path:/a": "directory",
        "path:/a/b": "directory",
        "path:/a/b/c": "file",
        "path:/a/d": "file",
        "path:/e": "file",
        "service:s": "service",
        "package:p": "package",
        "package:q": "package",
    }
)
"""The kind of each identity that there is."""

THROWS = 400
"""So many throws make a case."""

Observed = dict[str, State | None]


@frozen(kw_only=True)
class Case:
    """What `reconcile` is given."""

    declared: tuple[Wanted, ...]
    owned: tuple[Owned, ...]
    observed: Observed = field(hash=False)
    sweep: bool = False


def cases() -> st.SearchStrategy[Case]:
    """Anything that a journal and a machine can say together."""
    return thrown(THROWS, any_case)


def any_case(dice: Dice) -> Case:
    """Anything that a journal and a machine can say together."""
    declared = any_declared(dice)
    owned = tuple(any_owned(dice, identity) for identity in dice.some(KINDS, len(KINDS)))
    entries = {entry.identity: entry for entry in owned}
    wanted = {one.identity: one.state for one in declared}
    observed: Observed = {}
    for identity in KINDS if dice.one_in(2) else sorted(entries.keys() | wanted.keys()):
        if not dice.one_in(8):
            observed[identity] = _seen(dice, identity, entries.get(identity), wanted.get(identity))
    return Case(declared=declared, owned=owned, observed=dict(sorted(observed.items())), sweep=dice.one_in(4))


def any_declared(dice: Dice) -> tuple[Wanted, ...]:
    """Some resources in some order; services watch paths."""
    declared = []
    for identity in dice.some(KINDS, len(KINDS)):
        paths = [path for path in KINDS if path.startswith("path:")]
        watches = dice.some(paths, 2) if KINDS[identity] == "service" else ()
        state = any_state(dice, KINDS[identity])
        declared.append(Wanted(identity=identity, kind=KINDS[identity], state=state, watches=watches))
    return tuple(declared)


def any_machine(dice: Dice) -> Observed:
    """What is there before the mesh, of everything that there is."""
    return {identity: _found(dice, any_there(dice, kind)) for identity, kind in KINDS.items()}


def any_there(dice: Dice, kind: str) -> State | None:
    """What a machine may have of a kind, whole; nothing, too."""
    if dice.one_in(3):
        return None
    if kind == "file" and dice.one_in(4):
        return State(facts={"type": "link", "target": "elsewhere", "mode": "0777"})
    if kind == "service":
        return State(facts={"enabled": dice.one_in(2), "running": dice.one_in(2)})
    return any_state(dice, kind)


def any_state(dice: Dice, kind: str) -> State:
    """A state that can be wanted of a kind; of a service maybe only a part."""
    facts: dict[str, Fact]
    match kind:
        case "file":
            facts = {"type": "file", "sha256": dice.one_of(["1", "2", "3"]), "mode": _mode(dice)}
        case "directory":
            facts = {"type": "directory", "mode": _mode(dice)}
        case "service":
            facts = {"enabled": dice.one_in(2)} if dice.one_in(2) else {"running": dice.one_in(2)}
            facts |= {"enabled": dice.one_in(2)} if dice.one_in(2) else {}
        case _:
            facts = {"version": dice.one_of(["1", "2"])}
    return State(facts=facts)


def _mode(dice: Dice) -> str:
    return dice.one_of(["0644", "0600"])


def any_owned(dice: Dice, identity: str) -> Owned:
    """An entry of the journal: settled or in flight, declared or brought."""
    kind = KINDS[identity]
    brought = kind in ("directory", "package") and dice.one_in(3)
    in_flight = dice.one_in(3)
    before = None if brought or dice.one_in(2) else any_there(dice, kind)
    left = None if in_flight and dice.one_in(2) else any_state(dice, kind)
    intended = None
    if in_flight:
        intended = before if left is not None and dice.one_in(2) else any_state(dice, kind)
    return Owned(
        identity=identity,
        kind=kind,
        position=dice.below(6),
        before=before,
        left=left,
        in_flight=in_flight,
        intended=intended,
        brought=brought,
        stale=kind == "service" and dice.one_in(3),
    )


def _seen(dice: Dice, identity: str, entry: Owned | None, wanted: State | None) -> State | None:
    """As it was left, or was to be, or was before, or is wanted; or between; or as somebody else had it."""
    states = [wanted, any_there(dice, KINDS[identity])]
    if entry is not None:
        states += [entry.left, entry.left, entry.intended, entry.before]
    state = dice.one_of(states)
    if dice.one_in(4):
        return edited(dice, state)
    if dice.one_in(4):
        state = half_way(dice, state, dice.one_of(states))
    return _found(dice, state)


def edited(dice: Dice, state: State | None) -> State | None:
    """As a person left it: one fact, and only a person gives it such a value."""
    if state is None:
        return State(facts={"type": EDITED})
    name, _ = dice.one_of(state.facts)
    return State(facts={**state.as_data(), name: EDITED})


def half_way(dice: Dice, old: State | None, new: State | None) -> State | None:
    """What may be there when a change was not carried through; what is of another type changes in one go."""
    if old is None or new is None or old.get("type") != new.get("type"):
        return dice.one_of([old, new])
    facts = {name: fact for name, fact in new.facts if dice.one_in(2)}
    return State(facts={**old.as_data(), **facts})


def _found(dice: Dice, state: State | None) -> State | None:
    """With a fact that nobody asked for."""
    return None if state is None else State(facts={**state.as_data(), "seen": dice.below(3)})
