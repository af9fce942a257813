"""Each law of design, part 8, fails for a reconciler that breaks it: each has a fault planted here."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

import pytest
from attrs import evolve
from hypothesis import Phase, settings

from mesh_core.reconcile import LET_GO, TAKEN_OFF, Act, Action, Owned, State, Wanted, reconcile
from mesh_core.reconcile import reconcile as real
from mesh_core.testing.laws.machine import (
    MACHINE_LAWS,
    MachineCheck,
    Reconciler,
    check_crash,
    check_declared_is_made,
    check_done_twice,
    check_edited_is_left,
    check_given_back,
    check_nothing_else,
    check_notice,
    check_sequence,
    check_unseen_is_untouched,
)

QUICK = settings(max_examples=2000, derandomize=True, database=None, deadline=None, phases=[Phase.generate])

Bent = Callable[[tuple[Action, ...]], Iterable[Action]]
Entries = Iterable[Owned]
Seen = Mapping[str, State | None]
FAULTS: list[tuple[MachineCheck, str, Reconciler]] = []


def planted(*checks: MachineCheck) -> Callable[[Reconciler], Reconciler]:
    """Enter a faulty reconciler under the laws that have to notice it."""

    def entered(faulty: Reconciler) -> Reconciler:
        FAULTS.extend((check, getattr(faulty, "__name__", "bent"), faulty) for check in checks)
        return faulty

    return entered


def bent(*checks: MachineCheck) -> Callable[[Bent], Bent]:
    """The same, of what only bends the actions of the real one."""

    def entered(bend: Bent) -> Bent:
        def faulty(
            declared: Sequence[Wanted], owned: Entries, observed: Seen, *, sweep: bool = False
        ) -> tuple[Action, ...]:
            return tuple(bend(real(declared, owned, observed, sweep=sweep)))

        FAULTS.extend((check, bend.__name__, faulty) for check in checks)
        return bend

    return entered


def acting(action: Action, act: Act) -> Action:
    return evolve(action, act=act)


@planted(check_nothing_else)
def takes_off_what_is_declared(
    declared: Sequence[Wanted], owned: Entries, observed: Seen, *, sweep: bool = False
) -> tuple[Action, ...]:
    return reconcile(declared[1:], owned, observed, sweep=sweep)


@bent(check_nothing_else)
def acts_twice(actions: tuple[Action, ...]) -> Iterable[Action]:
    return (*actions, *actions[:1])


@bent(check_nothing_else)
def removes_what_was_there_before(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [evolve(a, act=Act.REMOVE, target=None) if a.act is Act.RESTORE else a for a in actions]


@bent(check_nothing_else)
def removes_what_only_came_along(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [acting(a, Act.REMOVE) if a.act is Act.SWEEP else a for a in actions]


@planted(check_unseen_is_untouched)
def takes_what_is_not_seen_for_what_is_not_there(
    declared: Sequence[Wanted], owned: Entries, observed: Seen, *, sweep: bool = False
) -> tuple[Action, ...]:
    entries = list(owned)
    blind = dict.fromkeys({e.identity for e in entries} | {w.identity for w in declared})
    return reconcile(declared, entries, {**blind, **observed}, sweep=sweep)


@planted(check_edited_is_left)
def owns_whatever_is_there(
    declared: Sequence[Wanted], owned: Entries, observed: Seen, *, sweep: bool = False
) -> tuple[Action, ...]:
    seen = [evolve(e, left=observed.get(e.identity) or e.left) for e in owned]
    return reconcile(declared, seen, observed, sweep=sweep)


@bent(check_edited_is_left)
def leaves_everything(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [acting(a, Act.LEAVE) if a.act in TAKEN_OFF else a for a in actions]


@bent(check_edited_is_left)
def does_not_tell_of_drift(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [acting(a, Act.CHANGE) if a.act is Act.PUT_BACK else a for a in actions]


@bent(check_edited_is_left)
def sweeps_what_was_edited(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [evolve(a, act=Act.SWEEP) if a.act is Act.LEAVE else a for a in actions]


@bent(check_done_twice)
def writes_down_another_position(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [evolve(a, position=a.position + 1) for a in actions]


@planted(check_done_twice)
def always_confirms(
    declared: Sequence[Wanted], owned: Entries, observed: Seen, *, sweep: bool = False
) -> tuple[Action, ...]:
    return reconcile(declared, [evolve(e, in_flight=True) for e in owned], observed, sweep=sweep)


@bent(check_declared_is_made)
def does_not_put_back(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [a for a in actions if a.act is not Act.PUT_BACK]


@bent(check_declared_is_made)
def does_not_write_down_what_it_adopts(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [a for a in actions if a.act is not Act.ADOPT]


@planted(check_declared_is_made)
def lets_what_came_along_be(
    declared: Sequence[Wanted], owned: Entries, observed: Seen, *, sweep: bool = False
) -> tuple[Action, ...]:
    entries = list(owned)
    brought = {e.identity for e in entries if e.brought}
    return tuple(
        a
        for a in reconcile(declared, entries, observed, sweep=sweep)
        if a.act is not Act.CONFIRM or a.identity not in brought
    )


@bent(check_sequence)
def makes_the_last_first(actions: tuple[Action, ...]) -> Iterable[Action]:
    making = [a for a in actions if a.act not in LET_GO]
    return [making.pop() if a.act not in LET_GO else a for a in actions]


@bent(check_sequence)
def removes_the_first_first(actions: tuple[Action, ...]) -> Iterable[Action]:
    going = [a for a in actions if a.act in LET_GO]
    return [going.pop() if a.act in LET_GO else a for a in actions]


@bent(check_sequence)
def removes_last(actions: tuple[Action, ...]) -> Iterable[Action]:
    return sorted(actions, key=lambda a: a.act in LET_GO)


@bent(check_sequence)
def sweeps_first(actions: tuple[Action, ...]) -> Iterable[Action]:
    return sorted(actions, key=lambda a: a.act is not Act.SWEEP)


@bent(check_sequence)
def removes_by_position_alone(actions: tuple[Action, ...]) -> Iterable[Action]:
    """A directory that was declared after what is in it goes before it."""
    going = iter(
        sorted(
            (a for a in actions if a.act in TAKEN_OFF), key=lambda a: (a.position, a.identity), reverse=True
        )
    )
    return [next(going) if a.act in TAKEN_OFF else a for a in actions]


@bent(check_notice)
def never_refreshes(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [a for a in actions if a.act is not Act.REFRESH]


@bent(check_notice)
def refreshes_what_it_confirms(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [acting(a, Act.REFRESH) if a.act is Act.CONFIRM else a for a in actions]


@bent(check_notice)
def does_not_say_why(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [evolve(a, because=()) for a in actions]


@planted(check_notice)
def forgets_what_is_stale(
    declared: Sequence[Wanted], owned: Entries, observed: Seen, *, sweep: bool = False
) -> tuple[Action, ...]:
    return reconcile(declared, [evolve(e, stale=False) for e in owned], observed, sweep=sweep)


@bent(check_given_back)
def remembers_the_last_contact(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [evolve(a, before=a.observed) if a.act is Act.CHANGE else a for a in actions]


@bent(check_given_back)
def mixes_its_own_facts_with_those_before(actions: tuple[Action, ...]) -> Iterable[Action]:
    """A link that was there gets the digest of the file that is there now."""

    def mixed(action: Action) -> Action:
        if action.act is not Act.CHANGE or action.before is None or action.observed is None:
            return action
        facts = {**action.observed.as_data(), **action.before.as_data()}
        return evolve(action, before=State(facts=facts))

    return [mixed(action) for action in actions]


@bent(check_given_back)
def remembers_nothing_that_it_adopts(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [evolve(a, before=None) if a.act is Act.ADOPT else a for a in actions]


@planted(check_crash)
def forgets_what_is_in_flight(
    declared: Sequence[Wanted], owned: Entries, observed: Seen, *, sweep: bool = False
) -> tuple[Action, ...]:
    return reconcile(declared, [evolve(e, in_flight=False) for e in owned], observed, sweep=sweep)


@planted(check_crash)
def does_not_know_what_it_intended(
    declared: Sequence[Wanted], owned: Entries, observed: Seen, *, sweep: bool = False
) -> tuple[Action, ...]:
    return reconcile(declared, [evolve(e, intended=e.left) for e in owned], observed, sweep=sweep)


@bent(check_crash)
def does_not_confirm(actions: tuple[Action, ...]) -> Iterable[Action]:
    return [a for a in actions if a.act is not Act.CONFIRM]


@pytest.mark.parametrize(("check", "name", "faulty"), FAULTS, ids=[f"{c.__name__}-{n}" for c, n, _ in FAULTS])
def test_a_fault_breaks_its_law(check: MachineCheck, name: str, faulty: Reconciler) -> None:
    with pytest.raises(AssertionError, match=r"^design, part 8 \("):
        check(faulty, QUICK)


def test_each_law_has_a_fault() -> None:
    assert {check for check, _, _ in FAULTS} == set(MACHINE_LAWS)


# What is no reconciler's fault but that of the journal: of what it keeps of an act that was begun.


def left_alone(owned: Owned, _observed: State | None, target: State | None = None) -> State | None:
    return owned.left


def test_what_a_killed_run_made_is_ours_in_the_next_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Owned, "left_as", left_alone)
    with pytest.raises(AssertionError, match=r"^design, part 8 \(a crash\)"):
        check_crash(reconcile, QUICK)
