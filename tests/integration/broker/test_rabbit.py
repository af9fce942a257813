"""What only a real RabbitMQ has: deaths, freezes, cut connections, credentials, permissions, TLS."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from typing import Any

import amqp  # type: ignore[import-untyped]
import pytest
from attrs import evolve

from mesh_adapters.broker import connecting, publishing, topology
from mesh_adapters.broker.rabbit import RabbitBroker, RabbitHost
from mesh_core.ports import (
    BrokerOutage,
    BrokerRefused,
    BrokerUnreachable,
    Confirmed,
    Delivery,
    Kind,
    Outcome,
    Outgoing,
    Refused,
    Returned,
    SetAside,
    Strange,
    Unconfirmed,
    Unreachable,
)
from tests.integration.broker.contract import SOON, all_taken, send, sent, taken
from tests.integration.broker.harness import raw
from tests.integration.broker.proxy import BadWay
from tests.integration.broker.server import RabbitServer

BOUND = 15.0
"""Issue and design: no publish blocks longer."""


@pytest.fixture
def broker(server: RabbitServer) -> Iterator[RabbitBroker]:
    with closing(RabbitBroker(server.address())) as broker:
        broker.remove_node("pi")
        broker.add_nodes(["pi", "nas"])
        yield broker


@contextmanager
def frozen(server: RabbitServer) -> Iterator[None]:
    server.freeze()
    try:
        yield
    finally:
        server.thaw()


@contextmanager
def within(seconds: float) -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < seconds


# Deaths of the broker.


def test_what_was_confirmed_is_there_after_kill_9_of_the_broker(
    server: RabbitServer, broker: RabbitBroker
) -> None:
    nodes = [f"k{number}" for number in range(30)]
    broker.add_nodes(nodes)
    outcomes = broker.publish([Outgoing(node=node, body=node.encode() * 99) for node in nodes])
    server.kill()
    try:
        assert outcomes == (Confirmed(),) * 30
        with pytest.raises(BrokerUnreachable) as gone, within(BOUND):
            broker.publish([Outgoing(node="pi", body=b"")])
        assert gone.value.reason is Unreachable.NO_ANSWER
    finally:
        server.start()
    for node in nodes:
        with closing(RabbitHost(server.address(), node)) as host:
            assert taken(host).content == node.encode() * 99
    sent(broker, "pi", b"the same end goes on")


def test_a_broker_that_was_restarted_meanwhile_is_no_failure(
    server: RabbitServer, broker: RabbitBroker
) -> None:
    host = RabbitHost(server.address("pi"), "pi")
    sent(broker, "pi", b"1")
    held = taken(host)
    server.kill()
    server.start()
    sent(broker, "nas", b"2")
    held.ack()
    with closing(host):
        again = at_last(host)
        assert (again.content, again.again) == (b"1", True)
        assert host.report(b"r") == Confirmed()


def at_last(host: RabbitHost) -> Delivery:
    """What a host takes that may be told of a loss first, once."""
    with suppress(BrokerUnreachable):
        return taken(host)
    return taken(host)


# A frozen broker, and one that takes nothing.


@pytest.mark.long
def test_a_frozen_broker_fails_a_publish_in_time(server: RabbitServer, broker: RabbitBroker) -> None:
    sent(broker, "pi", b"1")
    fresh = RabbitBroker(server.address())
    with frozen(server), closing(fresh):
        for end in (broker, fresh):
            with pytest.raises(BrokerUnreachable) as late, within(BOUND):
                end.publish([Outgoing(node="pi", body=bytes(5_000_000))] * 5)
            assert late.value.reason is Unreachable.TIMED_OUT
        with pytest.raises(BrokerUnreachable), within(BOUND):
            fresh.take(0.1) if fresh._taker.listens else fresh.listen(["pi"])
    # No late confirm is taken for another message's.
    assert isinstance(send(broker, "ghost", b"2")[0], Returned)
    sent(broker, "pi", b"3")


def test_a_broker_that_freezes_in_the_midst_of_a_batch(server: RabbitServer, broker: RabbitBroker) -> None:
    """Its confirms stop coming; what was sent is unconfirmed, and no exception hides the rest."""
    sent(broker, "pi", b"1")
    watched: list[int] = []
    original = amqp.Channel.confirm_select

    def freezing(channel: Any, nowait: bool = False) -> Any:
        done = original(channel, nowait)
        server.freeze()
        watched.append(1)
        return done

    with pytest.MonkeyPatch.context() as patch, within(BOUND):
        patch.setattr(amqp.Channel, "confirm_select", freezing)
        try:
            outcomes = broker.publish([Outgoing(node="pi", body=bytes(1_000_000))] * 30)
        finally:
            server.thaw()
    assert watched == [1]
    assert {type(outcome) for outcome in outcomes} == {Unconfirmed}
    assert len(outcomes) == 30
    sent(broker, "pi", b"goes on")


def test_a_broker_without_memory_says_so(
    server: RabbitServer, broker: RabbitBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publishing, "CONFIRM_SECONDS", 3.0)
    server.ctl("set_vm_memory_high_watermark", "absolute", "1")
    try:
        outcomes: list[Outcome | BrokerOutage] = []
        for _ in range(2):  # on a connection that is not blocked yet, and on one that was
            with within(BOUND):
                try:
                    outcomes += send(broker, "pi", b"1")
                except BrokerUnreachable as outage:
                    outcomes.append(outage)
    finally:
        server.ctl("set_vm_memory_high_watermark", "0.4")
    assert not any(isinstance(outcome, Confirmed) for outcome in outcomes)
    assert "memory or disk" in str(outcomes[0])
    sent(broker, "pi", b"2")


# Connections that end.


@pytest.mark.parametrize("cut_after", [700, 40_000, 250_000])
def test_a_connection_cut_in_the_midst_of_a_batch(
    server: RabbitServer, broker: RabbitBroker, cut_after: int
) -> None:
    """What is called confirmed is there, and nothing raises once something was sent."""
    nodes = [f"c{number}" for number in range(100)]
    broker.add_nodes(nodes)
    marker = str(cut_after).encode()
    with BadWay(server.port, cut_after=cut_after) as proxy:
        through = RabbitBroker(evolve(server.address(), port=proxy.port))
        with closing(through), within(BOUND):
            outcomes = through.publish(
                [Outgoing(node=node, body=marker + node.encode() * 1_000) for node in nodes]
            )
    assert {type(outcome) for outcome in outcomes} <= {Confirmed, Unconfirmed}
    assert isinstance(outcomes[-1], Unconfirmed)
    assert "out of reach" in outcomes[-1].why
    for node, outcome in zip(nodes, outcomes, strict=True):
        if isinstance(outcome, Confirmed):
            with closing(RabbitHost(server.address(), node)) as host:
                assert taken(host).content == marker + node.encode() * 1_000


def test_all_that_waited_is_there_over_a_slow_way_too(server: RabbitServer, broker: RabbitBroker) -> None:
    """`listen`: once it returns, what waited has arrived, however long that takes."""
    for node in ("pi", "nas"):
        with closing(RabbitHost(server.address(node), node)) as host:
            assert host.report(b"r") == host.hello(b"h") == Confirmed()
    with BadWay(server.port, late=0.1) as way:
        slow = RabbitBroker(evolve(server.address(), port=way.port))
        with closing(slow):
            slow.listen(["pi", "nas"])
            assert {(each.node, each.kind) for each in all_taken(slow)} >= {
                ("pi", Kind.REPORT),
                ("pi", Kind.HELLO),
                ("nas", Kind.REPORT),
                ("nas", Kind.HELLO),
            }


def test_connections_closed_by_the_administrator(server: RabbitServer, broker: RabbitBroker) -> None:
    host = RabbitHost(server.address("pi"), "pi")
    sent(broker, "pi", b"1")
    taken(host)
    server.ctl("close_all_connections", "maintenance")
    with pytest.raises(BrokerUnreachable) as lost:
        host.take(SOON)
    assert lost.value.reason is Unreachable.LOST
    assert "maintenance" in str(lost.value)
    assert taken(host).content == b"1"
    sent(broker, "pi", b"2")
    host.close()


HOLDER = """
import sys, time
from mesh_adapters.broker import RabbitAddress, open_host
address = RabbitAddress(host="127.0.0.1", port=int(sys.argv[1]), account="pi", password="pi-secret")
print(open_host(address, "pi").take(30).content.decode(), flush=True)
time.sleep(60)
"""


def test_what_a_host_held_that_was_killed_comes_again(server: RabbitServer, broker: RabbitBroker) -> None:
    sent(broker, "pi", b"precious")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(server.port)], stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    with holder.stdout:
        assert holder.stdout.readline() == "precious\n"
        os.kill(holder.pid, signal.SIGKILL)
    holder.wait(10)
    with closing(RabbitHost(server.address("pi"), "pi")) as host:
        again = taken(host)
        assert (again.content, again.again) == (b"precious", True)


def test_taking_keeps_the_connection_alive_and_finds_a_dead_one(
    server: RabbitServer, broker: RabbitBroker, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connecting, "HEARTBEAT_SECONDS", 1)
    with closing(RabbitHost(server.address("pi"), "pi")) as host:
        assert host.take(6) is None
        assert host._link.life == 1
        with frozen(server), pytest.raises(BrokerUnreachable), within(BOUND):
            host.take(60)
        assert host.take(1) is None
        assert host._link.life == 2


# Who one is.


def refused(address: Any) -> BrokerRefused:
    with closing(RabbitBroker(address)) as broker, pytest.raises(BrokerRefused) as caught:
        broker.publish([Outgoing(node="pi", body=b"1")])
    assert "secret" not in str(caught.value)
    return caught.value


def unreachable(address: Any) -> BrokerUnreachable:
    with closing(RabbitBroker(address)) as broker, within(BOUND), pytest.raises(BrokerUnreachable) as caught:
        broker.publish([Outgoing(node="pi", body=b"1")])
    assert "secret" not in str(caught.value)
    return caught.value


def test_wrong_credentials_are_refused_at_once(server: RabbitServer) -> None:
    with within(3):
        assert refused(evolve(server.address(), password="a secret")).what is Refused.CREDENTIALS
    assert refused(evolve(server.address(), account="nobody")).what is Refused.CREDENTIALS
    # Whether a virtual host exists is not told to those who may not enter it.
    assert refused(evolve(server.address(), virtual_host="other")).what in {
        Refused.UNFIT,
        Refused.CREDENTIALS,
    }


def test_an_account_without_permission_is_refused(server: RabbitServer) -> None:
    with closing(RabbitBroker(server.address("pi"))) as broker:
        uses: tuple[Callable[[], object], ...] = (
            lambda: broker.add_nodes(["pi"]),
            lambda: broker.listen(["nas"]),
            lambda: broker.remove_node("nas"),
        )
        for use in uses:
            with pytest.raises(BrokerRefused) as caught:
                use()
            assert caught.value.what is Refused.PERMISSION
        (outcome,) = broker.publish([Outgoing(node="pi", body=b"1")])
        assert isinstance(outcome, Unconfirmed)
        assert "ACCESS_REFUSED" in outcome.why


def test_what_is_no_broker_is_not_reached(server: RabbitServer) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        assert unreachable(evolve(server.address(), port=port)).reason is Unreachable.TIMED_OUT
    assert unreachable(evolve(server.address(), port=port)).reason is Unreachable.NO_ANSWER
    assert unreachable(evolve(server.address(), host="no..name")).reason is Unreachable.NO_ADDRESS


def test_a_deleted_account_is_cut_off(server: RabbitServer, broker: RabbitBroker) -> None:
    server.add_account("gone", topology.permissions_of("pi"))
    with closing(RabbitHost(server.address("gone"), "pi")) as host:
        assert host.take(0) is None
        server.ctl("delete_user", "gone")
        with pytest.raises(BrokerOutage), within(SOON):
            host.take(60)
        with pytest.raises(BrokerRefused) as caught:
            host.take(0)
        assert caught.value.what is Refused.CREDENTIALS


# What a node's account may do: read its own queue, write to its own exchange, and nothing else.

FORBIDDEN: dict[str, Callable[[Any], object]] = {
    "read another's": lambda ch: ch.basic_get("mesh.node.nas"),
    "read its own reports": lambda ch: ch.basic_get("mesh.reports.pi"),
    "read another's reports": lambda ch: ch.basic_consume("mesh.reports.nas"),
    "declare to itself": lambda ch: published(ch, "mesh.nodes", "pi"),
    "declare to another": lambda ch: published(ch, "mesh.nodes", "nas"),
    "report as another": lambda ch: published(ch, "mesh.from.nas", "report"),
    "write to a queue": lambda ch: published(ch, "", "mesh.node.nas"),
    "make a queue": lambda ch: ch.queue_declare("mesh.node.mine"),
    "make an exchange": lambda ch: ch.exchange_declare("mesh.from.mine", "direct"),
    "bind another's": lambda ch: ch.queue_bind("mesh.node.nas", "mesh.from.pi", "report"),
    "bind its own": lambda ch: ch.queue_bind("mesh.node.pi", "mesh.nodes", "nas"),
    "delete its own": lambda ch: ch.queue_delete("mesh.node.pi"),
    "delete its exchange": lambda ch: ch.exchange_delete("mesh.from.pi"),
    "purge another's": lambda ch: ch.queue_purge("mesh.node.nas"),
    "be somebody else": lambda ch: published(ch, "mesh.from.pi", "report", user_id="nas"),
    "be the control plane": lambda ch: published(ch, "mesh.from.pi", "report", user_id="control"),
}


def published(channel: Any, exchange: str, key: str, **properties: Any) -> None:
    channel.confirm_select()
    message = amqp.Message(b"1", **properties)
    channel.basic_publish_confirm(message, exchange=exchange, routing_key=key, mandatory=True)


@pytest.mark.parametrize("attempt", FORBIDDEN)
def test_a_nodes_account_can_not(server: RabbitServer, broker: RabbitBroker, attempt: str) -> None:
    with raw(server.address("pi")) as channel:
        with pytest.raises((amqp.AccessRefused, amqp.PreconditionFailed)) as caught:
            FORBIDDEN[attempt](channel)
        somebody = "be " in attempt
        assert caught.value.reply_code == (406 if somebody else 403)


def test_a_nodes_account_can_what_it_should(server: RabbitServer, broker: RabbitBroker) -> None:
    """So that the refusals above are not those of an account that can do nothing."""
    with raw(server.address("pi")) as channel:
        published(channel, "mesh.from.pi", "report", user_id="pi")
        assert channel.basic_get("mesh.node.pi") is None
    assert broker.waiting(["pi"]) == {"pi": 1}


@pytest.mark.parametrize("header", ["CC", "BCC"])
def test_copies_reach_nobody_else(server: RabbitServer, broker: RabbitBroker, header: str) -> None:
    elsewhere = ["nas", "mesh.node.nas", "mesh.reports.nas", "hello"]
    with raw(server.address("pi")) as channel:
        published(channel, "mesh.from.pi", "report", user_id="pi", application_headers={header: elsewhere})
    broker.remove_node("nas")
    broker.add_nodes(["nas"])
    with raw(server.address("pi")) as channel:
        published(channel, "mesh.from.pi", "report", user_id="pi", application_headers={header: elsewhere})
    assert broker.waiting(["nas"]) == {"nas": 0}
    with closing(RabbitHost(server.address("nas"), "nas")) as host:
        assert host.take(0.3) is None
    broker.listen(["pi"])
    if header == "CC":
        assert taken(broker).content == SetAside(why=Strange.COPIED, size=1)


# What the library below would do with a stranger's message.


@pytest.mark.parametrize(
    ("properties", "headers"),
    [
        ({"content_encoding": "utf-8", "content_type": "text/plain"}, {}),
        ({"content_encoding": "utf-16"}, {}),
        ({"content_encoding": "no such thing"}, {}),
        ({"content_type": "application/x-python-serialize", "content_encoding": "binary"}, {}),
        ({"content_type": "application/json"}, {"compression": "application/x-gzip"}),
    ],
)
def test_nothing_is_decoded(
    server: RabbitServer, broker: RabbitBroker, properties: dict[str, str], headers: dict[str, str]
) -> None:
    body = b"\x1f\x8b{}\0\xff"
    with raw(server.address()) as channel:
        message = amqp.Message(body, user_id="control", application_headers=headers, **properties)
        channel.basic_publish(message, exchange="mesh.nodes", routing_key="pi")
    with closing(RabbitHost(server.address("pi"), "pi")) as host:
        assert taken(host).content == body


# TLS.


def test_over_tls(server: RabbitServer, broker: RabbitBroker) -> None:
    with closing(RabbitBroker(server.tls_address())) as end:
        sent(end, "pi", bytes(300_000))
    with closing(RabbitHost(evolve(server.tls_address(), account="pi", password="pi-secret"), "pi")) as host:
        assert taken(host).content == bytes(300_000)
        assert host.report(b"1") == Confirmed()


def test_a_certificate_that_is_not_trusted(server: RabbitServer) -> None:
    for address in (
        server.tls_address(ca="other"),
        server.tls_address(host="127.0.0.1"),  # a good certificate, of localhost
        evolve(server.tls_address(), ca=None),  # the system trusts no such authority
        evolve(server.tls_address(), port=server.port),  # no TLS at all
    ):
        assert unreachable(address).reason is Unreachable.NOT_TRUSTED


# Queues of that name that are not ours.


def test_queues_of_another_make_are_refused(server: RabbitServer, broker: RabbitBroker) -> None:
    with raw(server.address()) as channel:
        channel.queue_declare("mesh.node.odd", durable=True, auto_delete=False)
    with pytest.raises(BrokerRefused) as caught:
        broker.add_nodes(["odd"])
    assert caught.value.what is Refused.UNFIT
    broker.remove_node("odd")
    broker.add_nodes(["odd"])


# The throw-away server itself.


def test_the_queues_are_what_they_should_be(server: RabbitServer, broker: RabbitBroker) -> None:
    columns = ("name", "type", "durable", "policy", "arguments")
    lines = server.ctl("list_queues", *columns).splitlines()
    (line,) = (line for line in lines if line.startswith("mesh.node.pi\t"))
    assert line.split("\t")[:3] == ["mesh.node.pi", "classic", "true"]
    for argument in ('{"x-max-length",1}', '{"x-overflow","drop-head"}'):
        assert argument in line.replace(" ", "")


def test_a_server_leaves_nothing_behind() -> None:
    with RabbitServer() as server:
        assert of(server), "looked in the wrong place"
    until = time.monotonic() + 10
    while of(server):
        assert time.monotonic() < until
        time.sleep(0.05)
    assert not server.folder.exists()


def of(server: RabbitServer) -> list[str]:
    """The processes that have the server's folder in their environment."""
    found = []
    for process in filter(str.isdecimal, os.listdir("/proc")):
        try:
            with open(f"/proc/{process}/environ", "rb") as environ:
                if str(server.folder).encode() in environ.read():
                    found.append(process)
        except OSError:
            continue
    return found


def test_hellos_wait_for_the_control_plane(server: RabbitServer, broker: RabbitBroker) -> None:
    harness_kinds = {Kind.REPORT, Kind.HELLO}
    with closing(RabbitHost(server.address("pi"), "pi")) as host:
        assert host.hello(b"h") == host.report(b"r") == Confirmed()
    broker.listen(["pi"])
    assert {taken(broker).kind, taken(broker).kind} == harness_kinds
