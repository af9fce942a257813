"""A builder on a machine with real systemd: its unit lets bubblewrap shut builds in, and ends with it."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.integration.builder.shop import Shop, until
from tests.integration.cli.program import mesh, ok
from tests.integration.joining.way import way_out
from tests.integration.lab.fixtures import lab as lab
from tests.integration.lab.fixtures import machine as machine
from tests.integration.lab.machine import LabMachine

PROGRAM = Path(sys.executable).with_name("mesh-builder")
UNIT = "/etc/systemd/system/mesh-builder.service"
MAKE_REPOSITORY = """
set -e
mkdir -p /srv/code/web; cd /srv/code; git init --quiet --initial-branch=main
cat >web/module.toml <<'END'
name = "lab-web"
version = "1"
build = {kind = "shell", commands = ["mkdir dist", "id -u >dist/who", "ls / >dist/there"]}
resources = [{kind = "tree", path = "/opt/web"}]
END
git add .; git -c user.name=a -c user.email=a@b commit --quiet -m one
git rev-parse HEAD
"""


@pytest.mark.skipif(not PROGRAM.exists(), reason="mesh-builder is not installed beside this Python")
def test_a_builder_joins_builds_shut_in_inside_of_its_unit_and_leaves(
    shop: Shop, machine: LabMachine
) -> None:
    commit = machine.run(["sh", "-c", MAKE_REPOSITORY]).stdout.strip()
    with way_out(machine.pid, shop.server.port) as port:
        reach = f"amqp://127.0.0.1:{port}"
        ran = mesh("builder", "invite", "lab", "--admin", shop.plane.admin, "--out", "-", "--reach", reach)
        machine.write("/root/lab.json", ran.out.encode(), mode=0o600)
        refused = machine.run([PROGRAM, "join", "/root/lab.json"], check=False)
        assert (refused.returncode, "no registry is named" in refused.stderr) == (5, True)
        assert not machine.exists("/etc/mesh-builder/credential.json")
        machine.run(["mkdir", "-p", "/etc/mesh-builder"])
        machine.write("/etc/mesh-builder/builder.toml", b'registry = "oci:/srv/registry"\n')
        joined = json.loads(machine.run([PROGRAM, "join", "/root/lab.json", "--json"], timeout=60).stdout)
        assert (joined["builder"], joined["started"]) == ("lab", True)
        found = _built(shop, commit)
        assert (found["state"], found["taken_by"]) == ("built", "lab"), found
        assert found["built"]["shut"] == "bubblewrap"
        ok("builder", "revoke", "lab", "--admin", shop.plane.admin)
    assert machine.run(["stat", "-c", "%a", "/var/lib/mesh-builder"]).stdout.strip() == "700"
    assert json.loads(machine.run([PROGRAM, "leave", "--json"], timeout=60).stdout)["left"]
    assert not machine.exists(UNIT)
    assert not machine.exists("/etc/mesh-builder/credential.json")


def _built(shop: Shop, commit: str) -> dict[str, Any]:
    """The machine's own repository is not to be seen from here: what is asked for is written down."""
    from mesh_adapters.store import SqliteStore
    from mesh_core.model.build import Request

    request = Request(
        id=commit[:12],
        module="lab-web",
        repository="file:///srv/code",
        commit=commit,
        ref="HEAD",
        paths=("web",),
    )
    store = SqliteStore.open(str(shop.folder / "mesh.db"))
    with store.writing() as session:
        session.ask(request, "2026-12-02T08:00:00Z", "test")
    store.close()
    mesh("collect")
    until(lambda: shop.build(request.id)["state"] in ("built", "failed"), "it is built")
    return shop.build(request.id)
