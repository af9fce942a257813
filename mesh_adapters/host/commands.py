"""Every command that a host runs: built as a value, run here, and ended here with all that it started.

Nothing else in the host starts a process. A command has an environment of its own, no terminal and no
input, and a time limit. What it started and left behind when it ended well (a daemon, say) goes on; when the
time is up, all of it is ended, also what has a session of its own: a process whose parent is gone becomes a
child of this one, since this one is a subreaper (Linux, prctl(2)).
"""

from __future__ import annotations

import ctypes
import os
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO

from attrs import field, frozen

PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENVIRONMENT = {"PATH": PATH, "LC_ALL": "C.UTF-8", "HOME": "/root"}
"""What every command gets, and nothing of ours."""

MOST_OUTPUT = 256 * 1024
"""Bytes that are kept of each stream: the last."""

_SET_CHILD_SUBREAPER = 36
_AFTERWARDS = 0.3
"""Seconds for output that comes while a command ends."""

_NOBODY = 0
"""The number of no process."""
_LONGEST_END = 10.0
"""Seconds for everything that was ended to be gone."""

_MOST_IN_A_ROW = 10_000
"""Looks for orphans in a row, before everything is looked at again."""


def _pairs(given: Mapping[str, str] | Iterable[tuple[str, str]]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted(given.items() if isinstance(given, Mapping) else given))


@frozen(kw_only=True)
class Command:
    """A command as a value: it may take `seconds`, and has `environment` on top of `ENVIRONMENT`."""

    argv: tuple[str, ...]
    seconds: float
    environment: tuple[tuple[str, str], ...] = field(default=(), converter=_pairs)

    def __str__(self) -> str:
        return " ".join(self.argv)


def command(
    program: str, *arguments: str, seconds: float, environment: Mapping[str, str] | None = None
) -> Command:
    """The command that runs a program (a path, or a name to be found on `PATH`) with arguments."""
    from plumbum.machines.local import LocalCommand

    argv = LocalCommand(program)[arguments].formulate()
    return Command(argv=tuple(argv), seconds=seconds, environment=environment or {})


@frozen(kw_only=True)
class Ended:
    """How a command ended. `code` is None where it was ended because its time was up."""

    command: Command
    code: int | None
    output: str
    errors: str

    @property
    def well(self) -> bool:
        """Whether it ended with 0."""
        return self.code == 0

    @property
    def words(self) -> str:
        """What it said last that tells why it failed: its own words, a few lines at most."""
        lines = [line.strip() for line in (self.errors.strip() or self.output.strip()).splitlines()]
        said = "; ".join([line for line in lines if line][-3:])
        if self.code is None:
            late = f"it took longer than {self.command.seconds:g} s and was ended"
            return f"{late}: {said}" if said else late
        return said or f"it ended with {self.code} and said nothing"


def run(command: Command) -> Ended:
    """Run a command to its end, or to the end of its time. Raises nothing for what it does.

    A program that is not there ended with 127, one that may not be run with 126, as a shell has it.
    """
    become_subreaper()
    ours = _reaped(children())
    try:
        process = subprocess.Popen(
            command.argv,
            env={**ENVIRONMENT, **dict(command.environment)},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        why = f"{command.argv[0]}: {error.strerror}"
        not_run = 127 if isinstance(error, FileNotFoundError) else 126
        return Ended(command=command, code=not_run, output="", errors=why)
    with process:
        tails = [_Tail(stream) for stream in (process.stdout, process.stderr) if stream is not None]
        code = _wait(process, command.seconds)
        if code is None:
            end_all(process.pid, ours)
        by = time.monotonic() + _AFTERWARDS
        output, errors = [tail.text(by) for tail in tails]
    return Ended(command=command, code=code, output=output, errors=errors)


def _wait(process: subprocess.Popen[bytes], seconds: float) -> int | None:
    try:
        return process.wait(timeout=seconds)
    except subprocess.TimeoutExpired:
        return None


class _Tail:
    """Reads a stream to its end beside the command, and keeps the last of it.

    A daemon that keeps the stream open holds nobody up: after the command only a moment is waited.
    """

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._kept: deque[bytes] = deque()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        held = 0
        with suppress(ValueError, OSError):  # it is closed while somebody else holds the other end
            while chunk := os.read(self._stream.fileno(), 65536):
                self._kept.append(chunk)
                held += len(chunk)
                while held - len(self._kept[0]) > MOST_OUTPUT:
                    held -= len(self._kept.popleft())

    def text(self, by: float) -> str:
        self._thread.join(max(0.0, by - time.monotonic()))
        return b"".join(list(self._kept))[-MOST_OUTPUT:].decode("utf-8", "replace")


def become_subreaper() -> None:
    """Make orphans of this process's descendants its children, so that they can be found."""
    ctypes.CDLL(None, use_errno=True).prctl(_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def children() -> frozenset[int]:
    """The processes whose parent is this one."""
    return frozenset(pid for pid, parent in _parents().items() if parent == os.getpid())


def _reaped(pids: frozenset[int]) -> frozenset[int]:
    """Those of these children that still run: no command is running, so the others are left-overs."""
    for pid in pids:
        with suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)
    return pids & children()


def end_all(first: int, spared: frozenset[int]) -> None:
    """End a process, all its descendants, and every child of this process that is not spared.

    Those that it orphaned come to this process as they are orphaned, so it takes a few rounds.
    """
    deadline = time.monotonic() + _LONGEST_END
    while time.monotonic() < deadline:
        doomed = _descendants(first) | (children() - spared)
        for pid in list(doomed):
            doomed |= _descendants(pid)
        if not doomed:
            return
        for pid in sorted(doomed, key=lambda pid: (pid != first, pid)):  # none lives to tell of its children
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        for pid in doomed - {first}:
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
        if not _end_orphans(spared | {first}) and doomed == {first}:
            with suppress(ChildProcessError):
                os.waitid(os.P_PID, first, os.WEXITED | os.WNOWAIT)
            return
        time.sleep(0.01)


def end_others(spared: frozenset[int]) -> None:
    """End every child of this process that is not spared, with all that it started."""
    end_all(_NOBODY, spared)


def _end_orphans(spared: frozenset[int]) -> bool:
    """End what is orphaned just now, before it has started the next and ended; whether there was any.

    To look through all of /proc takes too long for that.
    """
    for looks in range(_MOST_IN_A_ROW):
        orphans = _children_now() - spared
        if not orphans:
            return looks > 0
        for pid in orphans:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
            with suppress(ChildProcessError):
                os.waitpid(pid, os.WNOHANG)
    return True


def _children_now() -> frozenset[int]:
    """The children of this process, as the kernel lists them where it was built to."""
    found: set[int] = set()
    for task in Path("/proc/self/task").iterdir():
        with suppress(OSError):
            found.update(int(pid) for pid in (task / "children").read_text().split())
    return frozenset(found)


def _descendants(first: int) -> set[int]:
    parents = _parents()
    found = {first} & parents.keys()
    while more := {pid for pid, parent in parents.items() if parent in found} - found:
        found |= more
    return found


def _parents() -> dict[int, int]:
    """The parent of every process that there is."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            with suppress(OSError, ValueError, IndexError):
                stat = (entry / "stat").read_text("utf-8", "replace")
                parents[int(entry.name)] = int(stat.rpartition(")")[2].split()[1])
    return parents
