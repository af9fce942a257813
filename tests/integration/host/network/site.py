"""Machines of the lab that have a network between them, each told what its part of the overlay is."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from subprocess import PIPE
from typing import Any

from attrs import field, frozen

from mesh_core.model.network import DeclaredNetwork, Peer
from mesh_core.wire.network import declared_to_data
from tests.integration.lab.binds import CHECKOUT
from tests.integration.lab.machine import ENVIRONMENT as MACHINES
from tests.integration.lab.machine import LabMachine

RANGE = "10.77.0.0/24"
DRIVER = (sys.executable, "-m", "tests.integration.host.network.driver")
ENVIRONMENT = {"PYTHONPATH": str(CHECKOUT), "PYTHONDONTWRITEBYTECODE": "1"}
WITHOUT_SYSTEMD = ("unshare", "--mount", "sh", "-c", 'mount -t tmpfs none /run/systemd && exec "$@"', "sh")
"""What is run behind this sees no systemd, as on a machine that has none."""


def _commands(ran: Iterable[Iterable[str]]) -> tuple[tuple[str, ...], ...]:
    return tuple(tuple(words) for words in ran)


@frozen(kw_only=True)
class Answer:
    """What a host made of something: how it stands, and the commands that it ran."""

    said: Any
    ran: tuple[tuple[str, ...], ...] = field(converter=_commands)

    @property
    def failed(self) -> list[str]:
        found: list[str] = self.said["failed"]
        return found

    @property
    def notes(self) -> list[str]:
        found: list[str] = self.said["notes"]
        return found

    @property
    def changing(self) -> list[tuple[str, ...]]:
        """The commands that do not only look."""
        looks = (("ip", "-json"), ("wg", "show"), ("sh", "-c"))
        return [words for words in self.ran if words[:2] not in looks]


@frozen
class Process:
    """A process of the host, in its machine."""

    running: subprocess.Popen[str]

    def ask(self, line: Mapping[str, Any]) -> Answer:
        """Have it do something."""
        assert self.running.stdin is not None
        assert self.running.stdout is not None
        self.running.stdin.write(f"{json.dumps(line)}\n")
        self.running.stdin.flush()
        return Answer(**json.loads(self.running.stdout.readline()))


@frozen
class Host:
    """A machine, and the address that it has in the overlay."""

    machine: LabMachine
    address: str
    before: Sequence[str] = ()

    def ask(self, *lines: Mapping[str, Any]) -> list[Answer]:
        """Have one process of the host do these things, one after the other."""
        text = "".join(f"{json.dumps(line)}\n" for line in lines)
        ran = self.machine.run([*self.before, *DRIVER], input=text, env=ENVIRONMENT)
        return [Answer(**json.loads(line)) for line in ran.stdout.splitlines()]

    def told(self, network: DeclaredNetwork | None, generation: int = 1, **more: Any) -> Answer:
        """A process that is told what its network is."""
        (answer,) = self.ask(declared(network, generation, **more))
        return answer

    def does(self, what: str, **more: Any) -> Any:
        (answer,) = self.ask({"do": what, **more})
        return answer

    def key(self) -> str:
        """The public key; it is made where there is none yet."""
        found: str = self.does("key").said
        return found

    def peer(self, node: str, endpoint: str | None = None, **more: Any) -> Peer:
        """This machine, as another is told of it."""
        return Peer(node=node, key=self.key(), addresses=[self.address], endpoint=endpoint, **more)

    def network(self, *peers: Peer, **more: Any) -> DeclaredNetwork:
        """What this machine is told: it has these peers."""
        names = [(peer.node, peer.addresses[0]) for peer in peers]
        given = {"range": RANGE, "names": names, **more}
        return DeclaredNetwork(address=self.address, peers=peers, **given)

    def pings(self, address: str, *, seconds: int = 3) -> bool:
        argv = ["ping", "-c", "1", "-W", str(seconds), address]
        return self.machine.run(argv, check=False).returncode == 0

    def shown(self) -> str:
        """What is there of an interface of ours; nothing where there is none."""
        return self.machine.run(["ip", "-brief", "address", "show", "mesh0"], check=False).stdout

    def wg(self, what: str) -> dict[str, list[str]]:
        """One kind of fact of every peer, as `wg show` says it."""
        lines = self.machine.run(["wg", "show", "mesh0", what]).stdout.splitlines()
        return {line.split()[0]: line.split()[1:] for line in lines}

    def hosts(self) -> bytes:
        return self.machine.read("/etc/hosts")

    @contextmanager
    def process(self) -> Iterator[Process]:
        """One process of the host that is asked one thing after the other."""
        enter = f"nsenter --target {self.machine.pid} --mount --uts --ipc --net --pid --".split()
        argv = [*enter, *self.before, *DRIVER]
        env = {**MACHINES, **ENVIRONMENT}
        with subprocess.Popen(argv, stdin=PIPE, stdout=PIPE, env=env, text=True) as running:
            yield Process(running)

    def until(self, so: Callable[[], bool], what: str) -> None:
        """Wait until something is so, which it has to be soon."""
        ends = time.monotonic() + 10
        while not so():
            assert time.monotonic() < ends, f"not so in time: {what}"
            time.sleep(0.02)

    def wireguard_go(self) -> list[str]:
        """The processes of WireGuard that are not the kernel's."""
        return self.machine.run(["pgrep", "-x", "wireguard-go"], check=False).stdout.split()


def declared(network: DeclaredNetwork | None, generation: int = 1, **more: Any) -> dict[str, Any]:
    """The line that tells it; `before` and `again` are whether the broker was reached, and is after that."""
    data = None if network is None else declared_to_data(network)
    return {"do": "declared", "generation": generation, "network": data, **more}
