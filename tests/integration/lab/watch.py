"""Looks from outside at what there is of machines: processes, cgroups, folders."""

import os
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

from tests.integration.lab.machine import LabMachine

CGROUPS = 'mount -t cgroup2 lab "$1" && find "$1" -name "meshwright-lab-*"'
UNIT = "[Service]\nExecStart=/bin/sleep 1000\n[Install]\nWantedBy=multi-user.target\n"


def cgroups(folder: Path) -> list[str]:
    """The lab's cgroups, seen through a mount that ends with the command."""
    argv = ["unshare", "--mount", "sh", "-c", CGROUPS, "sh", str(folder)]
    done = subprocess.run(argv, capture_output=True, text=True, timeout=30, check=True)
    return [Path(line).name for line in done.stdout.splitlines()]


def processes_of(cgroup: str) -> list[str]:
    return [name for name in os.listdir("/proc") if name.isdecimal() and cgroup in told(name)]


def told(process: str) -> str:
    """What /proc says of a process's cgroups and arguments; nothing of one that has ended.

    One that has ended may still have a number, until the host's process 1 has asked how.
    """
    here = Path("/proc", process)
    try:
        if "State:\tZ" in (here / "status").read_text():
            return ""
        return (here / "cgroup").read_text() + (here / "cmdline").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return ""


def nothing_left(machine: LabMachine, tmp_path: Path) -> bool:
    return (
        not processes_of(machine.cgroup)
        and machine.cgroup not in cgroups(tmp_path)
        and not machine.folder.exists()
        and str(machine.folder) not in Path("/proc/self/mountinfo").read_text()
    )


def start_service(machine: LabMachine, name: str) -> None:
    machine.write(f"/etc/systemd/system/{name}.service", UNIT.encode())
    machine.run(["systemctl", "daemon-reload"])
    machine.run(["systemctl", "start", name])


def eventually(holds: Callable[[], bool]) -> None:
    until = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < until
        time.sleep(0.05)


def networks() -> set[str]:
    """The network namespaces that some process is in: the others are gone."""
    found = set()
    for process in Path("/proc").iterdir():
        if process.name.isdecimal():
            try:
                found.add(os.readlink(process / "ns/net"))
            except OSError:  # it has ended, or is a zombie
                continue
    return found
