"""Memory of an idle `mesh-host run` against a bare Python that holds a connection to the same broker.

Both are connected to a RabbitMQ of their own, Debian's, as the tests start one; where there is none, nothing
is measured. The host has joined, has applied a declaration, has reported, and waits. The floor is the library
that it speaks with: `kombu`, one connection, one channel that consumes from the same queue. What is counted
is what is resident, as the system sees it; the daemon is started as `mesh-host run` starts it.
"""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory

from attrs import frozen

from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.credential import Credential, Role, write_credential
from mesh_adapters.broker.opening import open_broker
from mesh_adapters.broker.topology import permissions_of
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.model.resource import Resource
from mesh_core.ports import Broker, Kind, Outgoing
from mesh_core.wire.declaration import declaration_to_data
from mesh_core.wire.said import read_said
from tests.integration.broker.server import RabbitServer, why_not

FILES = 25
"""A machine at home has a few dozen things; a thousand files more are some MB more."""
SECONDS = 60.0
"""For anything to happen at all."""
SETTLES = 1.0
"""From the report on: memory is given back once there is nothing to do."""

BARE = """
import sys, time
from kombu.transport.pyamqp import Connection
connection = Connection(host=sys.argv[1], userid=sys.argv[2], password=sys.argv[3])
connection.connect()
channel = connection.channel()
channel.basic_consume(sys.argv[4])
print("connected", flush=True)
while True:
    try:
        connection.drain_events(timeout=1)
    except TimeoutError:
        pass
"""


@frozen(kw_only=True)
class Idle:
    """Medians in kB of what is resident, and of the ratios of each turn."""

    ours: float
    bare: float
    against_bare: float


def measure(*, repetitions: int) -> Idle | str:
    """That many turns, each with a machine that has just joined; why not, where there can be no broker."""
    why = why_not()
    if why is not None:
        return why
    with RabbitServer() as server:
        turns = [_turn(server, f"node-{number}") for number in range(repetitions)]
    return Idle(
        ours=median(ours for ours, _ in turns),
        bare=median(bare for _, bare in turns),
        against_bare=median(ours / bare for ours, bare in turns),
    )


def _turn(server: RabbitServer, node: str) -> tuple[int, int]:
    server.add_account(node, permissions_of(node))
    broker = open_broker(server.address())
    try:
        broker.add_nodes([node])
        broker.listen([node])
        broker.publish([Outgoing(node=node, body=_declaration(node))])
        with TemporaryDirectory(prefix="mesh-bench-") as root:
            ours = _resident_of_host(server.address(node), Path(root), node, broker)
        return ours, _resident_of_bare(server.address(node), node)
    finally:
        broker.close()


def _resident_of_host(address: RabbitAddress, root: Path, node: str, broker: Broker) -> int:
    """Of the daemon, once it has reported that all is applied."""
    place = root / "etc/mesh-host"
    place.mkdir(parents=True)
    credential = Credential(
        role=Role.NODE,
        name=node,
        host=address.host,
        port=address.port,
        account=address.account,
        password=address.password,
    )
    write_credential(place / "credential.json", credential)
    program = Path(sys.executable).with_name("mesh-host")
    with _running([str(program), "run", "--root", str(root)]) as process:
        _until(lambda: _has_applied(broker), "the host applies what it was sent")
        time.sleep(SETTLES)
        return _resident(process)


def _has_applied(broker: Broker) -> bool:
    delivery = broker.take(1.0)
    if delivery is None:
        return False
    delivery.ack()
    assert isinstance(delivery.content, bytes)
    return delivery.kind is Kind.REPORT and read_said(delivery.content).applied == 1


def _resident_of_bare(address: RabbitAddress, node: str) -> int:
    from mesh_adapters.broker.topology import declarations_of

    host = f"{address.host}:{address.port}"
    words = [host, address.account, address.password, declarations_of(node)]
    with _running([sys.executable, "-c", BARE, *words], subprocess.PIPE) as process:
        assert process.stdout is not None
        if process.stdout.readline() != b"connected\n":
            raise AssertionError("the bare program did not connect")
        time.sleep(SETTLES)
        return _resident(process)


@contextmanager
def _running(command: list[str], stdout: int = subprocess.DEVNULL) -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(command, stdout=stdout) as process:
        try:
            yield process
        finally:
            process.kill()


def _resident(process: subprocess.Popen[bytes]) -> int:
    """Kilobytes, as the system counts them."""
    lines = Path(f"/proc/{process.pid}/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmRSS"))


def _until(so: Callable[[], bool], what: str) -> None:
    ends = time.monotonic() + SECONDS
    while not so():
        if time.monotonic() > ends:
            raise AssertionError(f"not so in time: {what}")


def _declaration(node: str) -> bytes:
    resources = [
        Resource(kind="file", path=f"/srv/{number:03}", attributes_json={"content": f"{number}\n" * 400})
        for number in range(FILES)
    ]
    module = DeclaredModule(name="many", version="1", resources=resources)
    return json.dumps(declaration_to_data(Declaration(node=node, generation=1, modules=[module]))).encode()
