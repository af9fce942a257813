"""> A change is applied without dropping unchanged peers.

What goes on between two machines while the network of one is changed, again and again.
"""

from __future__ import annotations

import base64
import re
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from attrs import evolve

from mesh_core.model.network import DeclaredNetwork, Peer
from tests.integration.host.network.site import Host, declared
from tests.integration.lab.machine import LabMachine
from tests.integration.lab.many import running
from tests.integration.lab.network import LabNetwork
from tests.integration.lab.talk import connect, echoing, listening_on, say

PORT = 51820
LATER = 100
"""So many answers later, one that did not come does not come any more."""
AT_NAS, AT_PI = f"203.0.113.10:{PORT}", f"203.0.113.20:{PORT}"


def stranger(number: int, endpoint: str | None = None) -> Peer:
    """A peer that nobody is."""
    key = base64.b64encode(bytes([number]) * 32).decode()
    return Peer(node=f"x{number}", key=key, addresses=[f"10.77.0.{number}"], endpoint=endpoint)


@contextmanager
def flood(host: Host, address: str, said: Path) -> Iterator[None]:
    """Packets as fast as they are answered, until some are that were sent later; `said` has each answer."""
    enter = f"nsenter --target {host.machine.pid} --net --".split()
    argv = [*enter, "ping", "-i", "0", address]
    with said.open("w") as out, subprocess.Popen(argv, stdout=out) as process:
        try:
            yield
            by_then = len(answered(said))
            host.until(lambda: len(answered(said)) > by_then + LATER, "packets are answered afterwards too")
        finally:
            process.send_signal(signal.SIGINT)
            process.wait(timeout=20)


def answered(said: Path) -> list[int]:
    """The numbers of the packets that were answered: from 1 on, and from 0 again after 65,535."""
    return [int(number) for number in re.findall(r"icmp_seq=(\d+) ttl=", said.read_text())]


def lost(numbers: list[int]) -> int:
    """How many packets were not answered, of those before the last that was: of others nobody knows yet."""
    at, found = 0, set()
    for number in numbers:
        at += (number - at + 0x8000) % 0x10000 - 0x8000
        found.add(at)
    return max(found) - len(found)


@pytest.mark.parametrize(
    ("numbers", "missing"), [([1, 2, 3], 0), ([1, 3], 1), ([2, 1, 1, 4], 1), ([*range(1, 65536), 0, 2], 1)]
)
def test_lost_is_what_was_not_answered_and_a_later_one_was(numbers: list[int], missing: int) -> None:
    assert lost(numbers) == missing


def test_a_change_of_others_loses_no_packet_and_ends_no_session(nas: Host, pi: Host, tmp_path: Path) -> None:
    to_pi = pi.peer("pi", AT_PI)
    alone = nas.network(to_pi)
    many = nas.network(to_pi, *(stranger(number, f"203.0.113.{number}:9") for number in range(100, 140)))
    nas.told(alone)
    pi.told(pi.network(nas.peer("nas", AT_NAS)))
    assert nas.pings("10.77.0.2")
    before = nas.wg("latest-handshakes"), nas.wireguard_go()
    changes = [declared(many if number % 2 else alone, number) for number in range(3, 63)]
    with echoing(listening_on(pi.machine, 80)), connect(nas.machine, "10.77.0.2", 80) as connection:
        assert say(connection, "before") == "10.77.0.1 said before"
        with flood(nas, "10.77.0.2", tmp_path / "said"):
            answers = nas.ask(*changes)
        assert say(connection, "after") == "10.77.0.1 said after"
    assert all(answer.changing and not answer.failed for answer in answers)
    told = {word for answer in answers for words in answer.changing for word in words}
    assert to_pi.key not in told, "what is told anew loses packets now and then: one of a few thousand"
    numbers = answered(tmp_path / "said")
    assert len(numbers) > 1000
    assert lost(numbers) == 0
    assert (nas.wg("latest-handshakes"), nas.wireguard_go()) == before


def test_a_peer_that_moved_about_stays_where_it_was_heard(nas: Host, pi: Host) -> None:
    to_pi = pi.peer("pi", AT_PI)
    nas.told(nas.network(to_pi))
    pi.told(pi.network(nas.peer("nas", AT_NAS)))
    pi.machine.run(["wg", "set", "mesh0", "listen-port", "5999"])
    assert pi.pings("10.77.0.1")
    moved = nas.wg("endpoints")[to_pi.key]
    assert moved == ["203.0.113.20:5999"]
    answer = nas.told(nas.network(to_pi, stranger(100, "203.0.113.100:9")), 2)
    assert answer.changing
    assert nas.wg("endpoints")[to_pi.key] == moved
    assert nas.pings("10.77.0.2")
    # Whoever declares another endpoint means it.
    nas.told(nas.network(evolve(to_pi, endpoint="203.0.113.20:6000")), 3)
    assert nas.wg("endpoints")[to_pi.key] == ["203.0.113.20:6000"]


