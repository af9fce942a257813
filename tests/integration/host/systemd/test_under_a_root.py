"""Units under a root that is not `/`, with the real systemctl (design, part 8). No lab is needed."""

import json
import os
import shutil
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from mesh_adapters.host.applying import Decided, Host, apply, decide
from mesh_adapters.host.files import Files
from mesh_adapters.host.journal import Journal
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.registry import known_kinds
from mesh_adapters.host.status import status_of
from tests.integration.host.systemd.node import declared, done, service, unit, why

IMAGE = f"localhost/lab/web@sha256:{'1' * 64}"
WANTS = "etc/systemd/system/multi-user.target.wants"


@pytest.fixture(autouse=True)
def systemctl() -> None:
    """Skipped where there is no systemctl; CI has one."""
    if shutil.which("systemctl") is None:
        why = "units under a root need systemctl (sh scripts/system_packages.sh)"
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)(why)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A directory that looks as if systemd were installed in it."""
    (tmp_path / "usr/lib/systemd/system").mkdir(parents=True)
    return tmp_path


def applied(root: Path, generation: int, *resources: Mapping[str, Any]) -> Mapping[str, Any]:
    journal = Journal.open(root / "var/lib/mesh-host")
    machine = Machine(root=root, files=Files(root), privileged=os.geteuid() == 0, kept=journal.kept)
    host = Host(machine=machine, journal=journal, kinds=known_kinds())
    checks: Sequence[Mapping[str, Any]] = [{"kind": "command", "run": "false"}] if resources else []
    decided = decide(json.dumps(declared(generation, resources, checks)).encode(), host)
    assert isinstance(decided, Decided), decided
    said = apply(decided, host)
    owned = [entry.owned.identity for entry in journal.entries()]
    journal.close()
    return status_of(said) | {"changed": said.changed, "owned": owned}


def test_a_service_is_enabled_and_disabled_and_nothing_runs(root: Path) -> None:
    resources = [unit("web"), service("web"), unit("many@"), service("many@first")]
    said = applied(root, 1, *resources)
    assert said["state"] == "applied", said
    assert said["checks"] == []
    assert (root / WANTS / "web.service").is_symlink()
    assert (root / WANTS / "many@first.service").is_symlink()
    assert applied(root, 2, *resources)["changed"] is False
    said = applied(root, 3)
    assert done(said)["service:web"] == ("restore", "done")
    assert not (root / WANTS / "web.service").is_symlink()
    assert not (root / WANTS / "many@first.service").is_symlink()
    assert said["owned"] == []


def test_one_that_was_enabled_before_stays_so(root: Path) -> None:
    (root / "etc/systemd/system/multi-user.target.wants").mkdir(parents=True)
    (root / "etc/systemd/system/web.service").write_text(unit("web")["content"])
    (root / WANTS / "web.service").symlink_to("/etc/systemd/system/web.service")
    assert done(applied(root, 1, service("web"))) == {"service:web": ("adopt", "done")}
    assert done(applied(root, 2)) == {"service:web": ("release", "done")}
    assert (root / WANTS / "web.service").is_symlink()


def test_one_that_is_not_there_is_told(root: Path) -> None:
    said = applied(root, 1, service("nowhere"))
    assert why(said, "service:nowhere") == "Unit nowhere.service not found."
    assert applied(root, 2)["owned"] == []


def test_a_container_is_written_and_enabled_and_removed_with_its_directories(root: Path) -> None:
    web = {"kind": "container", "name": "web", "image": IMAGE}
    said = applied(root, 1, web)
    assert said["state"] == "applied", said
    assert IMAGE in (root / "etc/systemd/system/mesh-web.service").read_text()
    assert (root / WANTS / "mesh-web.service").is_symlink()
    assert applied(root, 2, web)["changed"] is False
    said = applied(root, 3)
    assert done(said)["container:web"] == ("restore", "done")
    assert not (root / "etc/systemd/system/mesh-web.service").exists()
    assert not (root / WANTS / "mesh-web.service").is_symlink()
    assert not (root / "etc").exists()


def test_where_systemd_is_not_and_for_commands_all_is_left_out(tmp_path: Path) -> None:
    command = {"kind": "command", "name": "x", "check": "false", "apply": "false"}
    said = applied(tmp_path, 1, unit("web"), service("web"), command)
    assert done(said) == {"path:/etc/systemd/system/web.service": ("make", "done")}
    assert {trouble["identity"]: trouble["why"] for trouble in said["troubles"]} == {
        "service:web": f"there is no systemd under {tmp_path}",
        "command:x": f"a command runs on the machine itself, and not under {tmp_path}",
    }
    assert said["owned"] == [] or "service:web" not in said["owned"]
