"""A tiny package as a value, and what a root of one package manager is to a test."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Protocol

import pytest
from attrs import frozen

BUSYBOX = Path("/bin/busybox")


@frozen(kw_only=True)
class Tiny:
    """A package for every architecture; `depends` are names, or `name >= version`."""

    name: str
    version: str = "1.0"
    depends: Sequence[str] = ()
    conflicts: Sequence[str] = ()
    replaces: Sequence[str] = ()
    """Packages in whose place it comes."""
    files: Mapping[str, str] = {}
    conffiles: Sequence[str] = ()
    """Those of `files` that belong to the person who edits them."""
    before_install: str = ""
    """A script in sh that runs before it is unpacked."""
    after_install: str = ""
    """A script in sh that runs when it is installed."""
    protected: bool = False
    """It must not be removed, says the package; for dnf and pacman the configuration says so of `kept`."""


class PackageRoot(Protocol):
    """A root directory with one package manager's database, and a local repository of tiny packages."""

    manager: str
    root: Path

    def offer(self, *packages: Tiny) -> None:
        """Put packages, or newer versions of them, into the repository; the lists know of them."""
        ...

    def publish(self, *packages: Tiny) -> None:
        """Put packages into the repository, and leave the lists in the root as they are."""
        ...

    def close(self) -> None:
        """End whatever serves the repository."""
        ...

    def by_hand(self, *names: str) -> None:
        """Install packages as a person does, by name."""
        ...

    def ask_for(self, name: str) -> None:
        """Say, as a person does, that a package that is there is wanted for its own sake."""
        ...

    def off_by_hand(self, *names: str) -> None:
        """Remove packages as a person does."""
        ...

    def hold(self, name: str) -> None:
        """Say, as a person does, that a package is to stay as it is."""
        ...

    def withdraw(self) -> None:
        """Take the packages out of the repository; the lists still know of them."""
        ...

    def lock(self) -> AbstractContextManager[None]:
        """Hold the manager's lock, as another process does."""
        ...

    def spoil(self) -> None:
        """Damage the database, so that it cannot be read."""
        ...

    def installed(self) -> dict[str, str]:
        """Name and version of everything that is installed, asked of the database itself."""
        ...


def need(*programs: str) -> None:
    """Skip where a program is missing; in CI nothing is skipped, so fail there."""
    missing = [program for program in (*programs, str(BUSYBOX)) if shutil.which(program) is None]
    missing += [] if os.geteuid() == 0 else ["the rights of root"]
    if not missing:
        return
    why = f"not here: {', '.join(missing)}"
    if os.environ.get("CI") == "true":
        pytest.fail(f"{why}; CI skips nothing", pytrace=False)
    pytest.skip(why)


def run(*argv: str | Path, check: bool = True) -> str:
    """What a test runs by itself, beside the host."""
    environment = {
        "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
        "LC_ALL": "C.UTF-8",
    }
    done = subprocess.run(
        [str(part) for part in argv], capture_output=True, text=True, timeout=60, check=False, env=environment
    )
    assert done.returncode == 0 or not check, f"{argv}: {done.stdout}{done.stderr}"
    return done.stdout


def bare_root(root: Path) -> None:
    """A root with a shell for the scripts of packages, and nothing else."""
    for folder in ("bin", "etc", "tmp", "var/tmp", "var/cache", "var/lib", "var/log", "usr/share", "dev"):
        (root / folder).mkdir(parents=True, exist_ok=True)
    shutil.copy2(BUSYBOX, root / "bin/busybox")
    for applet in ("sh", "cat", "rm", "true", "false", "echo"):
        (root / "bin" / applet).symlink_to("busybox")


def put(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content)


@contextmanager
def record_lock(path: Path) -> Iterator[None]:
    """Hold a lock of fcntl(2) in a process of its own."""
    program = (
        "import fcntl, sys; f = open(sys.argv[1], 'w'); fcntl.lockf(f, fcntl.LOCK_EX); print(1, flush=True)"
    )
    argv = [sys.executable, "-c", f"{program}; sys.stdin.read()", str(path)]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        yield
        holder.communicate(timeout=10)
