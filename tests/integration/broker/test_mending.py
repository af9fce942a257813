"""What accounts may do is put back as it is to be, through both doors; and what is seen of the broker."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from mesh_adapters.broker import topology
from mesh_adapters.broker.management import ManagedAccounts
from mesh_adapters.broker.principals import Login, Management
from mesh_adapters.broker.rabbit import RabbitBroker, RabbitHost
from mesh_adapters.broker.rabbitmqctl import LocalAccounts
from mesh_core.ports import Amiss, BrokerUnreachable, Confirmed, Holding, How, Rights
from tests.integration.broker.doors import PI, Doors, address, lets_in, local, managed
from tests.integration.broker.doors import accounts as accounts
from tests.integration.broker.doors import broker as broker
from tests.integration.broker.server import RabbitServer

WANTED = {PI: topology.permissions_of("pi")}


def stands(server: RabbitServer, account: str = PI) -> tuple[list[str], dict[str, int], list[str]]:
    """What an account has, by the broker's own word: its patterns, its limits, its say over the broker."""
    door = managed(server)
    (given,) = door._data(f"users/{account}/permissions")
    user = door._data(f"users/{account}")
    return [given[key] for key in ("configure", "write", "read")], user["limits"], user["tags"]


def as_it_is_to_be(rights: Rights) -> tuple[list[str], dict[str, int], list[str]]:
    limits = {"max-connections": rights.connections, "max-channels": rights.channels}
    return [rights.configure, rights.write, rights.read], limits, []


def test_what_is_amiss_is_put_back_and_told(
    server: RabbitServer, broker: RabbitBroker, accounts: Doors
) -> None:
    """The password stays, and so does who is connected: a machine that works notices nothing."""
    assert accounts.mend(WANTED) == {}, "an account that is not there is not made"
    assert PI not in accounts.names()
    accounts.ensure(PI, "first", WANTED[PI])
    assert stands(server) == as_it_is_to_be(WANTED[PI])
    with closing(RabbitHost(address(server, "first"), "pi")) as host:
        assert host.take(0) is None
        spoil(server)
        assert accounts.mend(WANTED) == {PI: (Amiss.RIGHTS, Amiss.LIMITS, Amiss.POWERS)}
        assert stands(server) == as_it_is_to_be(WANTED[PI])
        life = host._link.life
        assert isinstance(host.hello(b"h"), Confirmed)
        assert host._link.life == life, "it did not have to connect again"
    assert lets_in(server, "first")
    assert accounts.mend(WANTED) == {PI: ()}


def spoil(server: RabbitServer) -> None:
    """Somebody gave pi's account everything."""
    door, everything = managed(server), {"configure": ".*", "write": ".*", "read": ".*"}
    kept = {key: door._data(f"users/{PI}")[key] for key in ("password_hash", "hashing_algorithm")}
    door._do("PUT", f"users/{PI}", {**kept, "tags": "administrator"})
    door._do("PUT", f"permissions/%2F/{PI}", everything)
    door._do("PUT", f"user-limits/{PI}/max-connections", {"value": -1})
    door._do("PUT", f"user-limits/{PI}/max-channels", {"value": 9999})


@pytest.mark.parametrize(
    ("words", "amiss"),
    [
        (("clear_permissions", PI), Amiss.RIGHTS),
        (("set_permissions", PI, "^$", r"^mesh\.from\.pi$", ".*"), Amiss.RIGHTS),
        (("clear_user_limits", PI, "all"), Amiss.LIMITS),
        (("set_user_limits", PI, '{"max-channels": 1}'), Amiss.LIMITS),
        (("set_user_tags", PI, "monitoring"), Amiss.POWERS),
    ],
)
def test_each_thing_that_is_amiss_is_found(
    server: RabbitServer, words: tuple[str, ...], amiss: Amiss
) -> None:
    managed(server).ensure(PI, "first", WANTED[PI])
    server.ctl(*words)
    try:
        assert managed(server).mend(WANTED) == {PI: (amiss,)}
        assert stands(server) == as_it_is_to_be(WANTED[PI])
    finally:
        managed(server).revoke(PI)


# The limit of what waits, and what is seen of the broker's own settings.


@pytest.fixture
def unlimited(server: RabbitServer) -> Iterator[None]:
    yield
    server.ctl("clear_operator_policy", topology.SAID.name)


@pytest.mark.usefixtures("unlimited")
def test_the_limit_is_put_up_once_and_put_back(server: RabbitServer, accounts: Doors) -> None:
    assert accounts.limit(topology.SAID) is How.MADE
    assert accounts.limit(topology.SAID) is How.THERE
    (found,) = managed(server)._data("operator-policies")
    definition = {"max-length-bytes": topology.SAID.content}
    assert (found["pattern"], found["apply-to"], found["definition"]) == (
        topology.SAID.queues,
        "queues",
        definition,
    )
    server.ctl("set_operator_policy", topology.SAID.name, "^other", '{"max-length": 1}')
    assert accounts.limit(topology.SAID) is How.MADE
    assert managed(server)._data("operator-policies") == [found]


def test_only_root_on_the_brokers_machine_sees_how_long_a_message_may_be_held(server: RabbitServer) -> None:
    """Nothing that the management interface says has it (3.10)."""
    assert managed(server).holding() is None
    server.ctl("eval", "application:set_env(rabbit, consumer_timeout, 10000).")
    try:
        assert local(server).holding() == Holding(seconds=10.0)
    finally:
        server.ctl("eval", "application:set_env(rabbit, consumer_timeout, 1800000).")
    assert local(server).holding() == Holding(seconds=1800.0)


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ("{ok,1800000}", Holding(seconds=1800.0)),
        ("{ok,undefined}", Holding(seconds=None)),
        ("{ok,infinity}", Holding(seconds=None)),
        ("undefined", Holding(seconds=None)),
        ("{ok,[odd]}", None),
        ("", None),
    ],
)
def test_how_long_is_read_from_what_the_broker_says(tmp_path: Path, said: str, found: Holding | None) -> None:
    program = tmp_path / "rabbitmqctl"
    program.write_text(f"#!/bin/sh\necho '{said}'\n")
    program.chmod(0o755)
    assert LocalAccounts("/", str(program)).holding() == found


class Locked(BaseHTTPRequestHandler):
    """A management interface of a broker whose configuration allows no change of operators' policies."""

    def do_GET(self) -> None:
        self._answer(404, b'{"error": "Object Not Found", "reason": "Not Found"}')

    def do_PUT(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self._answer(405, b"")

    def _answer(self, status: int, content: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: object) -> None:
        """It says nothing."""


@contextmanager
def locked() -> Iterator[str]:
    with HTTPServer(("127.0.0.1", 0), Locked) as web:
        serving = threading.Thread(target=web.serve_forever, daemon=True)
        serving.start()
        try:
            yield f"http://127.0.0.1:{web.server_port}"
        finally:
            web.shutdown()
            serving.join()


def test_a_broker_that_lets_nobody_put_up_a_limit() -> None:
    login = Login(account="a", password="hunter2")
    with locked() as url:
        assert ManagedAccounts(Management(url=url, login=login), "/").limit(topology.SAID) is How.FORBIDDEN
    with pytest.raises(BrokerUnreachable):
        ManagedAccounts(Management(url=url, login=login), "/").limit(topology.SAID)
