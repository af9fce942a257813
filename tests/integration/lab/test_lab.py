"""The lab holds what it promises: each machine has its own of everything, and nothing of it is outside."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.integration.lab.aptrepo import AptRepository, Package
from tests.integration.lab.binds import CHECKOUT
from tests.integration.lab.machine import LabError, LabMachine
from tests.integration.lab.watch import UNIT, eventually, processes_of, start_service, told

pytestmark = pytest.mark.usefixtures("lab")


@pytest.fixture
def sentinel() -> Iterator[Path]:
    """A file in the real /tmp, old enough for any rule that clears one."""
    path = Path("/tmp") / f"meshwright-sentinel-{os.getpid()}"
    path.write_text("still here")
    os.utime(path, (0, 0))
    yield path
    path.unlink()


def test_systemd_says_running(machine: LabMachine) -> None:
    assert machine.run(["systemctl", "is-system-running"]).stdout == "running\n"
    assert machine.run(["cat", "/proc/1/comm"]).stdout == "systemd\n"


def test_it_has_a_name_and_an_id_of_its_own(machine: LabMachine) -> None:
    assert machine.run(["hostname"]).stdout == f"{machine.hostname}\n"
    outside = Path("/etc/machine-id")
    assert not outside.exists() or machine.read("/etc/machine-id") != outside.read_bytes()
    assert os.uname().nodename != machine.hostname


def test_it_has_a_loopback_and_no_other_network(machine: LabMachine) -> None:
    devices = machine.read("/proc/net/dev").decode().splitlines()[2:]
    assert [line.split(":")[0].strip() for line in devices] == ["lo"]
    script = (
        "from socket import *; s = create_server(('127.0.0.1', 80)); create_connection(('localhost', 80))"
    )
    machine.run([sys.executable, "-c", script])


def test_a_service_inside_is_not_one_outside(machine: LabMachine) -> None:
    start_service(machine, "labservice")
    assert machine.run(["systemctl", "is-active", "labservice"]).stdout == "active\n"
    assert not Path("/etc/systemd/system/labservice.service").exists()
    # It runs in the machine's cgroup, and in its numbering of processes.
    inside = machine.run(["systemctl", "show", "--property", "MainPID", "--value", "labservice"]).stdout
    assert machine.read(f"/proc/{inside.strip()}/cmdline") == b"/bin/sleep\x001000\x00"
    outside = [name for name in processes_of(machine.cgroup) if "labservice.service" in told(name)]
    assert len(outside) == 1


def test_a_file_inside_is_not_one_outside(machine: LabMachine) -> None:
    # By way of a link that is absolute: in Debian /var/run leads to /run.
    machine.write("/var/run/lab/file", b"\x00\xff", mode=0o640, uid=1, gid=2)
    assert machine.read("/run/lab/file") == b"\x00\xff"
    assert machine.run(["stat", "-c", "%a %u %g", "/run/lab/file"]).stdout == "640 1 2\n"
    assert (machine.root / "run/lab/file").read_bytes() == b"\x00\xff"
    assert not Path("/run/lab").exists()
    assert machine.exists("/run/lab/file")
    assert not machine.exists("/run/lab/other")
    with pytest.raises(FileNotFoundError, match="/run/lab/other"):
        machine.read("/run/lab/other")


def test_the_real_tmp_is_not_touched(sentinel: Path, new_machine: Callable[[str], LabMachine]) -> None:
    machine = new_machine("clean")
    assert not machine.exists(sentinel)
    machine.run(["systemd-tmpfiles", "--remove", "--create", "--clean", "--boot"])
    # What is bound there (a checkout in /tmp) is refused.
    machine.run(["sh", "-c", "rm -rf /tmp/*; touch /tmp/inside"])
    assert sentinel.read_text() == "still here"
    assert not Path("/tmp/inside").exists()


def test_the_kernel_is_not_the_machines_to_set(machine: LabMachine) -> None:
    # The value that it has: were it allowed, it would do nothing.
    same = 'cat "$1" >/tmp/value && cat /tmp/value >"$1"'
    done = machine.run(["sh", "-c", same, "sh", "/proc/sys/kernel/panic"], check=False)
    assert "Read-only file system" in done.stderr
    machine.run(["sh", "-c", same, "sh", "/proc/sys/net/ipv4/ip_forward"])  # its own network's


def test_the_projects_programs_run_inside(machine: LabMachine) -> None:
    mesh = Path(sys.prefix) / "bin/mesh"
    assert "Usage: mesh" in machine.run([mesh, "--help"]).stdout
    assert machine.run([sys.executable, "-c", "import mesh_core; print(mesh_core.__file__)"]).stdout == (
        f"{CHECKOUT}/mesh_core/__init__.py\n"
    )


def test_a_folder_of_the_host_is_seen_and_not_written(tmp_path: Path) -> None:
    (tmp_path / "seen").write_text("from outside")
    with LabMachine("bound", binds=[tmp_path]) as machine:
        assert machine.read(tmp_path / "seen") == b"from outside"
        done = machine.run(["touch", tmp_path / "unseen"], check=False)
        assert "Read-only file system" in done.stderr
        # Boot rules and their like cannot empty it either.
        machine.run(["sh", "-c", 'rm -rf "$1"', "sh", tmp_path], check=False)
    assert [path.name for path in tmp_path.iterdir()] == ["seen"]


def test_a_run_can_fail_be_told_something_and_be_late(machine: LabMachine) -> None:
    assert machine.run(["cat"], input="told").stdout == "told"
    assert machine.run(["sh", "-c", "echo $WORD"], env={"WORD": "said"}).stdout == "said\n"
    with pytest.raises(LabError, match="lab: exit 3 of sh -c echo why >&2; exit 3\nwhy"):
        machine.run(["sh", "-c", "echo why >&2; exit 3"])
    with pytest.raises(subprocess.TimeoutExpired):
        machine.run(["sleep", "7654321"], timeout=0.2)
    eventually(lambda: not any("7654321" in told(process) for process in processes_of(machine.cgroup)))


def test_a_package_is_installed_and_removed_inside_only(machine: LabMachine, tmp_path: Path) -> None:
    library = Package(name="lab-library", files={"/usr/share/lab/library": "1"})
    tool = Package(
        name="lab-tool",
        depends="lab-library",
        files={"/usr/bin/lab-tool": "#!/bin/sh\ncat /etc/lab-tool.conf\n", "/etc/lab-tool.conf": "plain\n"},
        conffiles=("/etc/lab-tool.conf",),
        scripts={"postinst": "touch /var/lib/lab-tool-was-here\n"},
        unit=UNIT,
    )
    AptRepository(tmp_path / "repository", library, tool).install_into(machine)

    machine.run(["apt-get", "install", "--yes", "lab-tool"])
    assert machine.run(["lab-tool"]).stdout == "plain\n"
    assert machine.exists("/usr/share/lab/library")
    assert machine.exists("/var/lib/lab-tool-was-here")
    assert machine.run(["systemctl", "is-active", "lab-tool"]).stdout == "active\n"
    assert machine.run(["systemctl", "is-enabled", "lab-tool"]).stdout == "enabled\n"
    outside = subprocess.run(
        ["dpkg-query", "--show", "lab-tool"], capture_output=True, text=True, check=False
    )
    assert "no packages found" in outside.stderr
    assert not Path("/usr/bin/lab-tool").exists()

    machine.run(["apt-get", "remove", "--yes", "lab-tool"])
    assert not machine.exists("/usr/bin/lab-tool")
    assert machine.exists("/etc/lab-tool.conf")
    assert machine.run(["systemctl", "is-active", "lab-tool"], check=False).stdout == "inactive\n"


def test_apt_knows_the_local_repository_only_and_sees_it_grow(machine: LabMachine, tmp_path: Path) -> None:
    repository = AptRepository(tmp_path / "repository", Package(name="lab-grows"))
    repository.install_into(machine)
    assert machine.run(["apt-cache", "policy"]).stdout.count("file:/srv/repo") == 1
    assert "http" not in machine.run(["apt-cache", "policy"]).stdout
    repository.add(
        Package(name="lab-grows", version="1:0.5"), Package(name="lab-foe", conflicts="lab-grows (>= 1:0.5)")
    )
    repository.install_into(machine)
    assert "Candidate: 1:0.5" in machine.run(["apt-cache", "policy", "lab-grows"]).stdout
    both = machine.run(["apt-get", "install", "--simulate", "lab-grows", "lab-foe"], check=False)
    assert "Conflicts: lab-grows (>= 1:0.5)" in both.stdout


def test_two_machines_do_not_see_each_other(
    machine: LabMachine, new_machine: Callable[[str], LabMachine]
) -> None:
    other = new_machine("other")
    assert machine.pid != other.pid
    assert machine.read("/etc/machine-id") != other.read("/etc/machine-id")
    start_service(machine, "here")
    machine.write("/srv/here", b"")
    assert other.run(["systemctl", "is-active", "here"], check=False).stdout == "inactive\n"
    assert not other.exists("/srv/here")
    assert not other.exists("/etc/systemd/system/here.service")
    look = ["sh", "-c", "cat /proc/[0-9]*/cmdline"]
    assert "/bin/sleep\x001000" in machine.run(look).stdout
    assert "/bin/sleep\x001000" not in other.run(look).stdout
    listen = "import socket; s = socket.create_server(('127.0.0.1', 4444)); print('up', flush=True); input()"
    with pytest.raises(subprocess.TimeoutExpired):
        machine.run(["sh", "-c", f'sleep 5 | {sys.executable} -c "{listen}"'], timeout=0.5)
    refused = other.run(["bash", "-c", "</dev/tcp/127.0.0.1/4444"], check=False)
    assert "Connection refused" in refused.stderr
