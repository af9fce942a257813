"""How long to leave alone what does not answer: longer each time, until all is well."""

from __future__ import annotations

from time import monotonic

FIRST_PAUSE = 1.0
LONGEST_PAUSE = 60.0


class Pause:
    """A pause that doubles each time, until all is well."""

    def __init__(self, first: float = FIRST_PAUSE, longest: float = LONGEST_PAUSE) -> None:
        self._first, self._longest = first, longest
        self._next = first
        self._begun = self._until = 0.0

    def grow(self) -> float:
        """Pause, longer than the last time: for how many seconds."""
        seconds, self._next = self._next, min(self._next * 2, self._longest)
        self._begun = monotonic()
        self._until = self._begun + seconds
        return seconds

    def end(self) -> None:
        """All is well."""
        self._next, self._begun, self._until = self._first, 0.0, 0.0

    @property
    def over(self) -> bool:
        """Whether it is time to try again."""
        return monotonic() >= self._until

    def over_after(self, seconds: float) -> bool:
        """The same for whoever waits no longer than so many seconds."""
        return self.over or monotonic() >= self._begun + seconds
