"""Dice: many choices out of one draw.

hypothesis makes five of six examples by changing a choice or two of the one before. Of sixty meshes of
a hundred choices each, only ten would differ in more. So what makes up a mesh is drawn as bytes, in
one draw: every example is another mesh, and it is made in a tenth of the time. It shrinks as well:
where a byte is smaller, an earlier value is chosen, so the simplest stands first in every list.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TypeVar

from hypothesis import strategies as st

_T = TypeVar("_T")


class Dice:
    """Bytes, read as choices; where they are used up, the first of everything is chosen."""

    def __init__(self, thrown: bytes) -> None:
        self._thrown = iter(thrown)

    def part(self, size: int) -> Dice:
        """Dice with the next throws, so many: how many of them are used changes nothing behind them."""
        return Dice(bytes(islice(self._thrown, size)))

    def rest(self) -> bytes:
        """All throws that are left."""
        return bytes(self._thrown)

    def below(self, count: int) -> int:
        """A number from 0 on."""
        return next(self._thrown, 0) % count

    def one_of(self, values: Sequence[_T]) -> _T:
        """One of the values."""
        return values[self.below(len(values))]

    def one_in(self, count: int) -> bool:
        """True in one of so many cases."""
        return self.below(count) == count - 1

    def some(self, values: Iterable[_T], most: int, least: int = 0) -> list[_T]:
        """At least and at most so many of the values, where there are; none twice."""
        left = list(values)
        count = least + self.below(most - least + 1)
        return [left.pop(self.below(len(left))) for _ in range(min(count, len(left)))]

    def shuffled(self, values: Iterable[_T]) -> list[_T]:
        """All the values, in some order."""
        left = list(values)
        return [left.pop(self.below(len(left))) for _ in range(len(left))]


@st.composite
def thrown(draw: st.DrawFn, size: int, read: Callable[[Dice], _T]) -> _T:
    """What `read` makes of dice with so many throws."""
    # Not `map`: a failure would show the bytes and not what was made of them.
    return read(Dice(draw(st.binary(min_size=size, max_size=size))))
