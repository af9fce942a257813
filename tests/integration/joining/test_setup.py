"""`mesh broker setup`: a broker that knows nothing of the mesh is made ready, and may be made so again."""

from __future__ import annotations

import json
import stat
from urllib.parse import quote

import pytest

from tests.integration.cli.program import mesh, nothing_written, ok
from tests.integration.joining.conftest import Plane


def queues(plane: Plane) -> list[str]:
    host = quote(plane.virtual_host, safe="")
    return sorted(queue["name"] for queue in plane.accounts()._data(f"queues/{host}?columns=name"))


QUEUES = [f"mesh.{kind}.{node}" for kind in ("hellos", "node", "reports") for node in ("nas", "pi")]


def test_it_makes_what_is_missing_and_says_so(plane: Plane) -> None:
    with nothing_written(plane.folder / "mesh.db"):
        ran = ok("broker", "setup", "--admin", plane.admin)
    assert ran.out.splitlines() == [
        f"virtual host {plane.virtual_host}: made",
        "account mesh.control: made, with its rights",
        f"credential {plane.credential}: written",
        "queues of nas, pi",
        f"amqp://127.0.0.1:{plane.server.port} is ready; next: mesh node invite NODE",
    ]
    assert stat.S_IMODE(plane.credential.stat().st_mode) == 0o600
    assert set(json.loads(plane.credential.read_text())) == {"account", "password"}
    assert plane.permissions("mesh.control") == [plane.virtual_host, *[r"^mesh\."] * 3]
    assert queues(plane) == QUEUES


def test_it_can_be_run_again(ready: Plane) -> None:
    written = ready.credential.read_bytes()
    ok("node", "add", "vps")
    ran = ok("broker", "setup", "--admin", ready.admin, "--json")
    assert ran.json == {
        "format": 1,
        "broker": f"amqp://127.0.0.1:{ready.server.port}",
        "virtual_host": {"name": ready.virtual_host, "made": False},
        "account": {"name": "mesh.control", "made": False},
        "credential": {"file": str(ready.credential), "made": False},
        "nodes": ["nas", "pi", "vps"],
    }
    assert ready.credential.read_bytes() == written
    assert "mesh.node.vps" in queues(ready)


def test_it_puts_right_what_somebody_changed(ready: Plane) -> None:
    accounts = ready.accounts()
    accounts.revoke("mesh.control")
    accounts._do("DELETE", f"queues/{quote(ready.virtual_host, safe='')}/mesh.node.pi", None)
    ok("broker", "setup", "--admin", ready.admin)
    assert ready.permissions("mesh.control")[1] == r"^mesh\."
    assert queues(ready) == QUEUES


def test_a_store_without_nodes_will_do(plane: Plane) -> None:
    ok("init", "--store", "empty.db")
    ran = ok("broker", "setup", "--admin", plane.admin, "--store", "empty.db")
    assert "queues: none yet, there are no nodes" in ran.out


def test_the_account_may_have_another_name(plane: Plane) -> None:
    url = plane.url.replace("//", "//mine@")
    assert ok("broker", "setup", "--admin", plane.admin, "--broker", url, "--json").json["account"] == {
        "name": "mine",
        "made": True,
    }
    plane.accounts().revoke("mine")
    ran = mesh("broker", "setup", "--admin", plane.admin, "--broker", plane.url.replace("//", "//other@"))
    assert (ran.code, ran.out) == (1, "")
    assert "the account 'other'" in ran.err
    assert "other" not in plane.accounts().names()


def test_no_nodes_account_can_be_the_control_planes(plane: Plane) -> None:
    url = plane.url.replace("//", "//mesh.node.pi@")
    assert mesh("broker", "setup", "--admin", plane.admin, "--broker", url).code == 1
    assert not plane.credential.exists()


def test_a_broker_that_is_away_is_told_in_one_sentence(plane: Plane) -> None:
    plane.admin.write_text('{"management": "http://127.0.0.1:1", "account": "a", "password": "hunter2"}')
    ran = mesh("broker", "setup", "--admin", plane.admin, "--json")
    assert (ran.code, ran.error["code"]) == (5, "broker-no-answer")
    assert ran.err == "http://127.0.0.1:1 is out of reach: nobody answers there (Connection refused)\n"


def test_who_is_no_administrator_is_told(plane: Plane) -> None:
    login = {"account": "control", "password": "hunter2"}
    plane.admin.write_text(json.dumps({"management": plane.server.management, **login}))
    ran = mesh("broker", "setup", "--admin", plane.admin, "--json")
    assert (ran.code, ran.error["code"]) == (5, "broker-credentials")
    assert ran.err.endswith("refuses: the account or its password is not right (Login failed)\n")


def test_a_credential_that_cannot_be_written_changes_nothing(
    plane: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESH_BROKER_CREDENTIAL", f"{plane.admin}/broker.json")
    ran = mesh("broker", "setup", "--admin", plane.admin)
    assert ran.code == 1
    assert "cannot be written" in ran.err
    assert "mesh.control" not in plane.accounts().names()
