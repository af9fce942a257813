"""How git is run: as a process with nothing of ours in its environment, a deadline, and bounded output.

A command that only reads what is on this disk may use no protocol at all, so that git fetches nothing
behind our back where an object is missing. No configuration but what is said here is read: not the
machine's, not the user's.
"""

from __future__ import annotations

import os
import resource
import selectors
import signal
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from attrs import field, frozen

from mesh_adapters.build.git_settings import GitSettings, Secrets, ssh_command
from mesh_adapters.host.commands import PATH, command

MOST_OUTPUT = 32 * 1024 * 1024
"""Bytes of standard output that are taken, where nobody says otherwise."""

_MOST_ERRORS = 16 * 1024
_GENTLY = 2.0
"""Seconds that git has to take away its locks and temporary files, before it is killed."""

_FAR_PROTOCOLS = "https:ssh:file"
_OPTIONS = (
    "core.hooksPath=/dev/null",
    "core.symlinks=false",
    "core.fsmonitor=false",
    "protocol.ext.allow=never",
    "transfer.bundleURI=false",
    "credential.helper=",
    "http.lowSpeedLimit=1",
    "http.lowSpeedTime=60",
    "gc.auto=0",
    "maintenance.auto=false",
)

Take = Callable[[bytes], None]


@frozen(kw_only=True)
class Ran:
    """How git ended. `code` is None where it was ended: time was up, or it gave `too_much`."""

    code: int | None
    output: bytes
    errors: str
    too_much: bool = False

    @property
    def well(self) -> bool:
        """Whether it ended with 0."""
        return self.code == 0

    @property
    def late(self) -> bool:
        """Whether it was ended because its time was up."""
        return self.code is None and not self.too_much


@frozen(kw_only=True)
class Git:
    """Runs git until `until`, an instant of the monotonic clock. `home` is an empty folder.

    `lock` is the handle of a lock that git holds too: where we are killed and it goes on for a while, nobody
    else may touch what it works on.
    """

    home: Path
    settings: GitSettings
    secrets: Secrets
    until: float
    lock: int | None = None

    def near(
        self,
        git_dir: Path,
        *arguments: str,
        given: bytes = b"",
        take: Take | None = None,
        most: int = MOST_OUTPUT,
    ) -> Ran:
        """Run git on a clone, without any way to reach another repository."""
        argv = self._argv(f"--git-dir={git_dir}", *arguments)
        return run(
            argv,
            self._environment("none"),
            self.until,
            Streams(given=given, take=take, most=most, kept=self._kept()),
        )

    def far(
        self, git_dir: Path, repository: str, *arguments: str, given: bytes = b"", largest: int | None = None
    ) -> Ran:
        """Run git on a clone with `repository` as its origin; `largest` bounds each file that it writes."""
        origin = ("-c", f"remote.origin.url={repository}", *self._ways_in())
        argv = self._argv(*origin, f"--git-dir={git_dir}", *arguments)
        streams = Streams(given=given, largest=largest, kept=self._kept())
        return run(argv, self._environment(_FAR_PROTOCOLS), self.until, streams)

    def _argv(self, *arguments: str) -> tuple[str, ...]:
        options = [part for option in _OPTIONS for part in ("-c", option)]
        return command("git", *options, *arguments, seconds=self.settings.seconds).argv

    def _kept(self) -> tuple[int, ...]:
        return () if self.lock is None else (self.lock,)

    def _ways_in(self) -> tuple[str, ...]:
        ways: list[str] = []
        if self.settings.credentials is not None:
            ways += ["-c", f"credential.helper={self.secrets.helper}"]
        if self.settings.authorities is not None:
            ways += ["-c", f"http.sslCAInfo={self.settings.authorities}"]
        return tuple(ways)

    def _environment(self, protocols: str) -> dict[str, str]:
        return {
            "PATH": PATH,
            "HOME": str(self.home),
            "LC_ALL": "C",
            "GIT_CONFIG_NOSYSTEM": "1",
            "GIT_CONFIG_GLOBAL": "/dev/null",
            "GIT_ATTR_NOSYSTEM": "1",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ALLOW_PROTOCOL": protocols,
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "GIT_LITERAL_PATHSPECS": "1",
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_SSH_VARIANT": "ssh",
            "GIT_SSH_COMMAND": ssh_command(self.settings),
        }


@frozen(kw_only=True)
class Streams:
    """What a process is given, who takes its output (else it is kept), and how much there may be of it.

    `kept` are handles that it has as well.
    """

    given: bytes = field(default=b"", repr=False)
    take: Take | None = None
    most: int = MOST_OUTPUT
    largest: int | None = None
    kept: tuple[int, ...] = ()


def run(argv: tuple[str, ...], environment: dict[str, str], until: float, streams: Streams) -> Ran:
    """Run a program to its end, or to the end of its time or of what it may say; all of its group ends.

    Raises what `streams.take` raises. A program that is not there ended with 127.
    """
    with tempfile.TemporaryFile() as stdin:
        stdin.write(streams.given)
        stdin.seek(0)
        try:
            process = subprocess.Popen(
                argv,
                env=environment,
                cwd="/",
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
                pass_fds=streams.kept,
            )
        except OSError as error:
            return Ran(code=127, output=b"", errors=f"{argv[0]}: {error.strerror}")
    with process:
        try:
            if streams.largest is not None:
                with suppress(OSError):
                    resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (streams.largest, streams.largest))
            return _read(process, until, streams)
        finally:
            _end(process)


def _read(process: subprocess.Popen[bytes], until: float, streams: Streams) -> Ran:
    kept, errors, length = bytearray(), bytearray(), 0
    take: Take = kept.extend if streams.take is None else streams.take
    with selectors.DefaultSelector() as selector:
        for stream in (process.stdout, process.stderr):
            selector.register(stream or -1, selectors.EVENT_READ)
        while selector.get_map() and (left := until - time.monotonic()) > 0:
            for key, _ in selector.select(left):
                chunk = os.read(key.fd, 65536)
                if not chunk:
                    selector.unregister(key.fileobj)
                elif key.fileobj is process.stderr:
                    errors = (errors + chunk)[-_MOST_ERRORS:]
                else:
                    length += len(chunk)
                    if length > streams.most:
                        return Ran(code=None, output=b"", errors=_text(errors), too_much=True)
                    take(chunk)
    code = _code(process, until)
    return Ran(code=code, output=bytes(kept), errors=_text(errors))


def _code(process: subprocess.Popen[bytes], until: float) -> int | None:
    try:
        return process.wait(max(0.0, until - time.monotonic()))
    except subprocess.TimeoutExpired:
        return None


def _text(words: bytearray) -> str:
    return words.decode("utf-8", "replace")


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the group of a process that still runs: gently, for git takes its locks away then; then surely."""
    if process.returncode is not None:
        return
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGTERM)
        by = time.monotonic() + _GENTLY
        # It is left to be reaped until the group is killed, so that the group's number stays its own.
        while time.monotonic() < by and not _has_ended(process.pid):
            time.sleep(0.01)
        os.killpg(process.pid, signal.SIGKILL)


def _has_ended(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is not None
