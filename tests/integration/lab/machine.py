"""A machine of the lab: its own systemd, files, packages and services, on this machine.

It is an overlay of `/` in namespaces of its own. What is written in it is in memory and gone when it
is closed; the kernel is shared, the network is loopback only until a `LabNetwork` gives it more.
`keeper.sh` starts and ends it, `root.sh` is its process 1 until systemd is.
"""

import os
import secrets
import select
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from io import StringIO
from pathlib import Path
from types import MappingProxyType, TracebackType
from typing import IO, Self

from tests.integration.lab.binds import needed

HERE = Path(__file__).parent
SYSTEMD = "/lib/systemd/systemd --system --unit=multi-user.target"
UP = ("running", "degraded")
NOT_CLEARED = 3
"""What `keeper.sh` exits with when it could not take everything away."""
ENVIRONMENT = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "HOME": "/root",
    "LANG": "C.UTF-8",
}

# What is run gets a cgroup of the machine's, and sees the machine's as the root. The kernel lets a
# process move in only from outside of the cgroup's namespace, so that one is entered last.
ENTER = """
mkdir "$0" && echo 0 >"$0/cgroup.procs" && exec nsenter --cgroup=/proc/1/ns/cgroup -- "$@"
"""

# In place by a rename, as an editor does it: no reader sees half of it.
WRITE = """
set -e
new=$(mktemp "$(dirname "$1")/.lab-XXXXXX")
cat >"$new"
chown "$3" "$new"
chmod "$2" "$new"
mv -T "$new" "$1"
"""

WHAT_FAILED = """
systemctl is-system-running
systemctl --failed --no-legend --plain
systemctl list-jobs --no-legend --plain
journalctl --no-pager --lines 40 --output short-monotonic
"""


class LabError(Exception):
    """The machine did not do what the test needs of it."""


