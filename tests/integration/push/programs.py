"""The programs themselves over a RabbitMQ: a store, `mesh` and `mesh serve`, and machines under directories.

What a fault is done to runs as a process of its own, which is ended by its process id. What is only asked
meanwhile (`mesh status`, `mesh-host status`) runs inside the test, for speed.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import amqp  # type: ignore[import-untyped]
from attrs import frozen

from mesh_adapters.broker import topology
from mesh_adapters.broker.credential import Credential, Role, write_credential
from mesh_adapters.broker.opening import open_broker, open_host
from mesh_core.ports import HostBroker, Kind
from tests.integration.broker.harness import raw
from tests.integration.broker.server import RabbitServer
from tests.integration.cli.program import Ran, command, environment, mesh, ok
from tests.integration.cli.program import process as mesh_process
from tests.integration.host.cli.program import PROGRAM, host

DYING = "tests.integration.push.dying"
LONG = 30.0
"""Seconds for what has to be so in the end, on a machine that has other things to do as well."""


def until(so: Callable[[], object], what: str, seconds: float = LONG) -> None:
    """Wait until something is so."""
    ends = time.monotonic() + seconds
    while not so():
        assert time.monotonic() < ends, f"not so in time: {what}"
        time.sleep(0.1)


Event = dict[str, Any]


class Talking:
    """A process that says what it does, an object a line. Somebody always reads: it never waits for that."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self.process = process
        self.said: list[Event] = []
        self._lines: list[str] = []
        self._readers = [threading.Thread(target=self._read), threading.Thread(target=self._read_lines)]

    def until(self, so: Callable[[Event], object], what: str) -> None:
        """Wait until it has said something of which that is so."""
        until(lambda: any(so(event) for event in [*self.said]), what)

    def kill(self) -> None:
        """As `kill -9`; it is gone once this returns."""
        self.process.kill()
        self.process.wait(LONG)

    @property
    def highest_memory(self) -> int:
        """The most that it ever had in memory, in MB."""
        lines = Path(f"/proc/{self.process.pid}/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) // 1024

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if line.endswith(b"\n"):  # what was cut by its end is no object
                self.said.append(json.loads(line))

    def _read_lines(self) -> None:
        assert self.process.stderr is not None
        self._lines += [line.decode() for line in self.process.stderr]

    def __enter__(self) -> Talking:
        for reader in self._readers:
            reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        for reader in self._readers:
            reader.join(LONG)
        print(*self._lines)  # what it said to people is shown with a test that fails


@frozen
class Machine:
    """A machine under a directory, joined as a node."""

    root: Path
    node: str = "pi"

    @contextmanager
    def running(self, every: float = 60.0) -> Iterator[Talking]:
        """`mesh-host run --json`, which does not outlive the test, and says each of its reports."""
        argv = ["run", "--root", str(self.root), "--every", str(every), "--json"]
        with spawned([sys.executable, "-c", PROGRAM, *argv]) as process, Talking(process) as talking:
            yield talking

    def once(self) -> Ran:
        """`mesh-host run --once`."""
        return host("run", "--once", "--root", self.root)

    @property
    def status(self) -> dict[str, Any]:
        """What its journal says; nothing yet where it has none."""
        ran = host("status", "--root", self.root, "--json")
        return ran.json if ran.code == 0 else {"generation": None, "state": "never"}

    @property
    def generation(self) -> int:
        """The generation that it took last, by its journal; 0 for none."""
        return self.status["generation"] or 0

    def text(self, path: str) -> str | None:
        """What stands in a file of it."""
        try:
            return (self.root / path.lstrip("/")).read_text()
        except FileNotFoundError:
            return None


@frozen
class Plane:
    """A control plane: its folder, and its RabbitMQ."""

    folder: Path
    server: RabbitServer

    @property
    def store(self) -> Path:
        return self.folder / "mesh.db"

    def has(self, modules: Iterable[dict[str, Any]], nodes: Iterable[dict[str, Any]] = ()) -> None:
        """Make the mesh so. The queues of its nodes are made, as setting up a broker does."""
        told = {"format": 1, "modules": [*modules], "nodes": [*nodes]}
        assert mesh("import", "-", stdin=json.dumps(told)).code == 0
        with closing(open_broker(self.server.address())) as broker:
            broker.add_nodes(self.nodes())

    def restore(self, backup: str) -> None:
        """Put a backup in the place of the store, which is lost."""
        for lost in self.folder.glob("mesh.db*"):
            lost.unlink()
        (self.folder / backup).rename(self.store)

    def nodes(self) -> list[str]:
        return [*ok("status", "--json").json["nodes"]]

    def forget(self) -> None:
        """Remove every queue."""
        with closing(open_broker(self.server.address())) as broker:
            for node in {"pi", "nas", *self.nodes()}:
                broker.remove_node(node)

    def mesh(self, *arguments: object) -> Ran:
        """`mesh` as a process of its own, to its end."""
        return mesh_process(*arguments)

    @contextmanager
    def begun(self, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
        """`mesh` as a process that still runs."""
        with spawned([*command(), *map(str, arguments)]) as process:
            yield process

    @contextmanager
    def serving(self) -> Iterator[Talking]:
        """`mesh serve --json`, at work."""
        with self.begun("serve", "--json") as process, Talking(process) as talking:
            talking.until(lambda event: event["event"] == "serving", "it serves")
            yield talking

    @contextmanager
    def dying(self, at: str, act: str, *arguments: object) -> Iterator[subprocess.Popen[bytes]]:
        """`mesh` as a process that kills (`KILL`) or stops (`STOP`) itself at a step; see `dying.py`."""
        with spawned([sys.executable, "-m", DYING, at, act, *map(str, arguments)]) as process:
            yield process

    def killed(self, at: str, *arguments: object) -> None:
        """`mesh` as a process that is killed at that step, and really was there."""
        with self.dying(at, "KILL", *arguments) as process:
            assert process.wait(LONG) == -9, f"it never came to: {at}"

    def state(self, node: str) -> dict[str, Any]:
        """What `mesh status` says of a node."""
        found: dict[str, Any] = ok("status", node, "--json").json["nodes"][node]
        return found

    def stands(self, node: str) -> tuple[int | None, int | None, str]:
        """What a node wants and has, and its state."""
        found = self.state(node)
        return found["wants"], found["has"], found["state"]

    def machine(self, node: str = "pi", name: str | None = None) -> Machine:
        """A machine that joined as that node, with the node's own account (`pi` and `nas` have one)."""
        root = self.folder / f"machine-{name or node}"
        (root / Role.NODE.place).parent.mkdir(parents=True)
        server = self.server
        credential = Credential(
            role=Role.NODE,
            name=node,
            host="127.0.0.1",
            port=server.port,
            account=node,
            password=f"{node}-secret",
        )
        write_credential(root / Role.NODE.place, credential)
        return Machine(root, node)

    def end_of(self, node: str) -> HostBroker:
        """A bare end of a node's, with the account of the control plane, for messages of the test's own."""
        return open_host(self.server.address(), node)

    def put(self, node: str, kind: Kind, body: bytes, **more: Any) -> None:
        """Put something into a queue that nothing of the mesh would; it is confirmed."""
        declared = kind is Kind.DECLARATION
        with raw(self.server.address()) as channel:
            channel.confirm_select()
            channel.basic_publish_confirm(
                amqp.Message(body, **({"user_id": "control"} | more)),
                exchange=topology.NODES if declared else topology.exchange_of(node),
                routing_key=node if declared else str(kind),
                mandatory=True,
            )

    def waiting(self, node: str) -> bytes:
        """The declaration that waits for a node, left where it is."""
        with closing(self.end_of(node)) as end:
            delivery = end.take(LONG)
            assert delivery is not None
            assert isinstance(delivery.content, bytes)
            return delivery.content

    def purge(self, queue: str) -> int:
        """Empty a queue, as anybody with the right to read from it may: how many messages went."""
        with raw(self.server.address()) as channel:
            gone: int = channel.queue_purge(queue)
        return gone


@contextmanager
def spawned(argv: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    """A process with pipes, killed by its process id where it still runs in the end."""
    with subprocess.Popen(
        argv,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=environment(),
    ) as process:
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()


def is_stopped(process: subprocess.Popen[bytes]) -> None:
    """Wait until a process has stopped itself; it may be continued then."""
    found = os.waitid(os.P_PID, process.pid, os.WSTOPPED | os.WEXITED | os.WNOWAIT)
    assert found is not None
    assert found.si_code == os.CLD_STOPPED, "it ended without having stopped"


def module(name: str, *files: tuple[str, str], version: str = "1", **more: Any) -> dict[str, Any]:
    """A module of files, each given as its path and its content."""
    resources = [{"kind": "file", "path": path, "content": content} for path, content in files]
    return {"name": name, "version": version, "resources": resources} | more


def motd(version: int) -> dict[str, Any]:
    """A module of one file, in which its version stands."""
    return module("motd", ("/etc/motd", f"{version}\n"), version=str(version))


def node(name: str, *assigned: str) -> dict[str, Any]:
    return {"name": name, "assign": list(assigned)}
