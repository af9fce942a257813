"""A node's queues: made when it is added, taken away when it is removed, and neither ever in the way."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from mesh_adapters.broker import open_host
from mesh_adapters.broker.credential import Role, read_credential, to_address
from mesh_adapters.broker.principals import account_of
from mesh_cli import at_broker
from mesh_core.ports import Confirmed, QueueMissing
from tests.integration.broker.server import RabbitServer
from tests.integration.cli.program import Ran, events, mesh, ok
from tests.integration.cli.test_startup import imported
from tests.integration.joining.conftest import Plane

ZSH = {"name": "zsh", "version": "5.9"}


def queues_of(node: str) -> list[str]:
    return [f"mesh.hellos.{node}", f"mesh.node.{node}", f"mesh.reports.{node}"]


def of(plane: Plane, node: str) -> tuple[list[str], bool]:
    """Which queues a node has, and whether it has its exchange."""
    found = [queue for queue in plane.queues() if queue.endswith(f".{node}")]
    return found, f"mesh.from.{node}" in plane.exchanges()


@contextmanager
def frozen(server: RabbitServer) -> Iterator[None]:
    server.freeze()
    try:
        yield
    finally:
        server.thaw()


# Adding.


def test_adding_a_node_makes_its_queues(ready: Plane) -> None:
    """Issue: made when the node is added, and not on every push."""
    assert ok("node", "add", "vps", "lab", "vps").out == "+ node vps\n+ node lab\n"
    for node in ("vps", "lab"):
        assert of(ready, node) == (queues_of(node), True)


def test_it_tells_a_program_so(ready: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    assert ok("node", "add", "vps", "--json").json["queues"] == {"made": True, "error": None}
    monkeypatch.setenv("MESH_BROKER", "amqp://127.0.0.1:1")
    ran = mesh("node", "add", "lab", "--json")
    assert (ran.code, ran.json["queues"]["made"]) == (0, False)
    assert ran.json["queues"]["error"]["code"] == "broker-no-answer"
    monkeypatch.delenv("MESH_BROKER")
    assert "queues" not in ok("node", "add", "attic", "--json").json


def test_without_a_broker_nothing_is_said_and_nothing_of_it_is_loaded(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MESH_STORE", str(folder / "mesh.db"))
    ok("init")
    assert ok("node", "add", "pi").out == "+ node pi\n"
    for line in (["node", "add", "nas"], ["node", "remove", "nas", "--yes"]):
        modules = imported(*line)
        assert "sqlite3" in modules
        assert not {"kombu", "amqp"} & modules


def no_answer(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MESH_BROKER", "amqp://127.0.0.1:1")
    return "amqp://127.0.0.1:1 is out of reach: nobody answers there (Connection refused)"


def other_password(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> str:
    plane.credential.write_text(json.dumps({"account": "mesh.control", "password": "hunter2"}))
    where = f"amqp://127.0.0.1:{plane.server.port}"
    return f"{where} refuses: the account or its password is not right"


def no_credential(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> str:
    plane.credential.unlink()
    return f"there is no credential for amqp://127.0.0.1:{plane.server.port}: {plane.credential} is missing"


def no_address(plane: Plane, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("MESH_BROKER", "redis://nas")
    return "MESH_BROKER: redis:// is refused"


@pytest.mark.parametrize("wrong", [no_answer, other_password, no_credential, no_address])
def test_a_broker_that_makes_none_is_no_failure(
    ready: Plane, monkeypatch: pytest.MonkeyPatch, wrong: object
) -> None:
    assert callable(wrong)
    why = wrong(ready, monkeypatch)
    ran = mesh("node", "add", "vps")
    assert (ran.code, ran.out) == (0, "+ node vps\n")
    (line,) = ran.err.splitlines()
    assert line.startswith(f"the queues of vps are not made yet: {why}")
    assert line.endswith("; the first push, `mesh node invite` or `mesh broker setup` makes them")
    assert "hunter2" not in ran.err
    ran = mesh("node", "remove", "vps", "--yes")
    assert ran.code == 0
    (line,) = ran.err.splitlines()
    assert line.startswith(f"the queues of vps stay at the broker: {why}")
    assert line.endswith("; `mesh node revoke vps` takes them away")


def test_an_address_on_the_command_line_is_looked_at_first(ready: Plane) -> None:
    before = events(ready.folder / "mesh.db")
    for words in (("add", "vps"), ("remove", "pi")):
        ran = mesh("node", *words, "--broker", "redis://nas", "--json")
        assert (ran.code, ran.error["code"]) == (64, "bad-address")
    assert events(ready.folder / "mesh.db") == before


@pytest.mark.parametrize(
    ("words", "seconds"), [(("add", "vps"), at_broker.BESIDE_SECONDS), (("remove", "pi", "--yes"), 0.5)]
)
def test_a_broker_that_does_not_answer_is_not_waited_for(
    ready: Plane, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], seconds: float
) -> None:
    monkeypatch.setattr(at_broker, "BESIDE_SECONDS", seconds)
    with frozen(ready.server):
        began = time.monotonic()
        ran = mesh("node", *words)
        took = time.monotonic() - began
    assert (ran.code, took < seconds + 2) == (0, True)
    assert "no answer came in time" in ran.err


def test_queues_that_were_not_made_are_made_by_the_first_push(
    ready: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as away:
        away.setenv("MESH_BROKER", "amqp://127.0.0.1:1")
        mesh("node", "add", "vps")
    assert of(ready, "vps") == ([], False)
    assert mesh("push").code == 0
    assert of(ready, "vps") == (queues_of("vps"), True)


# Removing.


def test_removing_a_node_takes_its_queues_away(ready: Plane) -> None:
    ran = ok("node", "remove", "pi", "--yes")
    assert ran.out.splitlines()[-2:] == [
        "  its machine keeps what it has until `mesh-host leave` there",
        "  its queues at the broker are gone; `mesh node revoke pi` shuts its machine out there",
    ]
    assert of(ready, "pi") == ([], False)
    assert of(ready, "nas") == (queues_of("nas"), True)
    assert ok("node", "remove", "nas", "--json").json["queues"] == {"removed": True, "error": None}
    assert of(ready, "nas") == ([], False)


def test_a_node_that_stays_keeps_its_queues(ready: Plane) -> None:
    """Refused, and nothing was written."""
    provider = {"name": "db", "version": "1", "provides": [{"name": "database", "scope": "mesh"}]}
    taker = {"name": "web", "version": "1", "requires": ["database"]}
    nodes = [{"name": "pi", "assign": ["web"]}, {"name": "nas", "assign": ["db"]}]
    ok("import", "-", stdin=json.dumps({"format": 1, "modules": [provider, taker], "nodes": nodes}))
    assert mesh("node", "remove", "nas", "--yes").code == 3
    assert mesh("node", "remove", "attic", "--yes").code == 1
    assert of(ready, "nas") == (queues_of("nas"), True)


def invited(plane: Plane, node: str = "pi") -> Ran:
    return mesh("node", "invite", node, "--admin", plane.admin)


def test_a_machine_that_is_still_connected_waits_and_goes_on_when_its_node_is_added_again(
    ready: Plane,
) -> None:
    """Its account is good still: removing a node takes nobody's credential away."""
    invited(ready)
    address = to_address(read_credential("pi.invitation.json", Role.NODE), ready.folder)
    with closing(open_host(address, "pi")) as host:
        assert host.take(0) is None
        ok("node", "remove", "pi", "--yes")
        with pytest.raises(QueueMissing):
            host.take(5)
        for _ in range(2):
            assert not isinstance(host.hello(b"{}"), Confirmed)
            with pytest.raises(QueueMissing):
                host.take(0)
        ok("node", "add", "pi")
        assert isinstance(host.hello(b"{}"), Confirmed)
        assert host.take(0) is None
        given = [{"name": "pi", "assign": ["zsh"]}]
        ok("import", "-", stdin=json.dumps({"format": 1, "modules": [ZSH], "nodes": given}))
        assert mesh("push").code == 0
        delivery = host.take(5)
        assert delivery is not None
        assert isinstance(delivery.content, bytes)
        delivery.ack()


