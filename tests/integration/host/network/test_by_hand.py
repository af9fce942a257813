"""`mesh-host` at work by hand where a network is declared: apply, status, leave, forget."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator

import pytest

from mesh_core import Resource
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.model.network import DeclaredNetwork
from mesh_core.wire.declaration import declaration_to_data
from tests.integration.host.cli.program import PROGRAM, host
from tests.integration.host.network.site import ENVIRONMENT, Host

BY_HAND = "the network was changed, and not tried: nobody looks whether the broker is still reached\n"
PLACE = "/var/lib/mesh-host"
BEFORE = b"127.0.0.1 localhost\n"


@pytest.fixture
def at(nas: Host) -> Iterator[Host]:
    """A machine on which nothing was ever declared."""
    nas.machine.write("/etc/hosts", BEFORE)
    yield nas
    run(nas, "leave", "--yes")
    nas.machine.run(["rm", "-rf", PLACE])


def run(at: Host, *words: str, stdin: bytes = b"", code: int | None = None) -> str:
    """What `mesh-host` prints on the machine."""
    argv = [sys.executable, "-c", PROGRAM, *words]
    ran = at.machine.run(argv, input=stdin, env=ENVIRONMENT, check=False)
    assert "Traceback" not in ran.stderr
    assert code in (None, ran.returncode), (ran.stdout, ran.stderr)
    return ran.stdout


def declared(generation: int, network: DeclaredNetwork | None, *resources: Resource) -> bytes:
    modules = [DeclaredModule(name="web", version="1", resources=resources)]
    told = Declaration(
        node="nas", generation=generation, network=network, modules=modules, allow_removals=True
    )
    return json.dumps(declaration_to_data(told)).encode()


def hosts_file(content: str) -> Resource:
    return Resource(kind="file", path="/etc/hosts", attributes_json={"content": content})


def test_a_change_is_not_tried_and_that_is_said(at: Host, pi: Host) -> None:
    one = declared(1, at.network(pi.peer("pi", "203.0.113.20:51820")))
    out = run(at, "apply", "-", "--dry-run", stdin=one, code=0)
    assert "the network would be changed: mesh0 with 10.77.0.1" in out
    assert at.shown() == ""
    out = run(at, "apply", "-", stdin=one, code=0)
    assert BY_HAND in out
    assert "10.77.0.1/24" in at.shown()
    assert BY_HAND not in run(at, "apply", "-", stdin=one, code=0)
    assert run(at, "apply", "-", "--dry-run", stdin=one, code=0).startswith("nothing to do")
    at.machine.run(["ip", "link", "delete", "mesh0"])
    run(at, "apply", "-", stdin=one, code=0)
    assert "10.77.0.1/24" in at.shown()
    out = run(at, "apply", "-", "--json", stdin=declared(2, None), code=0)
    assert json.loads(out)["network"] == [BY_HAND.strip()]
    assert at.shown() == ""


def test_what_cannot_be_made_is_a_part_that_failed(at: Host) -> None:
    at.machine.run(["ip", "link", "add", "mesh0", "type", "bridge"])
    out = run(at, "apply", "-", stdin=declared(1, at.network()), code=4)
    at.machine.run(["ip", "link", "delete", "mesh0"])
    assert "mesh0 is there already (bridge)" in out


def test_a_module_that_has_the_file_of_names_has_it_whole_and_gives_it_back(at: Host, pi: Host) -> None:
    network = at.network(pi.peer("pi"))
    run(at, "apply", "-", stdin=declared(1, network), code=0)
    assert b"pi.mesh" in at.hosts()
    out = run(at, "apply", "-", stdin=declared(2, network, hosts_file("127.0.0.1 ours\n")), code=0)
    assert "a module declares that file" in out
    assert at.hosts() == b"127.0.0.1 ours\n"
    run(at, "apply", "-", stdin=declared(3, network), code=0)
    assert at.hosts() == BEFORE, "as it was before the mesh"
    run(at, "apply", "-", stdin=declared(3, network), code=0)
    assert at.hosts().startswith(BEFORE)
    assert b"pi.mesh" in at.hosts()


def test_status_shows_the_network(at: Host, pi: Host) -> None:
    network = at.network(pi.peer("pi", "203.0.113.20:51820"))
    run(at, "apply", "-", stdin=declared(1, network), code=0)
    out = run(at, "status", code=0)
    assert "network     10.77.0.1 on mesh0, up (wireguard-go), port 51820\n" in out
    assert "network     pi 10.77.0.2: never heard, at 203.0.113.20:51820\n" in out
    shown = json.loads(run(at, "status", "--json", code=0))["network"]
    assert (shown["by"], shown["key"], shown["peers"][0]["heard"]) == ("wireguard-go", at.key(), None)
    at.machine.write(f"{PLACE}/network.json", b"{", mode=0o600)
    assert "network.json is damaged" in run(at, "status", code=0)


def test_leaving_takes_the_network_and_the_key_off(at: Host, pi: Host) -> None:
    run(at, "apply", "-", stdin=declared(1, at.network(pi.peer("pi"))), code=0)
    run(at, "leave", "--yes", code=0)
    assert (at.shown(), at.hosts()) == ("", BEFORE)
    assert not at.machine.exists("/etc/mesh-host/network.key")
    assert not at.machine.exists(f"{PLACE}/network.json")


def test_starting_anew_helps_against_a_damaged_record_and_touches_nothing(at: Host, pi: Host) -> None:
    one = declared(1, at.network(pi.peer("pi")))
    run(at, "apply", "-", stdin=one, code=0)
    link = at.machine.read("/sys/class/net/mesh0/ifindex")
    at.machine.write(f"{PLACE}/network.json", b"{", mode=0o600)
    assert "forget --everything" in run(at, "apply", "-", stdin=one, code=4)
    run(at, "forget", "--everything", "--yes", code=0)
    assert at.machine.read("/sys/class/net/mesh0/ifindex") == link
    run(at, "apply", "-", stdin=one, code=0)
    assert at.machine.read("/sys/class/net/mesh0/ifindex") == link, "it has our key"
    run(at, "apply", "-", stdin=declared(2, None), code=0)
    assert (at.shown(), at.hosts()) == ("", BEFORE)


def test_under_another_root_it_is_left_out_with_one_line(
    at: Host, tmp_path_factory: pytest.TempPathFactory
) -> None:
    root = tmp_path_factory.mktemp("root")
    one = declared(1, DeclaredNetwork(address="10.77.0.1", range="10.77.0.0/24"))
    ran = host("apply", "-", "--root", root, stdin=one)
    assert (ran.code, ran.err) == (0, "")
    assert ran.out.splitlines()[0] == "the network is left out: this is no running machine"
    assert not (root / "etc").exists()
    assert host("apply", "-", "--root", root, "--dry-run", stdin=one).out.startswith(
        "the network is left out"
    )
