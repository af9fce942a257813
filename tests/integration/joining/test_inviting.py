"""`mesh node invite` and `revoke`: one file that lets one machine in, and shutting it out."""

from __future__ import annotations

import json
import stat
from contextlib import closing
from pathlib import Path
from urllib.parse import quote

import pytest

from mesh_adapters.broker import open_host
from mesh_adapters.broker.credential import Role, read_credential, to_address
from mesh_adapters.broker.principals import account_of
from mesh_core.model.said import Report
from mesh_core.ports import BrokerOutage, BrokerRefused, Confirmed
from mesh_core.wire.said import report_to_bytes
from tests.integration.cli.program import events, mesh, ok
from tests.integration.joining.conftest import Plane


def silenced(plane: Plane, *words: object) -> tuple[int, str, str]:
    ran = mesh("node", "invite", *words, "--admin", plane.admin)
    return ran.code, ran.out, ran.err


def test_an_invitation_is_one_file_for_its_owner_alone(ready: Plane) -> None:
    before = events(ready.folder / "mesh.db")
    code, out, err = silenced(ready, "pi")
    assert code == 0
    assert out.splitlines() == [
        "wrote pi.invitation.json, for pi alone; it serves once:",
        "  mesh-host join pi.invitation.json     there, as root",
    ]
    assert "only this machine reaches the broker at 127.0.0.1" in err
    file = ready.folder / "pi.invitation.json"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    data = json.loads(file.read_text())
    assert data["broker"].pop("password") not in out + err
    assert data == {
        "format": 1,
        "node": "pi",
        "broker": {
            "host": "127.0.0.1",
            "port": ready.server.port,
            "account": account_of("pi"),
            "virtual_host": ready.virtual_host,
            "tls": False,
            "ca": None,
        },
    }
    assert events(ready.folder / "mesh.db") == before, "it changes no mesh"
    rights = [r"^$", r"^mesh\.from\.pi$", r"^mesh\.node\.pi$"]
    assert ready.permissions(account_of("pi")) == [ready.virtual_host, *rights]
    with closing(open_host(to_address(read_credential(file, Role.NODE), ready.folder), "pi")) as host:
        assert host.take(0) is None
        assert isinstance(host.hello(b"{}"), Confirmed)


def test_a_new_invitation_ends_the_one_before(ready: Plane) -> None:
    silenced(ready, "pi", "--out", "first.json")
    first = to_address(read_credential("first.json", Role.NODE), ready.folder)
    with closing(open_host(first, "pi")) as host:
        host.take(0)
        code, out, _ = silenced(ready, "pi", "--out", "second.json")
        assert code == 0
        assert "the invitation before has ended" in out
        with pytest.raises(BrokerOutage):
            host.take(5)
        with pytest.raises(BrokerRefused):
            host.take(0)
    second = to_address(read_credential("second.json", Role.NODE), ready.folder)
    with closing(open_host(second, "pi")) as host:
        assert host.take(0) is None


def test_it_may_be_printed_instead(ready: Plane) -> None:
    code, out, err = silenced(ready, "pi", "--out", "-")
    assert code == 0
    assert json.loads(out)["node"] == "pi"
    assert "mesh-host join FILE" in err
    ran = mesh("node", "invite", "pi", "--out", "-", "--admin", ready.admin, "--json")
    assert ran.json["invitation"]["node"] == "pi"
    assert (ran.json["file"], ran.json["replaced"]) == (None, True)
    ran = mesh("node", "invite", "pi", "--admin", ready.admin, "--json")
    assert (ran.json["file"], ran.json["invitation"]) == ("pi.invitation.json", None)
    assert list(ready.folder.glob("*.invitation.json")) == [ready.folder / "pi.invitation.json"]


def test_the_broker_may_have_another_address_for_the_node(ready: Plane) -> None:
    ca = ready.server.folder / "ca.pem"
    reach = f"amqps://localhost:{ready.server.tls_port}?ca={ca}"
    code, _, _ = silenced(ready, "pi", "--reach", reach)
    assert code == 0
    credential = read_credential(ready.folder / "pi.invitation.json", Role.NODE)
    assert (credential.host, credential.port, credential.tls) == ("localhost", ready.server.tls_port, True)
    assert credential.virtual_host == ready.virtual_host
    assert credential.ca == ca.read_text()
    with closing(open_host(to_address(credential, ready.folder), "pi")) as host:
        assert host.take(0) is None


