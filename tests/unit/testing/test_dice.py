"""Dice: choices read from bytes, the simplest where nothing is left."""

from mesh_core.testing.strategies.dice import Dice


def test_each_byte_is_a_choice() -> None:
    dice = Dice(bytes([0, 5, 2, 7]))
    assert [dice.one_of("abc"), dice.below(4), dice.one_in(3), dice.one_in(3)] == ["a", 1, True, False]


def test_where_nothing_is_left_it_is_the_first() -> None:
    dice = Dice(b"")
    assert (dice.below(9), dice.one_of("abc"), dice.one_in(2)) == (0, "a", False)
    assert dice.some("abc", 2) == []
    assert dice.some("abc", 2, least=1) == ["a"]
    assert dice.shuffled("abc") == ["a", "b", "c"]


def test_some_are_within_bounds_and_none_twice() -> None:
    for first in range(256):
        some = Dice(bytes([first, first, 255 - first, 7])).some("abcd", 3, least=1)
        assert 1 <= len(some) <= 3
        assert len({*some}) == len(some)
    assert Dice(bytes([2, 0, 0])).some("a", 2) == ["a"]
    assert {len(Dice(bytes([count])).some("abcd", 3)) for count in range(256)} == {0, 1, 2, 3}


def test_shuffled_has_them_all() -> None:
    orders = {tuple(Dice(bytes([a, b])).shuffled("abc")) for a in range(3) for b in range(2)}
    assert len(orders) == 6


def test_a_part_takes_its_throws_whether_it_uses_them_or_not() -> None:
    dice = Dice(bytes([1, 2, 3, 4]))
    part = dice.part(2)
    assert (dice.below(9), part.below(9)) == (3, 1)
    assert dice.rest() == bytes([4])
    assert Dice(b"a").part(3).rest() == b"a"
