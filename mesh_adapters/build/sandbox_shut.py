"""Runs one command in bubblewrap, and ends it with all that it started.

Everything that runs inside is in a process namespace, and its first process is bubblewrap's own: when that
is killed the kernel kills the others, whatever sessions they have and signals they ignore. It is killed by
name here, and dies with the bubblewrap outside, which dies with the builder.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from attrs import evolve

from mesh_adapters.build.sandbox_attend import Bounds, How, Ran, Tail, Watch, attend, last_words
from mesh_adapters.build.sandbox_keys import without_keys

_LONGEST_START = 0.8
"""Seconds until bubblewrap says which process is its first inside; less than `Watch.alive` may wait."""
_LONGEST_END = 5.0


def run_shut(
    program: str, told: Sequence[str], argv: Sequence[str], tail: Tail, bounds: Bounds, watch: Watch
) -> Ran:
    """Run a command as bubblewrap is told. All of it has ended when this returns or raises."""
    with _filter() as keys, _pipe() as (status, says):
        own = ("--seccomp", str(keys), "--json-status-fd", str(says))
        try:
            process = subprocess.Popen(
                (program, *told, *own, "--", *argv),
                cwd="/",
                env={},
                umask=0o022,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                pass_fds=(keys, says),
            )
        except OSError as error:
            return Ran(how=How.NOT_STARTED, why=str(error))
        os.close(says)
        said = bytearray()
        first = _first_inside(status, said)
        try:
            ran = attend(process, tail, bounds, watch)
        finally:
            _end(process, first)
            last_words(process, tail)
        return _judged(ran, _all_said(status, said), tail)


def _judged(ran: Ran, said: dict[str, Any], tail: Tail) -> Ran:
    """How it ended: bubblewrap tells of an exit code only if it came to run the command."""
    if ran.how is not How.BY_ITSELF or "exit-code" in said:
        return ran
    return evolve(ran, how=How.NOT_STARTED, why="; ".join(tail.lines()[-2:]))


def _end(process: subprocess.Popen[bytes], first: int | None) -> None:
    """End bubblewrap and all inside, and wait until nothing of it lives."""
    if first is not None and process.poll() is None:
        with suppress(ProcessLookupError):
            signal.pidfd_send_signal(first, signal.SIGKILL)
    process.kill()
    process.wait()
    if first is not None:
        # It ends after all the others: the kernel sees to it.
        select.select((first,), (), (), _LONGEST_END)
        os.close(first)


def _first_inside(status: int, said: bytearray) -> int | None:
    """A handle of the first process inside, as soon as bubblewrap tells; None where it made none."""
    while b"}" not in said and select.select((status,), (), (), _LONGEST_START)[0]:
        chunk = os.read(status, 4096)
        if not chunk:
            return None
        said += chunk
    with suppress(KeyError, ProcessLookupError):
        return os.pidfd_open(_documents(said)["child-pid"])
    return None


def _all_said(status: int, said: bytearray) -> dict[str, Any]:
    os.set_blocking(status, False)
    with suppress(BlockingIOError):
        while chunk := os.read(status, 4096):
            said += chunk
    return _documents(said)


def _documents(said: bytearray) -> dict[str, Any]:
    """What was said in several JSON documents, as one; a last one that is cut off is left out."""
    text, found = said.decode("utf-8", "replace"), dict[str, Any]()
    with suppress(json.JSONDecodeError):
        while text := text.lstrip():
            document, end = json.JSONDecoder().raw_decode(text)
            found |= document
            text = text[end:]
    return found


@contextmanager
def _filter() -> Iterator[int]:
    keys = os.memfd_create("filter")
    try:
        os.write(keys, without_keys())
        os.lseek(keys, 0, os.SEEK_SET)
        yield keys
    finally:
        os.close(keys)


@contextmanager
def _pipe() -> Iterator[tuple[int, int]]:
    """A pipe; its writing end may have been closed meanwhile."""
    status, says = os.pipe()
    try:
        yield status, says
    finally:
        os.close(status)
        with suppress(OSError):
            os.close(says)
