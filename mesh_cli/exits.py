"""How a command ends: the exit codes, and the one exception by which a command stops early."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import Any


class Exit(IntEnum):
    """The exit codes of every program of meshwright."""

    DONE = 0
    FAILED = 1
    CHANGES_PENDING = 2
    REFUSED = 3
    SOME_REFUSED = 4
    OUT_OF_REACH = 5
    USAGE = 64
    INTERRUPTED = 130


class Stop(Exception):
    """A command ends here. `lines` are for people; `code` and `facts` are what `--json` shows."""

    def __init__(
        self,
        exit_code: Exit,
        code: str,
        lines: str | Sequence[str],
        facts: Mapping[str, Any] | None = None,
    ) -> None:
        self.exit_code = exit_code
        self.code = code
        self.lines = (lines,) if isinstance(lines, str) else tuple(lines)
        self.facts = dict(facts or {})
        super().__init__("\n".join(self.lines))
