"""Four machines as real ones but for the kernel that they share, two of them behind routers."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from attrs import frozen

from tests.integration.broker.server import RabbitServer
from tests.integration.cli.program import mesh, ok
from tests.integration.lab.database import new_cluster
from tests.integration.lab.machine import LabMachine
from tests.integration.lab.many import running
from tests.integration.lab.network import LabNetwork
from tests.integration.lab.way import Way
from tests.integration.overlay.packages import repository
from tests.integration.overlay.page import Follower

NAMES = ("attic", "nas", "pi", "vps")
STATED = {
    "nas": """echo '{"smart": true}' >/etc/mesh-host/capabilities.json""",
    "attic": """echo '{"smart": true}' >/etc/mesh-host/capabilities.json""",
    "vps": """echo '{"public-address": true, "smtp-out": true}' >/etc/mesh-host/capabilities.json""",
}
TIMESYNCD = b"[Service]\nExecStart=/bin/sleep infinity\n[Install]\nWantedBy=multi-user.target\n"
LONG = 120.0


def until(so: Callable[[], Any], what: str, seconds: float = LONG) -> Any:
    """Wait until something is so; what it was."""
    ends = time.monotonic() + seconds
    while not (found := so()):
        assert time.monotonic() < ends, f"not so in time: {what}"
        time.sleep(0.3)
    return found


@frozen
class Four:
    """The machines, by the name of their node, in their network."""

    machines: dict[str, LabMachine]
    network: LabNetwork
    way: Way
    """To the broker, which is on 203.0.113.1."""
    follow: Follower

    def __getitem__(self, node: str) -> LabMachine:
        return self.machines[node]

    def states(self) -> dict[str, dict[str, Any]]:
        """What the control plane knows of each node, with what waits taken in before."""
        mesh("collect")
        found: dict[str, dict[str, Any]] = ok("status", "--no-look", "--json").json["nodes"]
        return found

    def addresses(self) -> dict[str, str]:
        """By node, its address in the overlay."""
        nodes = ok("network", "show", "--json").json["nodes"]
        return {name: node["address"] for name, node in nodes.items()}

    def page(self) -> str:
        """The web application, as it is seen on the machine that runs it."""
        return self.follow.on(self["pi"], "curl http://127.0.0.1:8080/")


@contextmanager
def four_machines(server: RabbitServer, folder: Path) -> Iterator[Four]:
    """They run, are plugged in, and know of no mesh."""
    machines = {name: LabMachine(name) for name in NAMES}
    with ExitStack() as stack:
        network = stack.enter_context(LabNetwork())
        stack.enter_context(running(*machines.values()))
        home = network.site("192.168.1.0/24", outside="203.0.113.2")
        garden = network.site("192.168.1.0/24", outside="203.0.113.3")
        network.attach(machines["vps"], address="203.0.113.10")
        network.attach(machines["attic"], address="203.0.113.20")
        network.attach(machines["nas"], to=home, address="192.168.1.2")
        network.attach(machines["pi"], to=garden, address="192.168.1.3")
        packages = repository(folder / "repository")
        for machine in machines.values():
            packages.install_into(machine)
            # A machine of the lab has no clock of its own to set.
            machine.run(["rm", "--force", "/etc/systemd/system/systemd-timesyncd.service"])
            machine.write("/etc/systemd/system/systemd-timesyncd.service", TIMESYNCD)
            machine.run(["systemctl", "daemon-reload"])
        for name in ("nas", "attic"):
            new_cluster(machines[name])
        way = network.way(server.port, port=5672)
        yield Four(machines, network, way, Follower(folder))


def join(four: Four, node: str) -> None:
    """Invite a machine, and have it join."""
    follow, machine = four.follow, four[node]
    follow.mesh("mesh node invite nas --admin admin.json --reach amqp://203.0.113.1", nas=node)
    file = follow.folder / f"{node}.invitation.json"
    machine.write(f"/root/{node}.invitation.json", file.read_bytes(), mode=0o600)
    machine.run(["mkdir", "-p", "/etc/mesh-host"])
    if node in STATED:
        follow.on(machine, STATED[node])
    follow.on(machine, "mesh-host join nas.invitation.json", nas=node)


def services(node: str) -> list[str]:
    """The services that the modules of a node say are running."""
    modules = {module["name"]: module for module in json.loads(ok("export").out)["modules"]}
    planned = ok("plan", node, "--json").json["nodes"][node]["modules"]
    return [
        resource["name"]
        for module in planned
        for resource in modules[module["name"]].get("resources", ())
        if resource["kind"] == "service"
    ]
