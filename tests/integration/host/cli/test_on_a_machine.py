"""`mesh-host` on a machine of its own: what it finds there, and its journal in its place."""

from __future__ import annotations

import json
import sys

from tests.integration.host.cli.program import PROGRAM, declared, file
from tests.integration.lab.binds import CHECKOUT
from tests.integration.lab.fixtures import lab as lab
from tests.integration.lab.fixtures import machine as machine
from tests.integration.lab.machine import LabMachine

MOTD = file("/etc/motd", "hello\n", owner="daemon", group="users", mode="0640")


def run(
    machine: LabMachine, *words: str, stdin: bytes = b"", before: tuple[str, ...] = ()
) -> tuple[int, str, str]:
    """The exit code, and what was printed."""
    argv = [*before, sys.executable, "-c", PROGRAM, *words]
    ran = machine.run(argv, input=stdin, env={"PYTHONPATH": str(CHECKOUT)}, check=False)
    assert "Traceback" not in ran.stderr
    return ran.returncode, ran.stdout, ran.stderr


def test_the_probes_find_what_the_machine_has(machine: LabMachine) -> None:
    code, out, err = run(machine, "probe", "--json")
    assert (code, err) == (0, "")
    report = json.loads(out)
    assert report["systemd"]["present"] is True
    assert int(report["systemd"]["detail"]) > 200
    assert report["disk"]["present"] is True


def test_the_machine_itself_becomes_what_is_declared(machine: LabMachine) -> None:
    before = machine.read("/etc/motd") if machine.exists("/etc/motd") else None
    stdin = declared(43, MOTD)
    assert run(machine, "apply", "-", "--dry-run", stdin=stdin)[0] == 0
    assert not machine.exists("/var/lib/mesh-host")
    code, out, err = run(machine, "apply", "-", stdin=stdin)
    assert (code, err) == (0, "")
    assert out.endswith("1 made\n")
    shown = machine.run(["stat", "-c", "%a %U %G", "/etc/motd", "/var/lib/mesh-host"]).stdout
    assert shown.splitlines() == ["640 daemon users", "700 root root"]
    _, out, _ = run(machine, "apply", "-", stdin=stdin)
    assert out == "nothing to do: everything is as generation 43 says\n"
    code, out, err = run(
        machine, "apply", "-", stdin=stdin, before=("setpriv", "--reuid=65534", "--clear-groups")
    )
    assert (code, out) == (1, "")
    assert "root only" in err
    code, _, _ = run(machine, "apply", "-", stdin=declared(44, empty=True))
    assert code == 0
    assert (machine.read("/etc/motd") if machine.exists("/etc/motd") else None) == before
