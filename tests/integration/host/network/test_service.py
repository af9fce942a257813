"""The daemon as the service that it is on a machine with systemd: restarted, and started with the machine."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.host.unit import UNIT
from mesh_core import Resource
from mesh_core.model.declaration import Declaration, DeclaredModule
from mesh_core.model.network import DeclaredNetwork
from mesh_core.wire.declaration import declaration_to_data
from tests.integration.host.network.site import ENVIRONMENT, Host

PROGRAM, FOLDER = "/usr/local/bin/played-host", "/root/broker"
BOOT = "/proc/sys/kernel/random/boot_id"


class Service:
    """The service of a machine, and a broker that only it speaks to."""

    def __init__(self, host: Host) -> None:
        self.host, self.machine = host, host.machine

    def install(self) -> None:
        """What `mesh-host join` leaves, with another program: its unit, word for word, and a credential."""
        variables = " ".join(f"{name}={value}" for name, value in ENVIRONMENT.items())
        python = f"{sys.executable} -m tests.integration.host.network.service_driver {FOLDER}"
        self.machine.write(PROGRAM, f"#!/bin/sh\nexec env {variables} {python}\n".encode(), mode=0o755)
        self.machine.write(f"/etc/systemd/system/{UNIT.name}", UNIT.text(PROGRAM).encode())
        self.machine.write("/etc/mesh-host/credential.json", b"{}", mode=0o600)
        self.machine.run(["systemctl", "daemon-reload"])

    def control(self, what: str) -> None:
        self.machine.run(["systemctl", what, UNIT.name])

    def broker(self, there: bool) -> None:
        if there:
            self.machine.write(f"{FOLDER}/broker", b"")
        else:
            self.machine.run(["rm", "-f", f"{FOLDER}/broker", f"{FOLDER}/reports"])

    def send(self, generation: int, network: DeclaredNetwork) -> None:
        words = Resource(
            kind="file", path="/etc/motd.d/words", attributes_json={"content": f"{generation}\n"}
        )
        module = DeclaredModule(name="words", version="1", resources=[words])
        told = Declaration(node="nas", generation=generation, network=network, modules=[module])
        self.machine.write(f"{FOLDER}/declaration.json", json.dumps(declaration_to_data(told)).encode())

    def reports(self) -> list[dict[str, Any]]:
        """What the broker has got."""
        if not self.machine.exists(f"{FOLDER}/reports"):
            return []
        return [json.loads(line) for line in self.machine.read(f"{FOLDER}/reports").splitlines()]

    def until_applied(self, generation: int) -> dict[str, Any]:
        def applied() -> bool:
            return any(one["applied"] == generation and one["doing"] != "applying" for one in self.reports())

        self.host.until(applied, f"{generation} is brought to its end")
        return self.reports()[-1]

    def link(self) -> bytes:
        """What tells this interface from one that is made anew."""
        return self.machine.read("/sys/class/net/mesh0/ifindex")


@pytest.fixture
def service(nas: Host) -> Iterator[Service]:
    """A machine that has joined, whose service does not run yet."""
    made = Service(nas)
    made.install()
    yield made
    made.control("stop")
    nas.machine.run(["sh", "-c", f"rm -rf {FOLDER} /var/lib/mesh-host /etc/mesh-host/credential.json"])
    nas.machine.run(["rm", "-f", f"/etc/systemd/system/{UNIT.name}", "/etc/motd.d/words"])
    nas.machine.run(["systemctl", "daemon-reload"])


def test_a_restart_of_the_service_is_none_of_the_network(service: Service, pi: Host) -> None:
    """What is in its own unit ends with it, and `wireguard-go` is not."""
    network = service.host.network(pi.peer("pi", "203.0.113.20:51820"))
    pi.told(pi.network(service.host.peer("nas", "203.0.113.10:51820")))
    service.broker(True)
    service.send(1, network)
    service.control("start")
    report = service.until_applied(1)
    assert (report["doing"], report["why"], report["key"]) == ("applied", [], service.host.key())
    assert service.host.pings("10.77.0.2")
    before = (service.host.wireguard_go(), service.link(), service.host.wg("latest-handshakes"))
    (process,) = before[0]
    unit = service.machine.read(f"/proc/{process}/cgroup").decode()
    assert unit.endswith("/mesh0-wireguard-go.service\n")
    service.broker(False)
    service.broker(True)
    service.control("restart")
    report = service.until_applied(1)
    assert (report["doing"], report["why"]) == ("applied", [])
    assert (service.host.wireguard_go(), service.link(), service.host.wg("latest-handshakes")) == before
    # And again, stopped for as long as a person likes.
    service.control("stop")
    assert service.host.pings("10.77.0.2")
    assert service.host.wireguard_go() == before[0]


def test_started_with_the_machine_it_makes_the_network_before_it_reaches_the_broker(service: Service) -> None:
    """Often the broker is only reached over it; and what a restart took away is no drift."""
    service.broker(True)
    service.send(1, service.host.network())
    service.control("start")
    service.until_applied(1)
    service.control("stop")
    service.broker(False)
    before = service.link()
    service.machine.run(["pkill", "-KILL", "-x", "wireguard-go"])
    service.host.until(lambda: not service.host.shown(), "its interface is gone")
    service.machine.write("/root/boot", b"another start\n")
    service.machine.run(["mount", "--bind", "/root/boot", BOOT])
    try:
        service.control("start")
        service.host.until(lambda: "10.77.0.1/24" in service.host.shown(), "it is made again")
        assert service.link() != before
        assert service.reports() == []
        service.broker(True)
        report = service.until_applied(1)
        assert {(one["doing"], *one["why"]) for one in service.reports()} == {("applied",)}
        service.send(2, evolve(service.host.network(), port=5555))
        report = service.until_applied(2)
        assert (report["doing"], report["why"]) == ("applied", [])
    finally:
        service.machine.run(["umount", BOOT])