def test_over_tls_the_certificate_goes_with_it(ready: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    ca = ready.server.folder / "ca.pem"
    host = quote(ready.virtual_host, safe="")
    monkeypatch.setenv("MESH_BROKER", f"amqps://localhost:{ready.server.tls_port}/{host}?ca={ca}")
    code, _, _ = silenced(ready, "pi")
    assert code == 0
    assert read_credential(ready.folder / "pi.invitation.json", Role.NODE).ca == ca.read_text()
    monkeypatch.setenv("MESH_BROKER", f"amqps://localhost:{ready.server.tls_port}/{host}?ca=/no/ca.pem")
    code, _, err = silenced(ready, "pi", "--out", "other.json")
    assert (code, err) == (1, "/no/ca.pem cannot be read: No such file or directory\n")


def test_only_a_node_is_invited(ready: Plane) -> None:
    code, _, err = silenced(ready, "pie")
    assert (code, err) == (1, "there is no node 'pie'; near: pi\n")
    assert silenced(ready, "Pi")[0] == 64
    assert account_of("pie") not in ready.accounts().names()
    assert not list(ready.folder.glob("*.invitation.json"))


def test_a_file_that_is_there_is_left_as_it_is_and_nobody_is_shut_out(ready: Plane) -> None:
    silenced(ready, "pi")
    file = ready.folder / "pi.invitation.json"
    before = file.read_bytes()
    code, _, err = silenced(ready, "pi")
    assert code == 1
    assert "is there already" in err
    assert file.read_bytes() == before
    with closing(open_host(to_address(read_credential(file, Role.NODE), ready.folder), "pi")) as host:
        assert host.take(0) is None
    assert silenced(ready, "pi", "--out", "no/such/folder.json")[0] == 1


def test_an_invitation_that_serves_nobody_leaves_no_file(ready: Plane) -> None:
    login = {"account": "control", "password": "hunter2"}
    ready.admin.write_text(json.dumps({"management": ready.server.management, **login}))
    code, _, err = silenced(ready, "pi")
    assert code == 5
    assert "hunter2" not in err
    assert not list(ready.folder.glob("*.invitation.json"))


def test_a_broker_that_is_away_is_told_in_one_sentence(ready: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MESH_BROKER", "amqp://127.0.0.1:1")
    ran = mesh("node", "invite", "pi", "--admin", ready.admin, "--json")
    assert (ran.code, ran.error["code"]) == (5, "broker-no-answer")
    assert ran.err == "amqp://127.0.0.1:1 is out of reach: nobody answers there (Connection refused)\n"
    assert not list(ready.folder.glob("*.invitation.json"))


def test_revoking_shuts_out_and_says_what_stays(ready: Plane) -> None:
    silenced(ready, "pi")
    address = to_address(read_credential("pi.invitation.json", Role.NODE), ready.folder)
    with closing(open_host(address, "pi")) as host:
        host.take(0)
        ran = ok("node", "revoke", "pi", "--admin", ready.admin)
        assert ran.out.splitlines() == [
            "pi is shut out of the broker",
            "  its machine keeps what it has; `mesh-host leave` there gives it back",
        ]
        with pytest.raises(BrokerOutage):
            host.take(5)
    assert account_of("pi") not in ready.accounts().names()
    silenced(ready, "nas")
    for name in ("pi", "nsa"):
        ran = mesh("node", "revoke", name, "--admin", ready.admin, "--json")
        assert (ran.code, ran.error["code"]) == (1, "no-such-account")
    assert ran.error["near"] == ["nas"]


def test_who_has_to_be_shut_out_waits_for_no_store(ready: Plane) -> None:
    silenced(ready, "pi")
    Path("mesh.db").unlink()
    assert ok("node", "revoke", "pi", "--admin", ready.admin, "--json").json["revoked"]


def test_shutting_a_machine_out_takes_it_out_of_the_network_of_the_others_for_good(ready: Plane) -> None:
    """Nor does what it had said before, and nobody had taken in yet, bring its key back."""
    key = "P" * 42 + "A="
    silenced(ready, "pi")
    ok("network", "set", "10.77.0.0/24")
    file = ready.folder / "pi.invitation.json"
    with closing(open_host(to_address(read_credential(file, Role.NODE), ready.folder), "pi")) as host:
        said = Report(node="pi", machine="id-pi", key=key)
        assert isinstance(host.report(report_to_bytes(said)), Confirmed)
        mesh("collect")
        assert ok("network", "show", "--json").json["nodes"]["pi"]["key"] == key
        assert isinstance(host.report(report_to_bytes(said)), Confirmed)
    ran = mesh("node", "revoke", "pi", "--admin", ready.admin)
    assert "its key is forgotten: the next `mesh push` takes it out" in ran.out
    mesh("collect")
    assert "key" not in ok("network", "show", "--json").json["nodes"]["pi"]