class LabMachine:
    """Started by `with`, or by `start`; ended by the end of it, or by `close`.

    `binds` are folders of the host that the machine sees read-only at the same place, in addition to
    what the project's programs need. `init` is for tests of the lab itself.
    """

    def __init__(self, hostname: str, *, binds: Sequence[Path] = (), init: str = SYSTEMD) -> None:
        self.hostname = hostname
        self.cgroup = f"meshwright-lab-{hostname}-{secrets.token_hex(4)}"
        """The name of its cgroup, which no other machine has."""
        self.folder = Path()
        """Where the host mounts it, in a namespace that is hidden; removed with it."""
        self.pid = 0
        """Its process 1, as the host counts; 0 while it does not run."""
        self._binds = (*needed(), *binds)
        self._init = init
        self._keeper: subprocess.Popen[str] | None = None
        self._said: IO[str] = StringIO()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    @property
    def root(self) -> Path:
        """The machine's `/`, seen from outside.

        An absolute symlink in it leads to the *host's* file: use `read` and `write`, which do not
        leave the machine.
        """
        return Path(f"/proc/{self.pid}/root")

    def start(self, *, timeout: float = 30) -> None:
        """Boot, and return when systemd says that it is up; nothing is left of a machine that does not."""
        if self._keeper is not None:
            raise LabError(f"{self.hostname} is started already")
        until = time.monotonic() + timeout
        self._keeper = self._start_keeper()
        try:
            self.pid = self._told_pid(until)
            self._wait_until_up(until)
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Pull the plug: end process 1, and take away everything that was made for the machine."""
        keeper, self._keeper, self.pid = self._keeper, None, 0
        if keeper is None:
            return
        try:
            keeper.communicate(timeout=20)  # closes its stdin, which is its word to end
        except subprocess.TimeoutExpired:
            # With it goes what it started: each dies with its parent.
            os.killpg(keeper.pid, signal.SIGKILL)
            keeper.communicate()
        words = self._words()
        self._said.close()
        # Any other code than these is of a machine that could not be made; `start` tells of that.
        if keeper.returncode in (-signal.SIGKILL, NOT_CLEARED):
            raise LabError(f"{self.hostname} was not cleared away (exit {keeper.returncode}):\n{words}")

    def run(
        self,
        argv: Sequence[str | Path],
        *,
        input: str | bytes | None = None,
        timeout: float = 60,
        check: bool = True,
        env: Mapping[str, str] = MappingProxyType({}),
    ) -> subprocess.CompletedProcess[str]:
        """Run a program in the machine, as root, in `/`, with a small environment and `env` on top."""
        sent = input.encode() if isinstance(input, str) else input or b""
        done = self._run(argv, sent, timeout, env)
        text = subprocess.CompletedProcess(
            [str(part) for part in argv],
            done.returncode,
            done.stdout.decode(errors="replace"),
            done.stderr.decode(errors="replace"),
        )
        if check and text.returncode != 0:
            raise LabError(self._failure(text))
        return text

    def read(self, path: str | Path) -> bytes:
        """The bytes of a file; FileNotFoundError where there is none."""
        done = self._run(["cat", "--", path])
        if done.returncode == 0:
            return done.stdout
        said = f"{self.hostname}: {done.stderr.decode().strip()}"
        raise FileNotFoundError(said) if said.endswith("No such file or directory") else LabError(said)

    def write(
        self, path: str | Path, content: bytes, *, mode: int = 0o644, uid: int = 0, gid: int = 0
    ) -> None:
        """Put a file in place of what is there, with the folders that it needs."""
        self.run(["mkdir", "-p", "--", Path(path).parent])
        argv = ["sh", "-c", WRITE, "sh", str(path), f"{mode:o}", f"{uid}:{gid}"]
        done = self._run(argv, content)
        if done.returncode != 0:
            raise LabError(f"{self.hostname}: cannot write {path}: {done.stderr.decode().strip()}")

    def exists(self, path: str | Path) -> bool:
        """Whether anything has this name; a symlink to nowhere has it."""
        return self._run(["sh", "-c", '[ -e "$1" ] || [ -L "$1" ]', "sh", path]).returncode == 0

    def _start_keeper(self) -> subprocess.Popen[str]:
        self.folder = Path(tempfile.mkdtemp(prefix="meshwright-lab-"))
        self._said = tempfile.TemporaryFile("w+")  # noqa: SIM115 (`close` closes it)
        argv = ["unshare", "--mount", "--propagation", "private", "sh", str(HERE / "keeper.sh")]
        return subprocess.Popen(
            [*argv, str(self.folder), self.cgroup, self.hostname, self._init, *map(str, self._binds)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._said,
            text=True,
            # Ctrl-C in a terminal is for the test, which then closes the machine.
            start_new_session=True,
        )

    def _told_pid(self, until: float) -> int:
        assert self._keeper is not None
        assert self._keeper.stdout is not None
        ready, _, _ = select.select([self._keeper.stdout], [], [], max(0, until - time.monotonic()))
        line = self._keeper.stdout.readline() if ready else ""
        if not line:
            raise LabError(f"{self.hostname} did not come as far as its process 1:\n{self._words()}")
        return int(line)

    def _wait_until_up(self, until: float) -> None:
        while time.monotonic() < until:
            if not (self.root / "proc").exists():
                raise LabError(f"process 1 of {self.hostname} ended:\n{self._words()}")
            if self._state(until - time.monotonic()) in UP:
                return
            time.sleep(0.02)
        raise LabError(f"{self.hostname} is not up in time, systemd says {self._journal()}")

    def _state(self, timeout: float) -> str:
        """What systemd says once it has booted; nothing where it is too early to ask."""
        try:
            done = self._run(["systemctl", "is-system-running", "--wait"], timeout=timeout)
        except subprocess.TimeoutExpired:
            return ""
        return done.stdout.decode().strip()

    def _run(
        self,
        argv: Sequence[str | Path],
        input: bytes = b"",
        timeout: float = 60,
        env: Mapping[str, str] = MappingProxyType({}),
    ) -> subprocess.CompletedProcess[bytes]:
        if not self.pid:
            raise LabError(f"{self.hostname} does not run")
        cgroup = Path("/sys/fs/cgroup/lab", secrets.token_hex(4))
        enter = f"nsenter --target {self.pid} --mount --uts --ipc --net --pid -- sh -c".split()
        with subprocess.Popen(
            [*enter, ENTER, cgroup, *argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**ENVIRONMENT, **env},
            start_new_session=True,
        ) as process:
            outside = self.root / cgroup.relative_to("/")
            try:
                out, err = process.communicate(input, timeout)
            except BaseException:
                end(process, outside)
                raise
            # What it left running keeps it.
            with suppress(OSError):
                outside.rmdir()
        return subprocess.CompletedProcess(process.args, process.returncode, out, err)

    def _failure(self, done: subprocess.CompletedProcess[str]) -> str:
        said = "\n".join(part.rstrip() for part in (done.stdout, done.stderr) if part)
        return f"{self.hostname}: exit {done.returncode} of {' '.join(done.args)}\n{said}"

    def _journal(self) -> str:
        try:
            done = self._run(["sh", "-c", WHAT_FAILED], timeout=10)
        except subprocess.TimeoutExpired:
            return "(and its journal cannot be read)"
        return (done.stdout + done.stderr).decode(errors="replace") + self._words()

    def _words(self) -> str:
        """What was said on stderr by those that started it."""
        self._said.seek(0)
        return self._said.read()


def end(process: subprocess.Popen[bytes], cgroup: Path) -> None:
    """End what was run, with all that it started: nsenter, which is outside, sees it and ends as well.

    Ended itself, nsenter would leave a process that the host's process 1 has to reap, and a machine
    cannot end before that is done.
    """
    try:
        (cgroup / "cgroup.kill").write_text("1")
        process.wait(timeout=5)
    except (OSError, subprocess.TimeoutExpired):
        os.killpg(process.pid, signal.SIGKILL)
