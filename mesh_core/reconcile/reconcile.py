"""`reconcile`: what is declared, owned and observed -> what to do (design, part 8).

> removes what it owns and the declaration no longer names, **and nothing else**. What was there before it is
> remembered and put back or left; what a person edited since is left and reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from attrs import evolve, field, frozen

from mesh_core.reconcile.actions import ON_THE_MACHINE, Act, Action
from mesh_core.reconcile.owned import Owned
from mesh_core.reconcile.state import State, holds


def _texts(texts: Iterable[str]) -> tuple[str, ...]:
    return tuple(texts)


@frozen(kw_only=True)
class Wanted:
    """A declared resource, as its kind reads it: the state that it is to be in, and what it watches.

    `watches` are identities: when one of them changes on the machine, this one has to take notice.
    """

    identity: str
    kind: str
    state: State
    watches: tuple[str, ...] = field(default=(), converter=_texts)


def reconcile(
    declared: Sequence[Wanted],
    owned: Iterable[Owned],
    observed: Mapping[str, State | None],
    *,
    sweep: bool = False,
) -> tuple[Action, ...]:
    """What to do, in order.

    `declared` is in the order in which it is to be made: providers before those who need them, each
    identity once. `observed` has a state (None: not there) for each declared and each owned identity;
    one that is missing could not be looked at, and nothing is done to it. What is no longer declared goes
    first, the last made first; what came along goes last, and only where something else goes, or `sweep`
    says that an earlier run did not come so far. A directory goes after what is in it: with what came
    along, where some of that is in it.
    """
    entries = {entry.identity: entry for entry in owned}
    named = {wanted.identity for wanted in declared}
    gone = [e for e in entries.values() if e.identity not in named and e.identity in observed]
    sweeping = sweep or any(not entry.brought or entry.in_flight for entry in gone)
    needed = {above for identity in named for above in _above(identity)}
    swept = [e for e in gone if e.brought and sweeping and (e.in_flight or e.identity not in needed)]
    late = {above for entry in swept for above in _above(entry.identity)}
    going = [entry for entry in gone if not entry.brought]
    at_once = _last_first(entry for entry in going if entry.identity not in late)
    first = [_let_go(entry, observed[entry.identity]) for entry in at_once]
    waiting = [entry for entry in going if entry.identity in late]
    last = [_let_go(entry, observed[entry.identity]) for entry in _last_first([*swept, *waiting])]
    making = [
        _become(position, wanted, entries.get(wanted.identity), observed[wanted.identity])
        for position, wanted in enumerate(declared)
        if wanted.identity in observed
    ]
    changing = [*first, *last, *(action for action in making if action)]
    return (*first, *_take_notice(changing, declared, entries, observed), *last)


def _last_first(entries: Iterable[Owned]) -> list[Owned]:
    """The last made first; and what is in a directory before the directory, wherever the two stood."""
    given = list(entries)
    positions = {entry.identity: entry.position for entry in given}
    for entry in given:
        for above in _above(entry.identity):
            if above in positions:
                positions[above] = min(positions[above], entry.position)
    return sorted(given, key=lambda entry: (positions[entry.identity], entry.identity), reverse=True)


def _above(identity: str) -> Iterator[str]:
    """The identities of the directories above a path; none for what has no path."""
    while identity.startswith("path:/"):
        identity = identity.rpartition("/")[0]
        if identity != "path:":
            yield identity


def _become(position: int, wanted: Wanted, entry: Owned | None, observed: State | None) -> Action | None:
    """What makes one declared resource true; None where it is, and the journal knows."""
    so = holds(wanted.state, observed)
    if entry is not None and entry.in_flight and not entry.made_so(observed):
        # The act was never done, and somebody else was here since: what is there now is theirs.
        entry = None if entry.left is None else evolve(entry, in_flight=False)
    before = _remembered(entry, wanted, observed)

    def action(act: Act) -> Action:
        return Action(
            act=act,
            identity=wanted.identity,
            kind=wanted.kind,
            position=position,
            observed=observed,
            target=wanted.state,
            before=before,
        )

    if entry is None:
        return action(Act.ADOPT if so else Act.MAKE)
    if so:
        known = entry.left == wanted.state and entry.position == position
        return None if known and not entry.in_flight and not entry.brought else action(Act.CONFIRM)
    return action(Act.CHANGE if entry.made_so(observed) else Act.PUT_BACK)


def _remembered(entry: Owned | None, wanted: Wanted, observed: State | None) -> State | None:
    """What was there before the mesh. Facts that it begins to care about only now are those of now."""
    if entry is None:
        return observed
    if entry.before is None or observed is None:
        return entry.before
    known = entry.before.as_data()
    cared = {name for state in (entry.before, entry.left, entry.intended) if state for name, _ in state.facts}
    asked = wanted.state.as_data().keys() - cared
    return State(facts={**{name: fact for name, fact in observed.facts if name in asked}, **known})


def _take_notice(
    actions: Sequence[Action],
    declared: Sequence[Wanted],
    entries: Mapping[str, Owned],
    observed: Mapping[str, State | None],
) -> list[Action]:
    """The actions on what is declared, with a refresh for each that watches what changes."""
    changing = {action.identity for action in actions if action.act in ON_THE_MACHINE}
    by_identity = {action.identity: action for action in actions}
    noticed: list[Action] = []
    for position, wanted in enumerate(declared):
        action, entry = by_identity.get(wanted.identity), entries.get(wanted.identity)
        because = tuple(identity for identity in wanted.watches if identity in changing)
        stale = because or (entry is not None and entry.stale)
        if not stale or wanted.identity not in observed:
            noticed += [action] if action else []
        elif action is None or action.act in (Act.CONFIRM, Act.ADOPT):
            noticed.append(_refresh(position, wanted, entry, observed[wanted.identity], because, action))
        else:
            noticed.append(evolve(action, because=because))
    return noticed


def _refresh(
    position: int,
    wanted: Wanted,
    entry: Owned | None,
    observed: State | None,
    because: tuple[str, ...],
    action: Action | None,
) -> Action:
    before = action.before if action is not None else _remembered(entry, wanted, observed)
    return Action(
        act=Act.REFRESH,
        identity=wanted.identity,
        kind=wanted.kind,
        position=position,
        observed=observed,
        target=wanted.state,
        before=before,
        because=because,
    )


def _let_go(entry: Owned, observed: State | None) -> Action:
    """What takes one resource off that is no longer declared, or leaves it."""
    return Action(
        act=_way_out(entry, observed),
        identity=entry.identity,
        kind=entry.kind,
        position=entry.position,
        observed=observed,
        target=entry.before,
        before=entry.before,
    )


def _way_out(entry: Owned, observed: State | None) -> Act:
    if holds(entry.before, observed):
        return Act.RELEASE
    if not entry.made_so(observed):
        # Of what came along and is gone there is nothing to say.
        return Act.RELEASE if entry.brought and observed is None else Act.LEAVE
    if entry.brought:
        return Act.SWEEP
    return Act.REMOVE if entry.before is None else Act.RESTORE
