"""The laws of design, part 8, for the decision of a host, as functions that take a reconciler.

Each quotes its law, looks for a case that breaks it, and raises `AssertionError` with the case.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NoReturn, Protocol, TypeVar

import hypothesis
from hypothesis import given
from hypothesis import strategies as st

from mesh_core.reconcile.actions import LET_GO, ON_THE_MACHINE, TAKEN_OFF, Act, Action
from mesh_core.reconcile.intent import intending, settled
from mesh_core.reconcile.owned import Owned
from mesh_core.reconcile.reconcile import Wanted
from mesh_core.reconcile.state import State, holds
from mesh_core.testing.strategies.dice import Dice, thrown
from mesh_core.testing.strategies.of_machines import (
    EDITED,
    KINDS,
    Case,
    Observed,
    any_declared,
    any_machine,
    cases,
    edited,
    half_way,
)

_T = TypeVar("_T")


class Reconciler(Protocol):
    """What is checked: declared, owned and observed in, actions out."""

    def __call__(
        self,
        declared: Sequence[Wanted],
        owned: Iterable[Owned],
        observed: Mapping[str, State | None],
        *,
        sweep: bool = False,
    ) -> tuple[Action, ...]:
        """What to do, in order."""


class MachineCheck(Protocol):
    """One law as a function of a reconciler. Raises `AssertionError` where it is broken."""

    __name__: str

    def __call__(self, reconcile: Reconciler, settings: hypothesis.settings | None = None) -> None:
        """Look for a case that breaks the law."""


def _broken(law: str, what: str) -> NoReturn:
    raise AssertionError(f"design, part 8 ({law}) is broken: {what}")


def _look(
    strategy: st.SearchStrategy[_T], look: Callable[[_T], None], settings: hypothesis.settings | None
) -> None:
    def holds_for(case: _T) -> None:
        look(case)

    chosen = settings or hypothesis.settings(deadline=None)
    hypothesis.settings(chosen, report_multiple_bugs=False)(given(case=strategy)(holds_for))()


def _actions(reconcile: Reconciler, case: Case) -> tuple[Action, ...]:
    return reconcile(case.declared, case.owned, case.observed, sweep=case.sweep)


def check_nothing_else(reconcile: Reconciler, settings: hypothesis.settings | None = None) -> None:
    """> removes what it owns and the declaration no longer names, **and nothing else**"""

    def look(case: Case) -> None:
        entries = {entry.identity: entry for entry in case.owned}
        declared = {wanted.identity for wanted in case.declared}
        actions = _actions(reconcile, case)
        for action in actions:
            entry = entries.get(action.identity)
            if action.act in LET_GO and (entry is None or action.identity in declared):
                _broken("nothing else", f"{action.act} of {action.identity}")
            if action.act in TAKEN_OFF | {Act.SWEEP} and entry is not None:
                if entry.brought != (action.act is Act.SWEEP):
                    _broken("nothing else", f"{action.act} of {action.identity}, brought {entry.brought}")
                if action.target != entry.before or (action.act is Act.RESTORE) == (entry.before is None):
                    _broken("put back", f"{action.act} of {action.identity} leads to {action.target}")
            if action.act not in LET_GO and action.identity not in declared:
                _broken("nothing else", f"{action.act} of {action.identity}, which is not declared")
        if len({action.identity for action in actions}) < len(actions):
            _broken("nothing else", "two actions on one resource")

    _look(cases(), look, settings)


def check_unseen_is_untouched(reconcile: Reconciler, settings: hypothesis.settings | None = None) -> None:
    """> never reads as "owns nothing" (part 11): what could not be looked at counts as nothing at all."""

    def look(case: Case) -> None:
        for action in _actions(reconcile, case):
            if action.identity not in case.observed:
                _broken("unseen", f"{action.act} of {action.identity}, which could not be looked at")

    _look(cases(), look, settings)


def check_edited_is_left(reconcile: Reconciler, settings: hypothesis.settings | None = None) -> None:
    """> what a person edited since is left and reported

    What is as the host left it is not left, and what is declared is put back and reported.
    """

    def look(case: Case) -> None:
        acts = {action.identity: action.act for action in _actions(reconcile, case)}
        declared = {wanted.identity: wanted for wanted in case.declared}
        for entry in case.owned:
            if entry.identity not in case.observed:
                continue
            act = acts.get(entry.identity)
            fits = _fitting(entry, case.observed[entry.identity], declared.get(entry.identity))
            if fits and act not in fits:
                _broken("edited", f"{act} of {entry} where {case.observed[entry.identity]} is")

    _look(cases(), look, settings)


def _fitting(entry: Owned, observed: State | None, wanted: Wanted | None) -> set[Act | None]:
    """What may be done where it is certain whose doing it is; nothing where it is not."""
    known = any(holds(state, observed) for state in (entry.left, entry.intended, entry.before))
    strange = observed is not None and EDITED in observed.as_data().values() and not known
    if wanted is not None:
        drifted = strange and not entry.in_flight and not holds(wanted.state, observed)
        return {Act.PUT_BACK} if drifted else set()
    if entry.brought:
        return {Act.LEAVE, None} if strange else set()
    if strange:
        return {Act.LEAVE}
    if entry.in_flight or not holds(entry.left, observed):
        return set()
    if holds(entry.before, observed):
        return {Act.RELEASE}
    return {Act.REMOVE} if entry.before is None else {Act.RESTORE}


def check_done_twice(reconcile: Reconciler, settings: hypothesis.settings | None = None) -> None:
    """> a second apply of the same declaration does nothing"""

    def look(case: Case) -> None:
        owned, observed = performed(_actions(reconcile, case), case.owned, case.observed)
        again = reconcile(case.declared, owned, observed)
        if again:
            _broken("a second apply", f"{[(a.act, a.identity) for a in again]}")

    _look(cases(), look, settings)


def check_declared_is_made(reconcile: Reconciler, settings: hypothesis.settings | None = None) -> None:
    """> The host program makes it true (part 1): what is declared holds afterwards, and is owned."""

    def look(case: Case) -> None:
        owned, observed = performed(_actions(reconcile, case), case.owned, case.observed)
        entries = {entry.identity: entry for entry in owned}
        for wanted in case.declared:
            if wanted.identity not in case.observed:
                continue
            if not holds(wanted.state, observed[wanted.identity]):
                _broken("made true", f"{wanted} is not so")
            entry = entries.get(wanted.identity)
            if entry is None or entry.in_flight or entry.brought or entry.left != wanted.state:
                _broken("made true", f"{wanted} is owned as {entry}")

    _look(cases(), look, settings)


def check_sequence(reconcile: Reconciler, settings: hypothesis.settings | None = None) -> None:
    """> providers before those who need them when adding, the other way round when removing

    What is in a directory goes before it; what came along goes last, and with it what it is in.
    """

    def look(case: Case) -> None:
        actions = _actions(reconcile, case)
        place = {action.identity: number for number, action in enumerate(actions)}
        entries = {entry.identity: entry for entry in case.owned}
        making = [place[w.identity] for w in case.declared if w.identity in place]
        if making != sorted(making):
            _broken("order", "what is declared is not made in its order")
        going = [entries[action.identity] for action in actions if action.act in LET_GO]
        above_brought = {
            e.identity for e in going if any(o.brought and _within(o.identity, e.identity) for o in going)
        }
        for entry in going:
            last = entry.brought or entry.identity in above_brought
            if any((place[entry.identity] < made) == last for made in making):
                _broken("order", f"{entry.identity} goes {'before' if last else 'after'} something is made")
        _check_removals(going, place, above_brought)

    _look(cases(), look, settings)


def _check_removals(going: Sequence[Owned], place: Mapping[str, int], above_brought: set[str]) -> None:
    for one in going:
        for other in going:
            first = place[one.identity] < place[other.identity]
            if _within(other.identity, one.identity) and first:
                _broken("order", f"{one.identity} goes before {other.identity}, which is in it")
            holds_none = not any(
                _within(e.identity, o.identity) for e in going for o in (one, other) if e is not o
            )
            alike = one.brought == other.brought and not {one.identity, other.identity} & above_brought
            if holds_none and alike and one.position < other.position and first:
                _broken("order", f"{one.identity} goes before {other.identity}, which was made after it")


def _within(identity: str, directory: str) -> bool:
    return identity.startswith(f"{directory}/")


def check_notice(reconcile: Reconciler, settings: hypothesis.settings | None = None) -> None:
    """> a service restarts when its configuration changed and not otherwise"""

    def look(case: Case) -> None:
        actions = {action.identity: action for action in _actions(reconcile, case)}
        changing = {identity for identity, action in actions.items() if action.act in ON_THE_MACHINE}
        stale = {entry.identity for entry in case.owned if entry.stale}
        for wanted in case.declared:
            action = actions.get(wanted.identity)
            because = tuple(identity for identity in wanted.watches if identity in changing)
            due = bool(because) or wanted.identity in stale
            if wanted.identity not in case.observed:
                continue
            if due and (action is None or action.act not in ON_THE_MACHINE or action.because != because):
                _broken("notice", f"{wanted.identity} takes no notice of {because or 'what changed before'}")
            if not due and action is not None and (action.act is Act.REFRESH or action.because):
                _broken("notice", f"{wanted.identity} is refreshed for nothing")

    _look(cases(), look, settings)


def check_given_back(reconcile: Reconciler, settings: hypothesis.settings | None = None) -> None:
    """> What was there before it (a file's bytes, mode and owner; ...) is remembered and put back or left

    Whatever was declared in between, and whatever drifted and was put back.
    """

    def look(dice: Dice) -> None:
        at_first = any_machine(dice)
        owned: tuple[Owned, ...] = ()
        observed = dict(at_first)
        for _ in range(1 + dice.below(4)):
            declared = any_declared(dice)
            for wanted in declared:
                if any(e.identity == wanted.identity for e in owned) and dice.one_in(4):
                    observed[wanted.identity] = edited(dice, observed[wanted.identity])
            owned, observed = performed(reconcile(declared, owned, observed), owned, observed)
        owned, observed = performed(reconcile((), owned, observed), owned, observed)
        _is_as_at_first(at_first, owned, observed, "put back")

    _look(thrown(600, _same), look, settings)


def check_crash(reconcile: Reconciler, settings: hypothesis.settings | None = None) -> None:
    """> a crash at any step converges on the next run, and everything it made is owned or gone

    Runs are cut off with each act done, half done or not begun, one after the other, each with a declaration
    of its own; then one is carried through.
    """

    def look(dice: Dice) -> None:
        at_first = any_machine(dice)
        owned: tuple[Owned, ...] = ()
        observed = dict(at_first)
        for _ in range(1 + dice.below(4)):
            actions = reconcile(any_declared(dice), owned, observed)
            cut = cut_off if dice.one_in(2) else _carried_through
            owned, observed = cut(dice, actions, owned, observed)
        declared = any_declared(dice)
        owned, observed = performed(reconcile(declared, owned, observed), owned, observed)
        for wanted in declared:
            if not holds(wanted.state, observed[wanted.identity]):
                _broken("a crash", f"{wanted} is not so after the next run")
        names = {wanted.identity for wanted in declared}
        if {e.identity for e in owned} != names or any(e.in_flight for e in owned):
            _broken("a crash", f"{[e.identity for e in owned]} are owned, and {sorted(names)} are declared")
        for identity in KINDS.keys() - names:
            if observed[identity] != at_first[identity]:
                _broken("a crash", f"{identity} is neither owned nor as it was before")
        owned, observed = performed(reconcile((), owned, observed), owned, observed)
        _is_as_at_first(at_first, owned, observed, "a crash")

    _look(thrown(900, _same), look, settings)


def _same(dice: Dice) -> Dice:
    return dice


def _is_as_at_first(at_first: Observed, owned: Sequence[Owned], observed: Observed, law: str) -> None:
    if owned:
        _broken(law, f"{[entry.identity for entry in owned]} are still owned")
    for identity, state in at_first.items():
        if observed[identity] != state:
            _broken(law, f"{identity} is {observed[identity]}, and was {state} before the mesh")


def performed(
    actions: Iterable[Action], owned: Iterable[Owned], observed: Mapping[str, State | None]
) -> tuple[tuple[Owned, ...], Observed]:
    """The journal and the machine after all actions came off."""
    entries, machine = {entry.identity: entry for entry in owned}, dict(observed)
    for action in actions:
        if action.act in ON_THE_MACHINE:
            machine[action.identity] = _brought_about(machine[action.identity], action.target)
        if action.act in LET_GO:
            del entries[action.identity]
        else:
            begun = intending(action, entries.get(action.identity))
            entries[action.identity] = settled(begun, action.target, brought=False)
    return tuple(entries.values()), machine


def _carried_through(
    _dice: Dice, actions: Iterable[Action], owned: Iterable[Owned], observed: Observed
) -> tuple[tuple[Owned, ...], Observed]:
    return performed(actions, owned, observed)


def cut_off(
    dice: Dice, actions: Iterable[Action], owned: Iterable[Owned], observed: Observed
) -> tuple[tuple[Owned, ...], Observed]:
    """The journal and the machine after a run that was killed: all is intended, not all is done."""
    entries, machine = {entry.identity: entry for entry in owned}, dict(observed)
    for action in actions:
        if action.act in ON_THE_MACHINE:
            now = machine[action.identity]
            entries[action.identity] = intending(action, entries.get(action.identity))
            machine[action.identity] = half_way(dice, now, _brought_about(now, action.target))
    return tuple(entries.values()), machine


def _brought_about(observed: State | None, target: State | None) -> State | None:
    """What is there when the target is brought about; what it does not speak of stays."""
    if observed is None or target is None or observed.get("type") != target.get("type"):
        return target
    return State(facts={**observed.as_data(), **target.as_data()})


MACHINE_LAWS: tuple[MachineCheck, ...] = (
    check_nothing_else,
    check_unseen_is_untouched,
    check_edited_is_left,
    check_done_twice,
    check_declared_is_made,
    check_sequence,
    check_notice,
    check_given_back,
    check_crash,
)
"""Every law, in the order of the design."""
