"""A network namespace of ours, held by a process that ends when we do; and what is done in others' ones."""

import ctypes
import os
import subprocess
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from tests.integration.lab.machine import LabError

CLONE_NEWNET = 0x40000000
KEEP = "ip link set lo up && echo made && exec cat >/dev/null"
"""It ends with its stdin, of which we have the other end: the kernel closes that however we end."""

SETTING = 'if [ -e "/proc/sys/net/$1" ]; then echo "$2" >"/proc/sys/net/$1"; fi'

Made = TypeVar("Made")


class Namespace:
    """There from the beginning to `close`. What is in it, links to other namespaces too, goes with it."""

    def __init__(self) -> None:
        self._keeper = subprocess.Popen(
            ["unshare", "--net", "sh", "-c", KEEP],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            # Ctrl-C in a terminal is for the test, which then closes this.
            start_new_session=True,
        )
        assert self._keeper.stdout is not None
        # Before it says so it may still be in the host's network, and nothing is ever done there.
        if self._keeper.stdout.readline() != b"made\n":
            self.close()
            raise LabError("a network namespace could not be made")

    @property
    def pid(self) -> int:
        """The process that is in it."""
        return self._keeper.pid

    def close(self) -> None:
        """End the process. The kernel then takes the namespace away."""
        self._keeper.communicate(timeout=20)

    def run(self, argv: Sequence[str], *, input: str = "") -> str:
        """Run a program of the host in this network: what it says."""
        return run_in(self.pid, argv, input=input)

    def ip(self, *lines: str) -> None:
        """What one would write after `ip`, each line a command, until one fails."""
        ip_in(self.pid, *lines)

    def set(self, name: str, value: int) -> None:
        """A setting of this network, as `ipv4/ip_forward`; nothing where the kernel has none of that name."""
        self.run(["sh", "-c", SETTING, "sh", name, str(value)])


def path_of(pid: int) -> str:
    """The network of a process, as `ip` and `nsenter` take it."""
    return f"/proc/{pid}/ns/net"


def run_in(pid: int, argv: Sequence[str], *, input: str = "") -> str:
    """Run a program of the host in the network of that process."""
    done = subprocess.run(
        ["nsenter", f"--net={path_of(pid)}", "--", *argv],
        input=input,
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    if done.returncode:
        raise LabError(f"exit {done.returncode} of {' '.join(argv)}\n{input}\n{done.stdout}{done.stderr}")
    return done.stdout


def ip_in(pid: int, *lines: str) -> None:
    """What one would write after `ip`, in the network of that process."""
    run_in(pid, ["ip", "-batch", "-"], input="\n".join(lines))


def made_in(pid: int, make: Callable[[], Made]) -> Made:
    """What `make` gives in the network of that process. A socket stays there, whoever uses it.

    A thread of its own goes there, and ends there: no other thread of this process is anywhere else.
    """
    with ThreadPoolExecutor(1) as there:
        return there.submit(_go_and_make, pid, make).result()


def _go_and_make(pid: int, make: Callable[[], Made]) -> Made:
    namespace = os.open(path_of(pid), os.O_RDONLY | os.O_CLOEXEC)
    try:
        if ctypes.CDLL(None, use_errno=True).setns(namespace, CLONE_NEWNET):
            raise OSError(ctypes.get_errno(), f"no way into the network of process {pid}")
    finally:
        os.close(namespace)
    return make()
