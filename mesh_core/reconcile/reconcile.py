"""`reconcile`: what is declared, owned and observed -> what to do (design, part 8).

> removes what it owns and the declaration no longer names, **and nothing else**. What was there before it is
> remembered and put back or left; what a person edited since is left and reported.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

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
    says that an earlier run did not come so far.
    """
    entries = {entry.identity: entry for entry in owned}
    named = {wanted.identity for wanted in declared}
    gone = sorted(
        (e for e in entries.values() if e.identity not in named and e.identity in observed),
        key=lambda entry: (entry.position, entry.identity),
        reverse=True,  # a directory stands before what is in it
    )
    going = [_let_go(entry, observed[entry.identity]) for entry in gone if not entry.brought]
    making = [
        _become(position, wanted, entries.get(wanted.identity), observed[wanted.identity])
        for position, wanted in enumerate(declared)
        if wanted.identity in observed
    ]
    noticed = _take_notice([*going, *(action for action in making if action)], declared, entries, observed)
    sweeping = sweep or bool(going) or any(entry.in_flight for entry in gone if entry.brought)
    swept = [_sweep(entry, observed[entry.identity]) for entry in gone if entry.brought and sweeping]
    return (*going, *noticed, *swept)


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
    new = {name: fact for name, fact in observed.facts if name in wanted.state.as_data()}
    return State(facts={**new, **known})


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
    if holds(entry.before, observed) or (observed is None and entry.before is None):
        return Act.RELEASE
    if not entry.made_so(observed):
        return Act.LEAVE
    return Act.REMOVE if entry.before is None else Act.RESTORE


def _sweep(entry: Owned, observed: State | None) -> Action:
    act = Act.SWEEP if observed is not None else Act.RELEASE
    return evolve(_let_go(entry, observed), act=act, target=None)
