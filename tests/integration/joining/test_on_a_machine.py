"""A machine with real systemd is invited, joins, is pushed to, is shut out, and leaves."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.integration.cli.program import mesh, ok
from tests.integration.joining.conftest import Plane
from tests.integration.joining.way import way_out
from tests.integration.lab.fixtures import lab as lab
from tests.integration.lab.fixtures import machine as machine
from tests.integration.lab.machine import LabMachine

PROGRAM = Path(sys.executable).with_name("mesh-host")
UNIT = "/etc/systemd/system/mesh-host.service"


def motd(version: str, content: str) -> dict[str, Any]:
    resources = [{"kind": "file", "path": "/etc/motd", "content": content}]
    return {"name": "motd", "version": version, "resources": resources}


MESH = {
    "format": 1,
    "modules": [motd("1", "of the mesh\n")],
    "nodes": [{"name": "pi", "assign": ["motd"]}],
}


def within(seconds: float, asked: Callable[[], bool], what: str) -> None:
    until = time.monotonic() + seconds
    while not asked():
        assert time.monotonic() < until, what
        time.sleep(0.3)


def state(machine: LabMachine) -> str:
    shown = machine.run(["systemctl", "show", "--property=ActiveState", "--value", "mesh-host"])
    return shown.stdout.strip()


def on(machine: LabMachine, *words: str, check: bool = True) -> dict[str, Any]:
    ran = machine.run([PROGRAM, *words, "--json"], check=check, timeout=120)
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


@pytest.mark.long
@pytest.mark.skipif(not PROGRAM.exists(), reason="mesh-host is not installed beside this Python")
def test_a_node_is_invited_joins_is_pushed_to_is_shut_out_and_leaves(
    ready: Plane, machine: LabMachine
) -> None:
    machine.write("/etc/motd", b"before\n")
    ok("import", "-", stdin=json.dumps(MESH))
    with way_out(machine.pid, ready.server.port) as port:
        _join(ready, machine, port)
        assert machine.run(["systemctl", "is-enabled", "mesh-host"]).stdout.strip() == "enabled"
        assert machine.run(["stat", "-c", "%a", "/etc/mesh-host/credential.json"]).stdout.strip() == "600"
        assert not machine.exists("/root/pi.json"), "an invitation serves once"
        assert mesh("push", "--wait", "--timeout", "60").code == 0
        assert machine.read("/etc/motd") == b"of the mesh\n"
        _shut_out(ready, machine)
        # A new invitation lets it in again: what runs takes the new credential.
        _join(ready, machine, port)
        ok("node", "revoke", "pi", "--admin", ready.admin)
    left = on(machine, "leave", "--yes")
    assert left["left"]
    assert machine.read("/etc/motd") == b"before\n"
    assert state(machine) == "inactive"
    assert not machine.exists(UNIT)
    assert not machine.exists("/etc/mesh-host/credential.json")


def _join(plane: Plane, machine: LabMachine, port: int) -> None:
    reach = f"amqp://127.0.0.1:{port}"
    ran = mesh("node", "invite", "pi", "--admin", plane.admin, "--out", "-", "--reach", reach)
    assert ran.code == 0
    machine.write("/root/pi.json", ran.out.encode(), mode=0o600)
    joined = on(machine, "join", "/root/pi.json")
    assert joined["started"]
    assert state(machine) == "active"


def _shut_out(plane: Plane, machine: LabMachine) -> None:
    ok("node", "revoke", "pi", "--admin", plane.admin)
    assert not plane.accounts()._is_connected("mesh.node.pi")
    ok("module", "add", "-", stdin=json.dumps(motd("2", "newer\n")))
    mesh("push")
    time.sleep(2)
    assert machine.read("/etc/motd") == b"of the mesh\n", "the machine keeps what it has"
    within(10, lambda: state(machine) == "active", "without the broker it goes on")
