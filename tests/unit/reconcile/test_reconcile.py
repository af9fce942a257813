"""What is done, by examples; the laws are in `property/`."""

from __future__ import annotations

import pytest

from mesh_core.reconcile import Act, Action, Owned, State, reconcile
from tests.unit.reconcile.builders import contents, owned, state, wanted

OURS, NEW, THEIRS, HERS = contents("ours"), contents("new"), contents("theirs"), contents("hers")
F = "path:/f"


def only(actions: tuple[Action, ...]) -> Act | None:
    assert len(actions) <= 1
    return actions[0].act if actions else None


@pytest.mark.parametrize(
    ("entry", "observed", "act", "before"),
    [
        (None, None, Act.MAKE, None),
        (None, THEIRS, Act.MAKE, THEIRS),
        (None, NEW, Act.ADOPT, NEW),
        (owned(F, NEW, THEIRS), NEW, None, None),
        (owned(F, NEW, THEIRS, position=3), NEW, Act.CONFIRM, THEIRS),
        (owned(F, OURS, THEIRS), NEW, Act.CONFIRM, THEIRS),
        (owned(F, OURS, THEIRS), OURS, Act.CHANGE, THEIRS),
        (owned(F, OURS, THEIRS), HERS, Act.PUT_BACK, THEIRS),
        (owned(F, OURS, THEIRS), None, Act.PUT_BACK, THEIRS),
        (owned(F, OURS, brought=True), OURS, Act.CHANGE, None),
        (owned(F, NEW, brought=True), NEW, Act.CONFIRM, None),
        (owned(F, None, THEIRS, in_flight=True, intended=NEW), NEW, Act.CONFIRM, THEIRS),
        (owned(F, None, THEIRS, in_flight=True, intended=NEW), THEIRS, Act.CHANGE, THEIRS),
        (owned(F, None, THEIRS, in_flight=True, intended=NEW), HERS, Act.MAKE, HERS),
        (owned(F, None, THEIRS, in_flight=True, intended=NEW), None, Act.MAKE, None),
        (owned(F, None, THEIRS, in_flight=True, intended=OURS), NEW, Act.ADOPT, NEW),
        (owned(F, OURS, THEIRS, in_flight=True, intended=NEW), HERS, Act.PUT_BACK, THEIRS),
        (owned(F, OURS, THEIRS, in_flight=True, intended=THEIRS), THEIRS, Act.CHANGE, THEIRS),
    ],
)
def test_what_is_declared(
    entry: Owned | None, observed: State | None, act: Act | None, before: State | None
) -> None:
    actions = reconcile([wanted(F, NEW)], [entry] if entry else [], {F: observed})
    assert only(actions) is act
    assert not actions or actions[0].before == before


@pytest.mark.parametrize(
    ("entry", "observed", "act"),
    [
        (owned(F, OURS), OURS, Act.REMOVE),
        (owned(F, OURS), None, Act.RELEASE),
        (owned(F, OURS), HERS, Act.LEAVE),
        (owned(F, OURS, THEIRS), OURS, Act.RESTORE),
        (owned(F, OURS, THEIRS), THEIRS, Act.RELEASE),
        (owned(F, OURS, THEIRS), None, Act.LEAVE),
        (owned(F, OURS, THEIRS), HERS, Act.LEAVE),
        (owned(F, OURS, OURS), OURS, Act.RELEASE),
        (owned(F, None, in_flight=True, intended=OURS), None, Act.RELEASE),
        (owned(F, None, in_flight=True, intended=OURS), OURS, Act.REMOVE),
        (owned(F, None, in_flight=True, intended=OURS), HERS, Act.LEAVE),
        (owned(F, OURS, THEIRS, in_flight=True, intended=NEW), NEW, Act.RESTORE),
        (owned(F, OURS, brought=True), OURS, None),
        (owned(F, OURS, brought=True, in_flight=True), OURS, Act.SWEEP),
    ],
)
def test_what_is_declared_no_more(entry: Owned, observed: State | None, act: Act | None) -> None:
    actions = reconcile([], [entry], {F: observed})
    assert only(actions) is act
    assert not actions or actions[0].target == entry.before


