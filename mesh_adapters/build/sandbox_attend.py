"""Runs one process of a build: reads what it says, tells that the builder lives, ends it in time.

Nothing here waits for a process that keeps the output open: what is there is read, and no more.
"""

from __future__ import annotations

import os
import re
import selectors
import subprocess
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from enum import Enum, auto
from pathlib import Path

from attrs import Factory, field, frozen

BEAT = 0.5
"""Seconds between two calls of `Watch.alive`, at most and about."""
_CHUNK = 65536
_LAST_WORDS = 0.3
"""Seconds for output that is still on its way when all has ended."""
_LONGEST_LINE = 400
_UNPRINTABLE = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@frozen(kw_only=True)
class Limits:
    """What a build may use. `free_bytes` is what it leaves free of the disk that it works on."""

    lines: int = 100
    log_bytes: int = 16 * 1024
    processes: int = 4096
    """Processes and threads, of all builds that have the builder's account for builds."""
    file_bytes: int = 4 * 1024**3
    output_bytes: int = 1024**3
    image_bytes: int = 4 * 1024**3
    shared_memory_bytes: int = 256 * 1024**2
    free_bytes: int = 256 * 1024**2


def _nothing() -> None:
    """Nobody wants to know."""


def _no() -> bool:
    return False


@frozen(kw_only=True)
class Watch:
    """What the builder does while a build runs: both are called about twice a second.

    What they raise ends the build, all of it, and is raised on.
    """

    alive: Callable[[], None] = _nothing
    asked_to_stop: Callable[[], bool] = _no


class Beat:
    """Calls `Watch.alive` when it is time."""

    def __init__(self, watch: Watch) -> None:
        self._watch = watch
        self._next = 0.0

    def __call__(self) -> bool:
        """Call it if it is time; whether it was."""
        now = time.monotonic()
        if now < self._next:
            return False
        self._next = now + BEAT
        self._watch.alive()
        return True


class How(Enum):
    """How a process came to its end."""

    BY_ITSELF = auto()
    TIMED_OUT = auto()
    STOPPED = auto()
    NO_ROOM = auto()
    NOT_STARTED = auto()


@frozen(kw_only=True)
class Ran:
    """How a process ended; `code` is that of one that ended by itself, negative for a signal.

    `why` is for one that was not started.
    """

    how: How
    code: int = 0
    why: str = ""


@frozen(kw_only=True)
class Bounds:
    """Until when (monotonic), and what must stay free of the disk that has `folder`."""

    until: float
    folder: Path
    limits: Limits = field(default=Factory(Limits))

    def has_room(self) -> bool:
        """Whether the disk has as much left as it is to have."""
        disk = os.statvfs(self.folder)
        return disk.f_bavail * disk.f_frsize >= self.limits.free_bytes


class Tail:
    """The last of what several processes said, one after another."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._kept: deque[bytes] = deque()
        self._held = 0

    def add(self, chunk: bytes) -> None:
        """Keep some more, and let go of what is too old."""
        self._kept.append(chunk)
        self._held += len(chunk)
        while self._held - len(self._kept[0]) > self._limits.log_bytes:
            self._held -= len(self._kept.popleft())

    def lines(self) -> tuple[str, ...]:
        """The last lines, without what would move a terminal's cursor or colour it."""
        text = b"".join(self._kept)[-self._limits.log_bytes :].decode("utf-8", "replace")
        lines = [_UNPRINTABLE.sub("", line).rstrip()[:_LONGEST_LINE] for line in text.splitlines()]
        return tuple([line for line in lines if line][-self._limits.lines :])


def attend(process: subprocess.Popen[bytes], tail: Tail, bounds: Bounds, watch: Watch) -> Ran:
    """Stay with a running process until it ended, or has to be ended (the caller does that).

    Its output is `process.stdout`. One that has to be ended still runs when this returns, and one that ended
    is still waited for: until the caller does that, its number is nobody else's.
    """
    assert process.stdout is not None
    output = process.stdout.fileno()
    os.set_blocking(output, False)
    handle = os.pidfd_open(process.pid)
    beat = Beat(watch)
    try:
        with selectors.DefaultSelector() as selector:
            selector.register(output, selectors.EVENT_READ)
            selector.register(handle, selectors.EVENT_READ)
            while True:
                ready = {key.fd for key, _ in selector.select(_pause(bounds.until))}
                if output in ready and not _read(output, tail):
                    selector.unregister(output)
                if handle in ready:
                    return Ran(how=How.BY_ITSELF, code=_code(process.pid))
                end = _must_end(bounds, watch, beat)
                if end is not None:
                    return Ran(how=end)
    finally:
        os.close(handle)


def _code(pid: int) -> int:
    ended = os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
    if ended is None:
        raise ChildProcessError(pid)
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def _pause(until: float) -> float:
    return max(0.0, min(BEAT / 2, until - time.monotonic()))


def _must_end(bounds: Bounds, watch: Watch, beat: Beat) -> How | None:
    if time.monotonic() >= bounds.until:
        return How.TIMED_OUT
    if not beat():
        return None
    if watch.asked_to_stop():
        return How.STOPPED
    return None if bounds.has_room() else How.NO_ROOM


def _read(output: int, tail: Tail) -> bool:
    """Take one piece of what is there; whether there may be more later."""
    try:
        chunk = os.read(output, _CHUNK)
    except BlockingIOError:
        return True
    if chunk:
        tail.add(chunk)
    return bool(chunk)


def last_words(process: subprocess.Popen[bytes], tail: Tail) -> None:
    """Take what was said before the end, for a moment, and let go of the output."""
    assert process.stdout is not None
    until = time.monotonic() + _LAST_WORDS
    with process.stdout as stream, suppress(OSError), selectors.DefaultSelector() as selector:
        selector.register(stream.fileno(), selectors.EVENT_READ)
        while (left := until - time.monotonic()) > 0:
            if not selector.select(left) or not _read(stream.fileno(), tail):
                return
