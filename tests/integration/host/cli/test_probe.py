"""`mesh-host probe`: what this machine has, as `mesh node report` reads it."""

from __future__ import annotations

import json
import platform
from pathlib import Path

import pytest

from mesh_cli.main import run as run_mesh
from mesh_core.wire.document import read_report
from tests.integration.cli.program import mesh
from tests.integration.host.cli.program import host, process, well


def test_the_control_plane_reads_what_it_prints(tmp_path: Path) -> None:
    report = tmp_path / "r.json"
    ran = process("probe", "--json")
    assert (ran.code, ran.err) == (0, "")
    report.write_text(ran.out)
    store = tmp_path / "mesh.db"
    assert run_mesh(["init", "--store", str(store)]) == 0
    assert mesh("node", "add", "pi", "--store", store).code == 0
    assert mesh("node", "report", "pi", report, "--store", store).code == 0
    shown = mesh("node", "show", "pi", "--store", store).out
    assert f"arch:{platform.machine()} present" in shown


def test_every_part_of_the_machine_gets_a_verdict() -> None:
    names = {capability.name for capability in read_report(well("probe", "--json").out.encode())}
    assert {"systemd", "containers", "podman", "kvm", "gpu", "display", "disk", "memory"} <= names
    assert {"packages:apt", "packages:dnf", "packages:pacman", f"arch:{platform.machine()}"} <= names
    assert any(name.partition(":")[0] == "distribution" for name in names)


def test_for_people_it_is_a_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        "mesh_cli.host.commands.probing.probed",
        lambda: {"gpu": {"present": False, "detail": "no /dev/dri"}, "systemd": True},
    )
    assert well("probe").out.splitlines() == [
        "CAPABILITY  VERDICT  DETAIL",
        "gpu         absent   no /dev/dri",
        "systemd     present",
    ]
    assert json.loads(host("probe", "--json").out)["systemd"] is True
