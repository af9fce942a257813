"""The limit on removals (design, part 8).

> refuses to remove more than max(5, 20 %) of what it owns without the control plane's word
"""

import pytest

from mesh_core.reconcile import Act, Action, most_removed, reconcile, too_many
from tests.unit.reconcile.builders import contents, owned, wanted


@pytest.mark.parametrize(
    ("known", "most"),
    [
        (0, 5),
        (1, 5),
        (5, 5),
        (24, 5),
        (25, 5),
        (26, 5),
        (29, 5),
        (30, 6),
        (34, 6),
        (35, 7),
        (100, 20),
        (104, 20),
    ],
)
def test_the_limit(known: int, most: int) -> None:
    assert most_removed(known) == most


def going(count: int, act: Act = Act.REMOVE) -> list[Action]:
    return [
        Action(
            act=act,
            identity=f"path:/{number}",
            kind="file",
            position=number,
            observed=contents("1"),
            target=None,
            before=None,
        )
        for number in range(count)
    ]


@pytest.mark.parametrize("act", [Act.REMOVE, Act.RESTORE])
@pytest.mark.parametrize(("known", "most"), [(6, 5), (29, 5), (30, 6), (100, 20)])
def test_at_the_limit_and_one_beyond(known: int, most: int, act: Act) -> None:
    entries = [owned(f"path:/{number}", contents("1")) for number in range(known)]
    assert too_many(going(most, act), entries) == ()
    assert too_many(going(most + 1, act), entries) == tuple(f"path:/{number}" for number in range(most + 1))


@pytest.mark.parametrize("act", sorted(set(Act) - {Act.REMOVE, Act.RESTORE}))
def test_what_takes_nothing_off_does_not_count(act: Act) -> None:
    assert too_many(going(50, act), [owned("path:/0", contents("1"))]) == ()


def test_what_came_along_counts_on_neither_side() -> None:
    entries = [owned(f"path:/{number}", contents("1")) for number in range(6)]
    brought = [owned(f"package:{number}", contents("1"), brought=True) for number in range(100)]
    assert too_many(going(6), [*entries, *brought]) != ()


def test_what_is_already_as_it_was_does_not_count() -> None:
    entries = [owned(f"path:/{number}", contents("1"), contents("1")) for number in range(50)]
    observed = {entry.identity: contents("1") for entry in entries}
    assert too_many(reconcile([], entries, observed), entries) == ()


def test_what_takes_the_place_of_another_counts() -> None:
    entries = [owned(f"path:/{number}", contents("1")) for number in range(6)]
    observed = {entry.identity: contents("1") for entry in entries} | {"path:/new": None}
    actions = reconcile([wanted("path:/new", contents("1"))], entries, observed)
    assert len(too_many(actions, entries)) == 6
