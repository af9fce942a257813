"""What a command prints: data to stdout, messages to stderr; plain lines, or one JSON object."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from typing import Any

import typer

FORMAT = 1


def say(lines: str | Iterable[str] = "") -> None:
    """Print data for people on stdout."""
    for line in (lines,) if isinstance(lines, str) else lines:
        print(line)


def note(lines: str | Iterable[str]) -> None:
    """Print a message on stderr."""
    for line in (lines,) if isinstance(lines, str) else lines:
        print(line, file=sys.stderr)


def say_json(data: dict[str, Any]) -> None:
    """Print one JSON object on stdout, with its format first."""
    body = {"format": FORMAT} | data
    print(json.dumps(body, indent=2, ensure_ascii=False))


def styled(text: str, colour: str, *, bold: bool = False) -> str:
    """Text in a colour, where stdout is a terminal that wants colours."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return typer.style(text, fg=colour, bold=bold)


def table(rows: Sequence[Sequence[str]], head: Sequence[str] | None = None) -> list[str]:
    """Lines with columns, as wide as their widest cell; nothing is wrapped or cut."""
    all_rows = [list(head), *rows] if head else list(rows)
    if not all_rows:
        return []
    columns = range(max(len(row) for row in all_rows))
    widths = [max((len(row[c]) for row in all_rows if c < len(row)), default=0) for c in columns]
    return [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=False)).rstrip() for row in all_rows
    ]


def ago(then: str, now: str) -> str:
    """How long ago an instant was, roughly: `8 s`, `5 min`, `3 h`, `2 d`. Both as `2026-12-01T22:20:02Z`."""
    from datetime import datetime

    seconds = int((datetime.fromisoformat(now) - datetime.fromisoformat(then)).total_seconds())
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size:
            return f"{seconds // size} {unit} ago"
    return f"{max(seconds, 0)} s ago"
