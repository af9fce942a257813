"""> Only the network part goes back when the broker is lost after a change, only if it was in reach before,
> and the same generation is not tried again. (Design, part 11.)

A daemon on a machine, and a broker that it reaches over the network that is being changed.
"""

from __future__ import annotations

import json
import queue
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from subprocess import PIPE
from threading import Thread
from typing import Any

import pytest
from attrs import define, evolve, field

from mesh_core import Resource
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.model.network import DeclaredNetwork
from mesh_core.wire.declaration import declaration_to_data
from tests.integration.host.network.site import ENVIRONMENT, Host
from tests.integration.lab.machine import ENVIRONMENT as MACHINES
from tests.integration.lab.talk import echoing, listening_on

BROKER = "203.0.113.10"
LONG = 30.0
UNDONE = (
    "the network of generation 2 was undone: the broker was not reached within 60 s of it; "
    "what was there before holds"
)
CUTS = {"range": "203.0.113.8/29", "names": ()}
"""The broker is in this range: what is sent there goes into the tunnel, and nobody takes it out."""


@define
class Daemon:
    """A daemon at work, with the reports that it sent."""

    process: subprocess.Popen[str]
    reports: queue.Queue[dict[str, Any]] = field(factory=queue.Queue)
    seen: list[dict[str, Any]] = field(factory=list)

    def send(self, declaration: Declaration) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(f"{json.dumps(declaration_to_data(declaration))}\n")
        self.process.stdin.flush()

    def until(self, so: Callable[[dict[str, Any]], bool], what: str) -> dict[str, Any]:
        """The next report of which this is so."""
        while True:
            try:
                self.seen.append(self.reports.get(timeout=LONG))
            except queue.Empty:
                raise AssertionError(f"not so in time: {what}; the last was {self.seen[-1:]}") from None
            if so(self.seen[-1]):
                return self.seen[-1]

    def until_done(self, generation: int) -> dict[str, Any]:
        """How it stands once a generation was brought to its end."""
        return self.until(
            lambda report: report["applied"] == generation and report["doing"] != "applying",
            f"{generation} is done",
        )

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self.reports.put(json.loads(line))


@contextmanager
def daemon(host: Host, port: int, *, minute: float = 3.0) -> Iterator[Daemon]:
    enter = f"nsenter --target {host.machine.pid} --mount --uts --ipc --net --pid --".split()
    argv = ["-m", "tests.integration.host.network.agent_driver", str(minute), BROKER, str(port)]
    python = ENVIRONMENT | MACHINES
    with subprocess.Popen(
        [*enter, sys.executable, *argv], stdin=PIPE, stdout=PIPE, env=python, text=True
    ) as process:
        running = Daemon(process)
        reading = Thread(target=running._read, daemon=True)
        reading.start()
        try:
            yield running
        finally:
            assert process.stdin is not None
            process.stdin.close()
            process.wait(timeout=90)
            reading.join(timeout=10)


@pytest.fixture
def port(two: tuple[Host, Host]) -> Iterator[int]:
    """Where the broker answers, on `nas`."""
    with echoing(listening_on(two[0].machine, 0)) as found:
        yield found


@pytest.fixture
def host(pi: Host) -> Iterator[Host]:
    """A machine on which nothing was ever declared."""
    yield pi
    pi.machine.run(["rm", "-rf", "/etc/motd.d/trial"])
    pi.does("leave")
    pi.machine.run(["rm", "-rf", "/var/lib/mesh-host"])


def declared(generation: int, network: DeclaredNetwork | None, words: str = "") -> Declaration:
    """A declaration with a file beside its network."""
    file = Resource(kind="file", path="/etc/motd.d/trial", attributes_json={"content": f"{words}\n"})
    module = DeclaredModule(name="words", version="1", resources=[file])
    return Declaration(node="pi", generation=generation, network=network, modules=[module])


def good(host: Host, nas: Host) -> DeclaredNetwork:
    return host.network(nas.peer("nas", f"{BROKER}:51820"))


def bad(host: Host) -> DeclaredNetwork:
    return Host(host.machine, "203.0.113.9").network(**CUTS)


def undone(report: dict[str, Any]) -> bool:
    return any("was undone" in line for line in report["why"])