@pytest.mark.parametrize(("observed", "act"), [(OURS, Act.SWEEP), (None, Act.RELEASE), (HERS, Act.LEAVE)])
def test_what_came_along(observed: State | None, act: Act) -> None:
    entry = owned(F, OURS, brought=True)
    assert only(reconcile([], [entry], {F: observed}, sweep=True)) is act
    assert reconcile([], [entry], {F: observed}) == ()
    going = owned("path:/g", OURS)
    actions = reconcile([], [entry, going], {F: observed, "path:/g": OURS})
    assert [action.act for action in actions] == [Act.REMOVE, act]


def test_what_cannot_be_looked_at_is_let_be() -> None:
    entries = [owned(F, OURS), owned("path:/g", OURS), owned("path:/h", OURS, brought=True)]
    assert reconcile([wanted(F, NEW)], entries, {}, sweep=True) == ()


def test_what_is_in_a_directory_goes_before_it_wherever_it_stood() -> None:
    entries = [
        owned("path:/a", OURS, position=9),
        owned("path:/a/b", OURS, position=2),
        owned("path:/a/b/c", OURS, position=0),
        owned("path:/z", OURS, position=1),
        owned("path:/a-b", OURS, position=8),
    ]
    actions = reconcile([], entries, {entry.identity: OURS for entry in entries})
    gone = [action.identity for action in actions]
    assert gone == ["path:/a-b", "path:/z", "path:/a/b/c", "path:/a/b", "path:/a"]


def test_a_directory_goes_after_what_came_along_into_it() -> None:
    entries = [
        owned("path:/a", OURS, position=0),
        owned("path:/a/b", OURS, position=1, brought=True),
        owned("path:/a/b/c", OURS, position=1),
    ]
    observed = {entry.identity: OURS for entry in entries} | {"path:/new": None}
    actions = reconcile([wanted("path:/new", NEW)], entries, observed)
    assert [(action.act, action.identity) for action in actions] == [
        (Act.REMOVE, "path:/a/b/c"),
        (Act.MAKE, "path:/new"),
        (Act.SWEEP, "path:/a/b"),
        (Act.REMOVE, "path:/a"),
    ]


def test_what_came_along_and_is_needed_is_not_swept() -> None:
    entries = [
        owned("path:/a", OURS, brought=True),
        owned("path:/a/f", OURS),
        owned("path:/a/g", OURS, position=1),
    ]
    observed = {entry.identity: OURS for entry in entries}
    actions = reconcile([wanted("path:/a/f", OURS)], entries, observed)
    assert [action.identity for action in actions] == ["path:/a/g"]


def test_what_a_link_was_does_not_get_the_digest_of_the_file_that_is_there_now() -> None:
    link = state(type="link", target="/x")
    (action,) = reconcile([wanted(F, NEW)], [owned(F, OURS, link)], {F: OURS})
    assert action.before == link


def test_a_fact_that_is_asked_for_only_now_was_before_as_it_is_now() -> None:
    s = "service:s"
    entry = owned(s, state(enabled=True), state(enabled=False))
    observed = {s: state(enabled=True, running=False)}
    (action,) = reconcile([wanted(s, state(enabled=True, running=True))], [entry], observed)
    assert action.act is Act.CHANGE
    assert action.before == state(enabled=False, running=False)


def test_who_watches_takes_notice() -> None:
    s = "service:s"
    up = state(running=True)
    entries = [owned(F, OURS), owned(s, up, position=1), owned("service:t", up, position=2)]
    declared = [wanted(F, NEW), wanted(s, up, F, "path:/g"), wanted("service:t", up, "path:/g")]
    observed = {F: OURS, s: up, "service:t": up}
    actions = reconcile(declared, entries, observed)
    assert [(a.act, a.identity, a.because) for a in actions] == [
        (Act.CHANGE, F, ()),
        (Act.REFRESH, s, (F,)),
    ]
    gone = reconcile(declared[1:], entries, observed)
    assert [(a.act, a.because) for a in gone if a.identity == s] == [(Act.REFRESH, (F,))]


def test_what_did_not_take_notice_yet_still_has_to() -> None:
    s = "service:s"
    up = state(running=True)
    actions = reconcile([wanted(s, up, F)], [owned(s, up, stale=True)], {s: up})
    assert [(action.act, action.because) for action in actions] == [(Act.REFRESH, ())]
    assert reconcile([wanted(s, up, F)], [owned(s, up, stale=True)], {}) == ()
