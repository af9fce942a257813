"""Whose doing it is that is there, and how the host left it (design, part 8)."""

from __future__ import annotations

import pytest

from mesh_core.reconcile import Act, Owned, State, holds, intending, reconcile, settled
from tests.unit.reconcile.builders import contents, owned, state, wanted

OURS, NEW, THEIRS = contents("ours"), contents("new", "0600"), contents("theirs", "0640")
LINK = state(type="link", target="/x", mode="0777")


def test_more_than_is_wanted_is_nobodys_business() -> None:
    assert holds(OURS, State(facts={**OURS.as_data(), "size": 3}))
    assert not holds(State(facts={**OURS.as_data(), "size": 3}), OURS)
    assert holds(None, None)
    assert holds(state(), OURS)
    assert not holds(state(), None)
    assert not holds(None, OURS)


def begun(left: State | None, intended: State | None, before: State | None = None) -> Owned:
    return owned("path:/f", left, before, in_flight=True, intended=intended)


@pytest.mark.parametrize(
    ("entry", "observed", "ours"),
    [
        (owned("path:/f", OURS, THEIRS), OURS, True),
        (owned("path:/f", OURS, THEIRS), THEIRS, False),
        (owned("path:/f", OURS, THEIRS), contents("ours", "0640"), False),
        (owned("path:/f", OURS), None, False),
        # Made for the first time.
        (begun(None, OURS, THEIRS), THEIRS, True),
        (begun(None, OURS, THEIRS), OURS, True),
        (begun(None, OURS, THEIRS), contents("ours", "0640"), True),
        (begun(None, OURS, THEIRS), contents("hers", "0640"), False),
        (begun(None, OURS, THEIRS), None, False),
        (begun(None, OURS), None, True),
        (begun(None, OURS), OURS, True),
        (begun(None, OURS), THEIRS, False),
        # Changed.
        (begun(OURS, NEW, THEIRS), OURS, True),
        (begun(OURS, NEW, THEIRS), NEW, True),
        (begun(OURS, NEW, THEIRS), contents("new", "0644"), True),
        (begun(OURS, NEW), None, True),
        (begun(OURS, NEW, THEIRS), None, False),
        # Taken off.
        (begun(OURS, None), None, True),
        (begun(OURS, None), OURS, True),
        (begun(OURS, THEIRS, THEIRS), THEIRS, True),
        # A link is replaced in one go.
        (begun(None, OURS, LINK), LINK, True),
        (begun(None, OURS, LINK), state(type="link", target="/x", mode="0644"), False),
        (begun(OURS, NEW, LINK), contents("ours", "0600"), True),
    ],
)
def test_whose_doing_it_is(entry: Owned, observed: State | None, ours: bool) -> None:
    assert entry.made_so(observed) is ours


@pytest.mark.parametrize(
    ("entry", "observed", "left"),
    [
        (owned("path:/f", OURS, THEIRS), THEIRS, OURS),
        (begun(None, OURS, THEIRS), OURS, OURS),
        (begun(None, OURS, THEIRS), State(facts={**OURS.as_data(), "size": 3}), OURS),
        (begun(None, OURS, THEIRS), THEIRS, None),
        (begun(None, OURS, THEIRS), contents("hers"), None),
        (begun(None, OURS), None, None),
        (begun(OURS, NEW, THEIRS), contents("new", "0644"), contents("new", "0644")),
        (begun(OURS, NEW, THEIRS), THEIRS, OURS),
        (begun(OURS, None), None, OURS),
    ],
)
def test_how_it_was_left(entry: Owned, observed: State | None, left: State | None) -> None:
    """What an act that was begun brought about is the host's doing, whatever is intended next."""
    assert entry.left_as(observed) == left


def test_what_is_intended_keeps_what_the_last_intent_brought_about() -> None:
    entry = begun(None, OURS)
    (action,) = reconcile([wanted("path:/f", NEW)], [entry], {"path:/f": OURS})
    assert action.act is Act.CHANGE
    again = intending(action, entry)
    assert (again.left, again.intended, again.before, again.in_flight) == (OURS, NEW, None, True)
    done = settled(again, action.target)
    assert (done.left, done.intended, done.in_flight, done.stale) == (NEW, None, False, False)


def test_a_fact_that_only_an_earlier_declaration_asked_for_is_still_the_hosts_doing() -> None:
    """It was started, and later only enabled is asked for; killed while both go back, it goes on."""
    before = state(enabled=False, running=False)
    entry = owned("service:s", state(enabled=True), before)
    (restore,) = reconcile([], [entry], {"service:s": state(enabled=True, running=True)})
    assert restore.act is Act.RESTORE
    halfway = {"service:s": state(enabled=False, running=True)}
    (again,) = reconcile([], [intending(restore, entry)], halfway)
    assert again.act is Act.RESTORE


def test_only_a_sweep_is_of_something_that_came_along() -> None:
    entry = owned("path:/f", OURS, brought=True)
    (swept,) = reconcile([], [entry], {"path:/f": OURS}, sweep=True)
    assert intending(swept, entry).brought
    (confirmed,) = reconcile([wanted("path:/f", OURS)], [entry], {"path:/f": OURS})
    assert confirmed.act is Act.CONFIRM
    assert not intending(confirmed, entry).brought


def test_a_refresh_that_was_begun_is_still_due() -> None:
    entry = owned("service:s", state(running=True))
    changed = wanted("path:/f", NEW)
    watching = wanted("service:s", state(running=True), "path:/f")
    actions = reconcile([changed, watching], [entry], {"path:/f": None, "service:s": state(running=True)})
    refresh = actions[-1]
    assert (refresh.act, refresh.because) == (Act.REFRESH, ("path:/f",))
    assert intending(refresh, entry).stale
