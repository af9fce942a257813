"""What a program that goes on until it is asked to end does of itself: signals, and lines to people."""

from __future__ import annotations

import json
import signal
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from threading import Event
from typing import Any


@contextmanager
def signals() -> Iterator[tuple[Event, Callable[[], int | None]]]:
    """What SIGTERM or ctrl-c sets, and which of them came; ctrl-c as the second ends at once."""
    stop, came = Event(), list[int]()

    def ask(number: int, _frame: object) -> None:
        came.append(number)
        if len(came) == 1:  # only once: a handler may interrupt itself, and an event has a lock
            stop.set()
        elif number == signal.SIGINT:
            raise KeyboardInterrupt

    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    if before[signal.SIGINT] is signal.SIG_IGN:  # in a shell's background
        del before[signal.SIGINT]
    for number in before:
        signal.signal(number, ask)
    try:
        yield stop, lambda: came[0] if came else None
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def note(line: str) -> None:
    """Print a message on stderr, if anybody reads it; what a terminal would act on is shown instead."""
    if not line.isprintable():
        from mesh_cli.output import visible

        line = visible(line)
    _write(line, sys.stderr)


def print_object(data: Mapping[str, Any]) -> None:
    """Print an object on a line of stdout, if anybody reads it."""
    _write(json.dumps(data), sys.stdout)


def _write(line: str, stream: Any) -> None:
    """Nobody who listens, or a full disk, is no reason to end."""
    with suppress(OSError, ValueError):
        print(line, file=stream, flush=True)
