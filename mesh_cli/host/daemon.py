"""The process as which `mesh-host run` goes on: without a command line, which is a quarter of its memory.

It is `python -P -m mesh_cli.host.daemon ROOT SECONDS [--json]`.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from threading import Event
from typing import Any, NoReturn

from mesh_cli.exits import Exit, Stop
from mesh_cli.host import wiring

_MODULE = "mesh_cli.host.daemon"


def become(root: Path, every: float, *, as_json: bool) -> NoReturn:
    """Go on as the daemon: this process, its number and its streams, with nothing of what it was before."""
    sys.stdout.flush()
    sys.stderr.flush()
    more = ["--json"] if as_json else []
    # -P: nothing is imported from the directory that somebody happens to be in.
    os.execv(sys.executable, [sys.executable, "-P", "-m", _MODULE, str(root), repr(every), *more])


def main() -> NoReturn:
    """Run with the arguments of the process, and end with its exit code."""
    root, every, *more = sys.argv[1:]
    try:
        code = run(Path(root), float(every), as_json="--json" in more)
    except Stop as stop:
        for line in stop.lines:
            note(line)
        code = stop.exit_code
    except KeyboardInterrupt:
        code = Exit.INTERRUPTED
    sys.exit(int(code))


def run(root: Path, every: float, *, as_json: bool) -> Exit:
    """Work until SIGTERM or ctrl-c comes. Raises `Stop` where the machine did not join, or cannot be used."""
    with signals() as (stop, which):
        try:
            wiring.daemon(root, every=every, say=note, heard=_print if as_json else _nobody).run(stop)
        except Exception as error:
            code = wiring.journal_fault(error)
            if code is None:
                raise
            raise Stop(Exit.OUT_OF_REACH, code, str(error)) from None
    if which() == signal.SIGINT:
        raise Stop(Exit.INTERRUPTED, "interrupted", "interrupted; the next run goes on from there")
    return Exit.DONE


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


def _print(report: dict[str, Any]) -> None:
    _write(json.dumps(report), sys.stdout)


def _write(line: str, stream: Any) -> None:
    """Nobody who listens, or a full disk, is no reason to let go of the machine."""
    with suppress(OSError, ValueError):
        print(line, file=stream, flush=True)


def _nobody(_report: dict[str, Any]) -> None:
    """Reports go to the broker alone."""


if __name__ == "__main__":
    main()
