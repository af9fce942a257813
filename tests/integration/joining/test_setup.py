"""`mesh broker setup`: a broker that knows nothing of the mesh is made ready, and may be made so again."""

from __future__ import annotations

import json
import stat
from contextlib import closing
from urllib.parse import quote

import pytest

from mesh_adapters.broker import open_host
from mesh_adapters.broker.credential import Role, read_credential, to_address
from mesh_adapters.broker.management import ManagedAccounts
from mesh_adapters.broker.topology import CONTROL_PLANE, permissions_of
from mesh_core.ports import Confirmed, Holding, How
from tests.integration.cli.program import mesh, nothing_written, ok
from tests.integration.joining.conftest import NOT_SEEN, Plane

SHARED = ["mesh.given-up", "mesh.requests"]
QUEUES = sorted(
    [f"mesh.{kind}.{node}" for kind in ("hellos", "node", "reports") for node in ("nas", "pi")] + SHARED
)


def test_it_makes_what_is_missing_and_says_so(plane: Plane) -> None:
    with nothing_written(plane.folder / "mesh.db"):
        ran = plane.setup()
    assert ran.out.splitlines() == [
        f"virtual host {plane.virtual_host}: made",
        "account mesh.control: made, with its rights and limits",
        f"credential {plane.credential}: written",
        "queues of nas, pi",
        "queue of requests for builds",
        f"amqp://127.0.0.1:{plane.server.port} is ready; next: mesh node invite NODE",
    ]
    assert stat.S_IMODE(plane.credential.stat().st_mode) == 0o600
    assert set(json.loads(plane.credential.read_text())) == {"account", "password"}
    assert plane.permissions("mesh.control") == [plane.virtual_host, *[r"^mesh\."] * 3]
    assert plane.queues() == QUEUES


def test_it_can_be_run_again(ready: Plane) -> None:
    written = ready.credential.read_bytes()
    ok("node", "add", "vps")
    ran = ready.setup("--json")
    assert ran.json == {
        "format": 1,
        "broker": f"amqp://127.0.0.1:{ready.server.port}",
        "virtual_host": {"name": ready.virtual_host, "made": False},
        "account": {"name": "mesh.control", "made": False},
        "credential": {"file": str(ready.credential), "made": False},
        "nodes": ["nas", "pi", "vps"],
        "builders": [],
        "limit": {"policy": "mesh.said", "bytes": 1048576, "state": "there"},
        "accounts": [{"name": "mesh.control", "mended": []}],
        "accounts_without_node": [],
        "accounts_without_builder": [],
        "consumer_timeout": {"seen": False, "seconds": None, "needed": 1800, "enough": None},
    }
    assert ready.credential.read_bytes() == written
    assert "mesh.node.vps" in ready.queues()


def test_it_puts_right_what_somebody_changed(ready: Plane) -> None:
    accounts = ready.accounts()
    accounts.revoke("mesh.control")
    accounts._do("DELETE", f"queues/{quote(ready.virtual_host, safe='')}/mesh.node.pi", None)
    ready.setup()
    assert ready.permissions("mesh.control")[1] == r"^mesh\."
    assert ready.queues() == QUEUES


def test_it_puts_back_what_accounts_may_do_and_ends_nothing(ready: Plane) -> None:
    """Its password is still good, and its machine stays connected."""
    mesh("node", "invite", "pi", "--admin", ready.admin)
    address = to_address(read_credential("pi.invitation.json", Role.NODE), ready.folder)
    with closing(open_host(address, "pi")) as host:
        assert host.take(0) is None
        ready.server.ctl("set_permissions", "-p", ready.virtual_host, "mesh.node.pi", ".*", ".*", ".*")
        ready.server.ctl("clear_user_limits", "mesh.node.pi", "all")
        ready.server.ctl("set_user_limits", "mesh.control", '{"max-connections": 1}')
        ran = ready.setup("--json")
        assert ran.json["accounts"] == [
            {"name": "mesh.control", "mended": ["limits"]},
            {"name": "mesh.node.pi", "mended": ["rights", "limits"]},
        ]
        assert isinstance(host.hello(b"{}"), Confirmed)
        assert host._link.life == 1, "it was connected all the while"  # type: ignore[attr-defined]
    rights = permissions_of("pi")
    assert ready.permissions("mesh.node.pi")[1:] == [rights.configure, rights.write, rights.read]
    for account, limits in (("mesh.node.pi", rights), ("mesh.control", CONTROL_PLANE)):
        found = ready.accounts()._data(f"user-limits/{account}")
        assert found[0]["value"] == {
            "max-connections": limits.connections,
            "max-channels": limits.channels,
        }
    ready.server.ctl("set_user_tags", "mesh.node.pi", "management")
    assert "account mesh.node.pi: put back no say over the broker" in ready.setup().out.splitlines()
    assert not [line for line in ready.setup().out.splitlines() if "put back" in line]


def test_accounts_of_nodes_that_are_not_there_are_told_and_left_alone(ready: Plane) -> None:
    mesh("node", "invite", "pi", "--admin", ready.admin)
    ready.server.ctl("set_user_tags", "mesh.node.pi", "management")
    ok("node", "remove", "pi")
    ran = mesh("broker", "setup", "--admin", ready.admin, "--json")
    assert ran.json["accounts_without_node"] == ["pi"]
    assert ran.err == (
        "there is an account of pi, and no such node; `mesh node revoke pi` ends it\n" + NOT_SEEN
    )
    assert ready.accounts()._data("users/mesh.node.pi")["tags"] == ["management"]


def test_what_the_broker_allows_is_told_where_it_is_too_little(
    ready: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only the broker's machine shows it, so what it shows stands here for it."""
    for seconds, told in ((600.0, True), (1800.0, False), (None, False)):
        monkeypatch.setattr(ManagedAccounts, "holding", lambda _, said=seconds: Holding(seconds=said))
        ran = mesh("broker", "setup", "--admin", ready.admin, "--json")
        assert ran.json["consumer_timeout"] == {
            "seen": True,
            "seconds": seconds,
            "needed": 1800,
            "enough": not told,
        }
        line = (
            "consumer_timeout: 600 s in the broker's configuration; a build may hold its request for 30 "
            "minutes\n"
        )
        assert ran.err == (line if told else "")


def test_a_broker_that_takes_no_limit_is_told(ready: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ManagedAccounts, "limit", lambda *_: How.FORBIDDEN)
    ran = mesh("broker", "setup", "--admin", ready.admin, "--json")
    assert (ran.code, ran.json["limit"]["state"]) == (0, "forbidden")
    assert "lets nobody limit what waits in queues" in ran.err


def test_a_store_without_nodes_will_do(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    """A node that is added elsewhere later is pushed to at once: the push makes its queues."""
    ok("init", "--store", "empty.db")
    ran = plane.setup("--store", "empty.db")
    assert "queues: none yet, there are no nodes" in ran.out
    assert (plane.queues(), plane.exchanges()) == (SHARED, ["mesh.builds", "mesh.dead", "mesh.nodes"])
    with monkeypatch.context() as offline:
        offline.delenv("MESH_BROKER")
        ok("node", "add", "vps", "--store", "empty.db")
    assert plane.queues() == SHARED
    assert mesh("push", "--store", "empty.db").code == 0
    assert plane.queues() == sorted(["mesh.hellos.vps", "mesh.node.vps", "mesh.reports.vps", *SHARED])


def test_the_account_may_have_another_name(plane: Plane) -> None:
    url = plane.url.replace("//", "//mine@")
    assert plane.setup("--broker", url, "--json").json["account"] == {
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
