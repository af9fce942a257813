"""The process that builds: it has the request on its standard input and gives the answer on its output.

It is a process of its own so that the one that holds the connection is never busy for longer than a
heartbeat, and so that it can be ended whatever it is doing. It is given no broker's credential, and no
environment.
"""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO

from mesh_adapters.build.building import clear
from mesh_adapters.host.commands import become_subreaper, children, end_others
from mesh_core.model.build import Failed, Request, Said, Step
from mesh_core.model.recipe import OVERALL_SECONDS
from mesh_core.wire.builds import read_builder, request_to_bytes
from mesh_core.wire.faults import WireError
from mesh_core.wire.text import ANSWER_LIMIT

_TO_END = 5.0
"""Seconds that a process is given to end what it has started, before it is killed."""
_SAFE = ("PATH", "LANG", "LC_ALL", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR")


class Child:
    """One build at work. `command` is a program and its arguments; the folder it works in comes behind."""

    def __init__(self, command: Sequence[str], request: Request, builder: str, scratch: Path) -> None:
        self._request = request
        self._builder = builder
        self._work = Path(tempfile.mkdtemp(prefix="build-", dir=scratch))
        self._out: IO[bytes] = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115 (closed by _put_away)
        self._until = time.monotonic() + OVERALL_SECONDS
        become_subreaper()
        self._others = children()
        self._process = subprocess.Popen(
            [*command, str(self._work)],
            stdin=subprocess.PIPE,
            stdout=self._out,
            env={name: os.environ[name] for name in _SAFE if name in os.environ},
            start_new_session=True,
        )
        assert self._process.stdin is not None
        with suppress(BrokenPipeError), self._process.stdin:
            self._process.stdin.write(request_to_bytes(request))

    def answer(self, wait: float) -> Said | None:
        """Its answer, once it has ended; None where it has not within so many seconds.

        One that takes too long is ended, and one that ends without an answer is a failure.
        """
        with suppress(subprocess.TimeoutExpired):
            self._process.wait(min(wait, max(0.0, self._until - time.monotonic())))
        if self._process.poll() is None and time.monotonic() < self._until:
            return None
        late = self._process.poll() is None
        if late:
            self._end()
        try:
            return self._timed_out() if late else self._said()
        finally:
            self._put_away()

    def stop(self) -> None:
        """End it, whatever it is doing: it gives no answer."""
        self._end()
        self._put_away()

    def _said(self) -> Said:
        self._out.seek(0)
        content = self._out.read(ANSWER_LIMIT + 1)
        try:
            return read_builder(content)
        except WireError as error:
            ended = self._process.returncode
            return self._failed(f"what builds ended with {ended} and gave no answer: {error.faults[0]}")

    def _timed_out(self) -> Failed:
        return self._failed(f"timed out after {OVERALL_SECONDS} s, source and registry included")

    def _failed(self, why: str) -> Failed:
        return Failed(request=self._request.id, builder=self._builder, step=Step.COMMANDS, why=why)

    def _end(self) -> None:
        """What it has started ends with it: it was told to see to that, and its sandbox does in any case."""
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            self._process.wait(_TO_END)
        except subprocess.TimeoutExpired:
            with suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def _put_away(self) -> None:
        """What it left behind came to this process, and ends here: git at work for one that was killed."""
        end_others(self._others)
        self._out.close()
        clear(self._work)