def test_another_address_or_port_needs_no_new_interface(nas: Host, pi: Host) -> None:
    nas.told(nas.network(pi.peer("pi", AT_PI)))
    link, process = nas.machine.run(["cat", "/sys/class/net/mesh0/ifindex"]).stdout, nas.wireguard_go()
    moved = Host(nas.machine, "10.78.0.1")
    to_pi = evolve(pi.peer("pi", AT_PI), addresses=["10.78.0.2"])
    nas.told(moved.network(to_pi, range="10.78.0.0/24", port=5555), 2)
    assert nas.shown().split()[2] == "10.78.0.1/24"
    assert nas.machine.run(["wg", "show", "mesh0", "listen-port"]).stdout == "5555\n"
    # Within the same range, too, where the kernel deletes what came after an address along with it.
    nas.told(evolve(moved.network(to_pi, range="10.78.0.0/24", port=5555), address="10.78.0.9"), 3)
    assert nas.shown().split()[2] == "10.78.0.9/24"
    assert (nas.machine.run(["cat", "/sys/class/net/mesh0/ifindex"]).stdout, nas.wireguard_go()) == (
        link,
        process,
    )


def test_a_name_that_is_not_found_keeps_no_other_peer_away(nas: Host, pi: Host) -> None:
    """Nobody in the lab's network resolves a name; `find` says what would be found."""
    to_pi, lost = pi.peer("pi", f"pi.example:{PORT}"), stranger(100, "nowhere.example:9")
    network = nas.network(to_pi, lost)
    found = {to_pi.endpoint: AT_PI, lost.endpoint: ""}
    first = nas.told(network, 1, find=found)
    assert (first.failed, first.said["unsettled"]) == ([], True)
    assert first.notes == ["not found now, and looked for again: nowhere.example:9"]
    pi.told(pi.network(nas.peer("nas", AT_NAS)))
    assert nas.pings("10.77.0.2")
    assert nas.wg("endpoints")[lost.key] == ["(none)"]
    (later,) = nas.ask(declared(network, 2, find={**found, lost.endpoint: "203.0.113.100:9"}))
    assert (later.notes, later.said["unsettled"], len(later.changing)) == ([], False, 1)
    assert nas.wg("endpoints")[lost.key] == ["203.0.113.100:9"]
    # `nowhere` never answers, and is asked for again; `pi` does, and is not.
    (silent,) = nas.ask(declared(network, 3, find={}))
    assert silent.notes == ["not found now, and looked for again: nowhere.example:9"]


def test_a_relay_forwards_and_nobody_else(network: LabNetwork) -> None:
    """`left` and `right` do not find each other: the relay has both."""
    left, relay, right = LabMachine("left"), LabMachine("relay"), LabMachine("right")
    with running(left, relay, right):
        for number, machine in enumerate((left, relay, right)):
            network.attach(machine, address=f"203.0.113.{30 + number}")
        for version in ("4", "6"):
            _relays(left, relay, right, "10.77.0." if version == "4" else "fd77::")


def _relays(left: LabMachine, relay: LabMachine, right: LabMachine, prefix: str) -> None:
    given = {"range": f"{prefix}0/24" if "." in prefix else f"{prefix}/64"}
    hosts = [Host(machine, f"{prefix}{number}") for number, machine in enumerate((left, relay, right), 1)]
    on_relay = hosts[1].network(hosts[0].peer("left"), hosts[2].peer("right"), **given)
    assert not hosts[1].told(evolve(on_relay, relay=True), 1).failed
    for host, other in ((hosts[0], hosts[2]), (hosts[2], hosts[0])):
        peer = evolve(
            hosts[1].peer("relay", f"203.0.113.31:{PORT}", keepalive=1),
            addresses=[f"{prefix}2", other.address],
        )
        assert not host.told(host.network(peer, **given), 1).failed
    hosts[0].until(lambda: hosts[0].pings(hosts[2].address, seconds=1), "the relay forwards")
    before = forwarding(relay)
    assert not hosts[1].told(on_relay, 2).failed
    assert not hosts[0].pings(hosts[2].address, seconds=1)
    assert forwarding(relay) != before
    for host in hosts:
        assert not host.told(None, 3).failed


SETTINGS = [
    "net.ipv4.conf.all.forwarding",
    "net.ipv4.conf.mesh0.forwarding",
    "net.ipv6.conf.all.forwarding",
    "net.ipv6.conf.mesh0.force_forwarding",
    "net.ipv6.conf.eth0.accept_ra",
]


def forwarding(machine: LabMachine) -> dict[str, str]:
    """The settings that have to do with it; those that the kernel has."""
    said = machine.run(["sysctl", "--ignore", *SETTINGS]).stdout.splitlines()
    return dict(line.split(" = ") for line in said)


def test_what_forwards_for_another_reason_goes_on(nas: Host, pi: Host) -> None:
    """Containers on a machine want it to forward, and every interface that comes then does."""
    nas.machine.run(["sysctl", "-w", "net.ipv4.ip_forward=1"])
    network = nas.network(pi.peer("pi", AT_PI))
    nas.told(network)
    assert forwarding(nas.machine)["net.ipv4.conf.mesh0.forwarding"] == "1"
    nas.machine.run(["sysctl", "-w", "net.ipv4.ip_forward=0"])
    relay: DeclaredNetwork = evolve(network, relay=True)
    nas.told(relay, 2)
    shown = forwarding(nas.machine)
    assert (shown["net.ipv4.conf.mesh0.forwarding"], shown["net.ipv4.conf.all.forwarding"]) == ("1", "0")
    nas.told(network, 3)
    assert forwarding(nas.machine)["net.ipv4.conf.mesh0.forwarding"] == "0"