# Revoking a node that is no more.


def left(plane: Plane, monkeypatch: pytest.MonkeyPatch, node: str) -> None:
    """A node that was removed while the broker was away."""
    with monkeypatch.context() as away:
        away.setenv("MESH_BROKER", "amqp://127.0.0.1:1")
        assert mesh("node", "remove", node, "--yes").code == 0
    assert of(plane, node) == (queues_of(node), True)


def test_revoking_takes_away_what_a_removed_node_left(ready: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    invited(ready)
    left(ready, monkeypatch, "pi")
    ran = ok("node", "revoke", "pi", "--admin", ready.admin)
    assert ran.out.splitlines() == [
        "pi is shut out of the broker",
        "  its machine keeps what it has; `mesh-host leave` there gives it back",
        "  its queues at the broker are gone: there is no such node any more",
    ]
    assert of(ready, "pi") == ([], False)
    assert account_of("pi") not in ready.accounts().names()
    ran = mesh("node", "revoke", "pi", "--admin", ready.admin, "--json")
    assert (ran.code, ran.error["code"]) == (1, "no-such-account")


def test_and_so_it_does_where_nobody_was_ever_invited(ready: Plane, monkeypatch: pytest.MonkeyPatch) -> None:
    left(ready, monkeypatch, "nas")
    ran = ok("node", "revoke", "nas", "--admin", ready.admin, "--json")
    assert ran.json == {
        "format": 1,
        "node": "nas",
        "revoked": False,
        "left_out": False,
        "queues": {"removed": True, "error": None},
    }
    assert of(ready, "nas") == ([], False)


def test_a_node_that_is_still_there_keeps_what_waits_for_it(ready: Plane) -> None:
    invited(ready)
    ran = ok("node", "revoke", "pi", "--admin", ready.admin, "--json")
    assert ran.json == {"format": 1, "node": "pi", "revoked": True, "left_out": False}
    assert of(ready, "pi") == (queues_of("pi"), True)


def test_queues_that_revoking_cannot_take_away_are_told(
    ready: Plane, monkeypatch: pytest.MonkeyPatch
) -> None:
    invited(ready)
    left(ready, monkeypatch, "pi")
    monkeypatch.setenv("MESH_BROKER", "amqp://127.0.0.1:1")
    ran = mesh("node", "revoke", "pi", "--admin", ready.admin, "--json")
    assert (ran.code, ran.json["revoked"], ran.json["queues"]["removed"]) == (0, True, False)
    assert ran.err.startswith("the queues of pi stay at the broker: amqp://127.0.0.1:1 is out of reach")
