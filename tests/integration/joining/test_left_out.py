"""`mesh node revoke` and the network: who was shut out is told to nobody any more, whatever it had said."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack, closing

import pytest

from mesh_adapters.broker import open_host
from mesh_adapters.broker.credential import Role, read_credential, to_address
from mesh_cli import wiring_flows
from mesh_core.model.declaration import Declaration
from mesh_core.model.said import Hello, Report
from mesh_core.ports import BrokerUnreachable, Confirmed, HostBroker, Unreachable
from mesh_core.wire.declaration import read_declaration
from mesh_core.wire.said import hello_to_bytes, report_to_bytes
from tests.integration.cli.program import events, mesh, nothing_written, ok
from tests.integration.joining.conftest import Plane

PI, NAS, OTHER = ("P" * 42 + "A=", "N" * 42 + "A=", "O" * 42 + "A=")
MOTD = {
    "name": "motd",
    "version": "1",
    "resources": [{"kind": "file", "path": "/etc/motd", "content": "hello"}],
}
FORGOTTEN = "  its key is forgotten: the next `mesh push` takes it out of the network of the others"


@pytest.fixture
def joined(ready: Plane) -> Iterator[dict[str, HostBroker]]:
    """Both nodes are in a network in which everybody is told of everybody, and each machine is there."""
    there = {"endpoints": ["nas.example.org:51820"]}
    nodes = [{"name": "nas", "assign": ["motd"], "network": there}, {"name": "pi", "assign": ["motd"]}]
    network = {"range": "10.77.0.0/24", "peers": "full"}
    document = {"format": 1, "network": network, "modules": [MOTD], "nodes": nodes}
    ok("import", "-", stdin=json.dumps(document))
    with ExitStack() as ends:
        yield {name: ends.enter_context(closing(host_of(ready, name))) for name in ("nas", "pi")}


def host_of(plane: Plane, name: str) -> HostBroker:
    """The broker as a machine has it that was just invited."""
    mesh("node", "invite", name, "--admin", plane.admin)
    file = plane.folder / f"{name}.invitation.json"
    return open_host(to_address(read_credential(file, Role.NODE), plane.folder), name)


def report(host: HostBroker, node: str, key: str | None) -> None:
    assert isinstance(host.report(report_to_bytes(Report(node=node, machine=node, key=key))), Confirmed)


def hello(host: HostBroker, node: str, key: str) -> None:
    assert isinstance(host.hello(hello_to_bytes(Hello(node=node, machine=node, key=key))), Confirmed)


def key_of(node: str) -> str | None:
    found: str | None = ok("network", "show", "--json").json["nodes"][node].get("key")
    return found


def taken(host: HostBroker) -> Declaration | None:
    """What waited for a machine."""
    delivery = host.take(2)
    if delivery is None:
        return None
    assert isinstance(delivery.content, bytes)
    delivery.ack()
    return read_declaration(delivery.content)


def peers(host: HostBroker) -> list[str] | None:
    declaration = taken(host)
    if declaration is None or declaration.network is None:
        return None
    return [peer.node for peer in declaration.network.peers]


def test_the_next_push_takes_it_out_of_the_networks_of_the_others(
    ready: Plane, joined: dict[str, HostBroker]
) -> None:
    for node, key in (("nas", NAS), ("pi", PI)):
        report(joined[node], node, key)
    ok("push")
    assert (peers(joined["nas"]), peers(joined["pi"])) == (["pi"], ["nas"])
    ran = ok("node", "revoke", "pi", "--admin", ready.admin)
    assert ran.out.splitlines()[-1] == FORGOTTEN
    assert events(ready.folder / "mesh.db")[0]["command"] == "mesh node revoke pi"
    assert key_of("pi") is None
    ran = mesh("push", "nas")
    assert (ran.code, ran.out.splitlines()[-1]) == (0, "1 sent")
    assert peers(joined["nas"]) == []
    assert "pi is left out of the network" in mesh("push").err


def test_nothing_that_it_said_before_brings_it_back(ready: Plane, joined: dict[str, HostBroker]) -> None:
    """It waits at the broker, and nobody has taken it in: another key than is known, said in both ways."""
    report(joined["pi"], "pi", PI)
    ok("collect")
    hello(joined["pi"], "pi", OTHER)
    report(joined["pi"], "pi", OTHER)
    ran = ok("node", "revoke", "pi", "--admin", ready.admin, "--json")
    assert (ran.json["revoked"], ran.json["left_out"]) == (True, True)
    assert ok("collect").out == "nothing was waiting\n"
    mesh("push")
    assert key_of("pi") is None


def test_who_had_no_key_is_shut_out_without_a_word_of_it(ready: Plane, joined: dict[str, HostBroker]) -> None:
    with nothing_written(ready.folder / "mesh.db"):
        ran = ok("node", "revoke", "pi", "--admin", ready.admin)
    assert "key" not in ran.out
    with nothing_written(ready.folder / "mesh.db"):
        assert mesh("node", "revoke", "pi", "--admin", ready.admin).code == 1, "and again there is nobody"


def test_said_again_it_forgets_a_key_that_it_could_not_forget_before(
    ready: Plane, joined: dict[str, HostBroker]
) -> None:
    """The store was out of reach, which shutting out does not wait for; there is no account any more then."""
    report(joined["pi"], "pi", PI)
    ok("collect")
    store, aside = ready.folder / "mesh.db", ready.folder / "aside.db"
    store.rename(aside)
    store.write_text("no store")
    ran = mesh("node", "revoke", "pi", "--admin", ready.admin)
    assert (ran.code, ran.out.splitlines()[0]) == (0, "pi is shut out of the broker")
    assert "the key of pi in the network is not forgotten: " in ran.err
    assert ran.err.endswith("; say this again then\n")
    aside.replace(store)
    assert key_of("pi") == PI
    ran = ok("node", "revoke", "pi", "--admin", ready.admin)
    assert ran.out.splitlines() == ["pi had no account any more", FORGOTTEN]
    assert key_of("pi") is None


def test_where_the_broker_says_nothing_of_what_waits_that_is_told(
    ready: Plane, joined: dict[str, HostBroker], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its accounts answer, and its queues do not: what waits there could bring the key back."""
    report(joined["pi"], "pi", PI)
    ok("collect")

    def away(*_: object) -> None:
        raise BrokerUnreachable("amqp://there", Unreachable.NO_ANSWER, "")

    with monkeypatch.context() as patched:
        patched.setattr(wiring_flows, "collect", away)
        ran = mesh("node", "revoke", "pi", "--admin", ready.admin)
    assert (ran.code, ran.out.splitlines()[-1]) == (0, FORGOTTEN)
    assert ran.err.startswith("the key of pi may come back: what it said before may wait at the broker: ")
    assert key_of("pi") is None


def test_who_is_let_in_again_is_known_by_the_key_that_it_says_then(
    ready: Plane, joined: dict[str, HostBroker]
) -> None:
    report(joined["pi"], "pi", PI)
    ok("node", "revoke", "pi", "--admin", ready.admin)
    (ready.folder / "pi.invitation.json").unlink()
    with closing(host_of(ready, "pi")) as again:
        said = Report(node="pi", machine="another", key=OTHER)
        assert isinstance(again.report(report_to_bytes(said)), Confirmed)
    ok("collect")
    assert key_of("pi") == OTHER
