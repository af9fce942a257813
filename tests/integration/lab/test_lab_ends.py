"""Nothing of a machine is left, however it ends: processes, mounts, cgroups, folders."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.integration.lab.binds import CHECKOUT
from tests.integration.lab.machine import LabError, LabMachine
from tests.integration.lab.many import running, start_all
from tests.integration.lab.watch import (
    cgroups,
    eventually,
    networks,
    nothing_left,
    processes_of,
    start_service,
)

pytestmark = pytest.mark.usefixtures("lab")


def test_nothing_is_left_of_a_machine_that_was_closed(tmp_path: Path) -> None:
    with LabMachine("gone") as machine:
        start_service(machine, "stays")
        # One that leaves its group and its session, as a daemon does.
        machine.run(["sh", "-c", "setsid sleep 1000 >/dev/null 2>&1 &"])
        assert processes_of(machine.cgroup)
        assert machine.cgroup in cgroups(tmp_path)
        assert machine.folder.exists()
        with pytest.raises(LabError, match="gone is started already"):
            machine.start()
        assert machine.run(["true"]).returncode == 0
    assert nothing_left(machine, tmp_path)
    with pytest.raises(LabError, match="gone does not run"):
        machine.run(["true"])
    machine.close()  # a second time is nothing


def test_nothing_is_left_when_the_test_fails(tmp_path: Path) -> None:
    machine = LabMachine("failing")
    with pytest.raises(ZeroDivisionError), machine:
        _ = 1 / 0
    assert nothing_left(machine, tmp_path)


def test_nothing_is_left_when_the_tests_are_killed(tmp_path: Path) -> None:
    program = (
        "import time; from tests.integration.lab.machine import LabMachine; "
        "m = LabMachine('orphan'); m.start(); print(m.cgroup, m.folder, flush=True); time.sleep(100)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    ) as tests:
        assert tests.stdout is not None
        cgroup, folder = tests.stdout.readline().split()
        assert processes_of(cgroup)
        tests.send_signal(signal.SIGKILL)
    eventually(lambda: not processes_of(cgroup) and not Path(folder).exists())
    assert cgroup not in cgroups(tmp_path)


def test_no_namespace_is_left_of_a_network_when_the_tests_are_killed() -> None:
    program = (
        "import time; from tests.integration.lab.network import LabNetwork\n"
        "with LabNetwork() as n:\n"
        "    s = n.site(outside='203.0.113.9'); n.way(9); pids = n.internet.namespace.pid, s.namespace.pid\n"
        "    print(*pids, flush=True); time.sleep(100)"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    ) as tests:
        assert tests.stdout is not None
        held = {os.readlink(f"/proc/{pid}/ns/net") for pid in tests.stdout.readline().split()}
        assert len(held - networks()) == 0
        tests.send_signal(signal.SIGKILL)
    eventually(lambda: not held & networks())


def test_machines_run_together_and_nothing_is_left_of_any(tmp_path: Path) -> None:
    machines = [LabMachine("one"), LabMachine("two")]
    with running(*machines):
        assert [machine.run(["hostname"]).stdout for machine in machines] == ["one\n", "two\n"]
    assert all(nothing_left(machine, tmp_path) for machine in machines)
    with pytest.raises(ZeroDivisionError), running(*machines):
        _ = 1 / 0
    assert all(nothing_left(machine, tmp_path) for machine in machines)


def test_nothing_is_left_of_machines_of_which_one_does_not_boot(tmp_path: Path) -> None:
    machines = [LabMachine("whole"), LabMachine("broken", init="/bin/false"), LabMachine("other")]
    with pytest.raises(LabError, match="process 1 of broken ended"):
        start_all(machines)
    assert all(nothing_left(machine, tmp_path) for machine in machines)


@pytest.mark.parametrize(
    ("init", "binds", "why"),
    [
        ("/bin/false", [], "process 1 of broken ended"),
        ("/no/such/init", [], "process 1 of broken ended.*No such file or directory"),
        ("/bin/sleep 1000", [], "broken is not up in time, systemd says "),
        (
            "/bin/sleep 1000",
            [Path("/no/such/folder")],
            "did not come as far as its process 1.*does not exist",
        ),
    ],
)
def test_nothing_is_left_of_a_machine_that_does_not_boot(
    init: str, binds: list[Path], why: str, tmp_path: Path
) -> None:
    machine = LabMachine("broken", init=init, binds=binds)
    with pytest.raises(LabError, match=f"(?s){why}"):
        machine.start(timeout=5)
    assert nothing_left(machine, tmp_path)


def test_a_boot_that_hangs_says_what_it_waits_for(tmp_path: Path) -> None:
    unit = tmp_path / "stuck.service"
    unit.write_text("[Service]\nType=oneshot\nExecStart=/bin/sleep 1000\n")
    init = f"/bin/sh {tmp_path}/init"
    (tmp_path / "init").write_text(
        f"cp {unit} /etc/systemd/system && mkdir /etc/systemd/system/multi-user.target.wants\n"
        "ln -s ../stuck.service /etc/systemd/system/multi-user.target.wants\n"
        "exec /lib/systemd/systemd --system --unit=multi-user.target\n"
    )
    machine = LabMachine("hanging", init=init, binds=[tmp_path])
    with pytest.raises(
        LabError, match=r"(?s)not up in time, systemd says starting.*stuck\.service"
    ) as caught:
        machine.start(timeout=2)
    assert "Starting stuck.service" in str(caught.value)
    assert nothing_left(machine, tmp_path)
