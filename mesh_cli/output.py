"""What a command prints: data to stdout, messages to stderr; plain lines, or one JSON object."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from typing import Any, TextIO

import typer

from mesh_cli.exits import Exit, Stop

FORMAT = 1


def say(lines: str | Iterable[str] = "") -> None:
    """Print data for people on stdout."""
    for line in (lines,) if isinstance(lines, str) else lines:
        _print(line, sys.stdout)


def note(lines: str | Iterable[str]) -> None:
    """Print a message on stderr; what a terminal would act on is shown instead."""
    for line in (lines,) if isinstance(lines, str) else lines:
        _print(visible(line), sys.stderr)


def say_json(data: dict[str, Any]) -> None:
    """Print one JSON object on stdout, with its format first."""
    say(json_text({"format": FORMAT} | data))


def json_text(data: dict[str, Any]) -> str:
    """A JSON object as text; escaped to ASCII where stdout could not carry it as it is."""
    text = json.dumps(data, indent=2, ensure_ascii=False)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return json.dumps(data, indent=2)
    return text


def visible(text: str) -> str:
    r"""Somebody's text on one line: what is not printable is shown as `\x1b` or `\u202e`."""
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else ascii(c)[1:-1] for c in text)


def flush() -> None:
    """Have everything written that was printed. Stops where stdout cannot be written."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except OSError as error:
            give_up(stream, error)


def _print(line: str, stream: TextIO) -> None:
    try:
        print(line, file=stream)
    except OSError as error:
        give_up(stream, error)


def give_up(stream: TextIO, error: OSError) -> None:
    """Write nowhere from now on. Whoever read a pipe and has had enough is no failure; a full disk is."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
    if stream is sys.stdout and not isinstance(error, BrokenPipeError):
        line = f"standard output cannot be written: {error.strerror}"
        raise Stop(Exit.FAILED, "unwritable-output", line) from None


def styled(text: str, colour: str, *, bold: bool = False) -> str:
    """Text in a colour, where stdout is a terminal that wants colours."""
    if not sys.stdout.isatty() or os.environ.get("NO_COLOR"):
        return text
    return typer.style(text, fg=colour, bold=bold)


def redraws() -> bool:
    """Whether what stands on stdout can be drawn again: it is a terminal, and a clever one."""
    return sys.stdout.isatty() and os.environ.get("TERM") != "dumb"


def unstyled(text: str) -> str:
    """What `styled` was given: for a message, whose stream may be no terminal where stdout is one."""
    return re.sub("\x1b\\[[0-9;]*m", "", text)


def table(rows: Sequence[Sequence[str]], head: Sequence[str] | None = None) -> list[str]:
    """Lines with columns, as wide as their widest cell; nothing is wrapped or cut."""
    all_rows = [[visible(cell) for cell in row] for row in ([head, *rows] if head else rows)]
    if not all_rows:
        return []
    columns = range(max(len(row) for row in all_rows))
    widths = [max((len(row[c]) for row in all_rows if c < len(row)), default=0) for c in columns]
    return [
        "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=False)).rstrip() for row in all_rows
    ]


def ago(then: str, now: str) -> str:
    """How long ago an instant was, roughly: `8 s`, `5 min`, `3 h`, `2 d`. Both as `2026-12-01T22:20:02Z`."""
    from mesh_core.explain.words import span

    return f"{span(seconds_since(then, now))} ago"


def seconds_since(then: str, now: str) -> float:
    """Seconds from an instant to another, both as a store keeps them."""
    from datetime import datetime

    return (datetime.fromisoformat(now) - datetime.fromisoformat(then)).total_seconds()