def test_a_change_that_cuts_it_off_is_undone_and_the_rest_is_applied(
    host: Host, nas: Host, port: int
) -> None:
    with daemon(host, port) as running:
        running.send(declared(1, good(host, nas), "one"))
        report = running.until_done(1)
        assert (report["doing"], report["why"], report["key"]) == ("applied", [], host.key())
        running.send(declared(2, bad(host), "two"))
        report = running.until_done(2)
    assert (report["doing"], report["generation"]) == ("failed", 2)
    assert report["why"] == [UNDONE]
    assert "10.77.0.2/24" in host.shown()
    assert host.machine.read("/etc/motd.d/trial") == b"two\n"
    with daemon(host, port) as running:
        report = running.until_done(2)
        assert undone(report), "it is told as long as it is so"
        assert host.shown().split()[2] == "10.77.0.2/24", "and not tried again"
        running.send(declared(3, evolve(good(host, nas), port=5555), "three"))
        report = running.until_done(3)
    assert (report["doing"], report["why"]) == ("applied", [])


def test_where_there_was_none_before_there_is_none_again(host: Host, port: int) -> None:
    with daemon(host, port) as running:
        running.send(declared(1, bad(host), "one"))
        assert undone(running.until_done(1))
    assert host.shown() == ""
    assert host.machine.read("/etc/motd.d/trial") == b"one\n"


def test_one_that_is_reached_again_stays(host: Host, nas: Host, port: int) -> None:
    """Nothing comes while the interface is made; what counts is what is sent after that."""
    with daemon(host, port, minute=60) as running:
        for generation, network in enumerate((good(host, nas), host.network(), None, host.network()), 1):
            running.send(declared(generation, network))
            report = running.until_done(generation)
            assert (report["doing"], report["why"]) == ("applied", []), generation


def test_where_it_was_not_reached_before_nothing_is_undone(host: Host, nas: Host, port: int) -> None:
    """A declaration that is saved, and a broker that is gone since: that the change did not do."""
    nft = "add table inet cut; add chain inet cut out { type filter hook output priority 0; }; "
    nft += f"add rule inet cut out tcp dport {port} drop"
    with daemon(host, port) as running:
        running.send(declared(1, good(host, nas), "one"))
        running.until_done(1)
    content = json.dumps(declaration_to_data(declared(2, host.network(port=5555), "two")))
    host.machine.write("/var/lib/mesh-host/declaration-came.json", content.encode(), mode=0o600)
    host.machine.run(["nft", nft])
    try:
        with daemon(host, port) as running:
            report = running.until_done(2)
    finally:
        host.machine.run(["nft", "delete table inet cut"])
    assert (report["doing"], report["why"]) == ("applied", [])
    assert host.machine.run(["wg", "show", "mesh0", "listen-port"]).stdout == "5555\n"


@pytest.mark.parametrize("mended", [False, True])
def test_a_daemon_that_is_killed_in_the_minute_goes_on_with_it(
    host: Host, nas: Host, port: int, mended: bool
) -> None:
    with daemon(host, port, minute=60) as running:
        running.send(declared(1, good(host, nas), "one"))
        running.until_done(1)
        running.send(declared(2, bad(host), "two"))
        host.until(lambda: "203.0.113.9/29" in host.shown(), "it is being tried")
        host.machine.run(["pkill", "-KILL", "-f", "agent_driver"])
    assert host.does("standing").said["trying"] == 2
    if mended:
        # The way to the broker is not the tunnel any more: somebody put it right.
        host.machine.run(["ip", "route", "add", f"{BROKER}/32", "dev", "eth0"])
    try:
        with daemon(host, port, minute=3) as running:
            report = running.until_done(2)
    finally:
        host.machine.run(["ip", "route", "del", f"{BROKER}/32", "dev", "eth0"], check=False)
    assert undone(report) is not mended
    assert ("203.0.113.9/29" in host.shown()) is mended
    assert host.machine.read("/etc/motd.d/trial") == b"two\n"


def test_what_was_deleted_is_put_right_in_the_ordinary_round_and_reported(
    host: Host, nas: Host, port: int
) -> None:
    with daemon(host, port) as running:
        running.send(declared(1, good(host, nas), "one"))
        running.until_done(1)
        host.machine.run(["ip", "link", "delete", "mesh0"])
        running.send(declared(1, good(host, nas), "one"))  # as it came: the daemon looks at once
        report = running.until(lambda report: report["doing"] == "drifted", "it is put right")
    assert report["why"] == ["the network was put back: somebody had changed it"]
    assert "10.77.0.2/24" in host.shown()
