"""What a run did or would do, as lines: what could not be touched first, one line an action, the sum last."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from mesh_cli.output import visible
from mesh_core.explain.host import (
    UNSHOWN,
    CheckTold,
    Told,
    Untouched,
    action_cells,
    check_cells,
    left_out,
    summary,
    told_from_data,
    untouched_cells,
)

_WIDEST = 48


class Rendering:
    """The lines of one run; columns are as wide as what would be done asks for."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self._data = data
        self._told = [told_from_data(action) for action in data["actions"]]
        self._untouched = [Untouched(**trouble) for trouble in data["troubles"]]
        self._checks = [CheckTold(**check) for check in data.get("checks", ())]
        firsts = [action_cells(told)[0] for told in self._told if told.of_note]
        firsts += [untouched_cells(one)[0] for one in self._untouched if not one.elsewhere]
        self._width = min(max(map(len, firsts), default=0), _WIDEST)
        self._last_why: str | None = None

    def before(self) -> list[str]:
        """What could not be looked at, or be made of what is there."""
        return [self._line(untouched_cells(one)) for one in self._untouched if not one.elsewhere]

    def actions(self) -> list[str]:
        """Every action, with the difference of its file where there is one."""
        return [line for action in self._data["actions"] for line in self.action(action)]

    def action(self, data: Mapping[str, Any]) -> list[str]:
        """One action; nothing of one that nobody wants to hear of."""
        told = told_from_data(data)
        if not told.of_note:
            return []
        lines = [self._line(self._once(told))]
        difference = data.get("difference")
        return lines if difference is None else lines + _shown(difference)

    def _once(self, told: Told) -> tuple[str, str, str]:
        """The cells of an action; the reason of the one before is not said again."""
        first, phrase, whose = action_cells(told)
        again = told.why is not None and told.why == self._last_why
        self._last_why = told.why
        return first, "failed for the same reason" if again else phrase, whose

    def after(self) -> list[str]:
        """Checks that do not pass, and what was left out."""
        lines = [self._line(check_cells(check)) for check in self._checks if not check.passed]
        told = [visible(line) for line in self._data.get("network", ())]
        return [*lines, *told, *(line for line in (left_out(self._untouched),) if line)]

    def sum(self) -> str:
        """The last line."""
        generation, dry = self._data["generation"], bool(self._data.get("dry_run"))
        return summary(self._told, self._untouched, self._checks, generation=generation, dry=dry)

    def _line(self, cells: tuple[str, str, str]) -> str:
        first, phrase, whose = map(visible, cells)
        rest = "   ".join(part for part in (phrase, whose) if part)
        return f"{first.ljust(self._width)}  {rest}".rstrip()


def _shown(difference: Mapping[str, Any]) -> list[str]:
    if difference["what"] in UNSHOWN:
        return [f"    {UNSHOWN[difference['what']]}"]
    return [f"    {visible(line)}" for line in difference["lines"]]
