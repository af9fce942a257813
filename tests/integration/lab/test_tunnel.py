"""Two machines, one of them in a household, are joined by WireGuard: what they say is not seen in between."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.integration.lab.machine import LabMachine
from tests.integration.lab.many import running
from tests.integration.lab.network import LabNetwork
from tests.integration.lab.talk import ask, echoing, listening_on

pytestmark = pytest.mark.usefixtures("tunnels")

TELLTALE = "the-cat-is-in-the-bag"
PORT = 51820

# By hand, as somebody without a mesh does it. The kernel has no WireGuard of its own: a program has.
UP = """
set -e
wireguard-go wg0
wg set wg0 private-key /etc/wireguard/key "$@"
ip address add "$ADDRESS/24" dev wg0
ip link set wg0 up
"""
NEW_KEY = "umask 077 && wg genkey >/etc/wireguard/key && wg pubkey </etc/wireguard/key"


@pytest.fixture(scope="module")
def ends(network: LabNetwork) -> Iterator[tuple[LabMachine, LabMachine]]:
    """The laptop in a household, 10.9.0.2 in the tunnel, and the server that it knows, 10.9.0.1."""
    laptop, server = LabMachine("laptop"), LabMachine("server")
    with running(laptop, server):
        home = network.site("192.168.1.0/24", outside="203.0.113.10")
        network.attach(laptop, to=home, address="192.168.1.10")
        network.attach(server, address="203.0.113.20")
        keys = [machine.run(["sh", "-c", NEW_KEY]).stdout.strip() for machine in (laptop, server)]
        # The server learns from the laptop where that is to be found.
        up(server, "10.9.0.1", "listen-port", str(PORT), "peer", keys[0], "allowed-ips", "10.9.0.2/32")
        there = ["endpoint", f"203.0.113.20:{PORT}", "persistent-keepalive", "25"]
        up(laptop, "10.9.0.2", "peer", keys[1], "allowed-ips", "10.9.0.0/24", *there)
        yield laptop, server


def up(machine: LabMachine, address: str, *settings: str) -> None:
    machine.run(["sh", "-c", UP, "sh", *settings], env={"ADDRESS": address})


def ping(machine: LabMachine, address: str) -> bool:
    return machine.run(["ping", "-c", "1", "-W", "2", address], check=False).returncode == 0


def test_a_machine_may_make_devices_for_tunnels(ends: tuple[LabMachine, LabMachine]) -> None:
    for machine in ends:
        assert machine.run(["stat", "-c", "%t %T %a", "/dev/net/tun"]).stdout == "a c8 666\n"
        assert "wg0" in machine.run(["wg", "show", "interfaces"]).stdout


def test_both_ends_are_reached_through_the_tunnel(ends: tuple[LabMachine, LabMachine]) -> None:
    laptop, server = ends
    assert ping(laptop, "10.9.0.1")
    assert ping(server, "10.9.0.2"), "the way into the household is open as long as the laptop keeps it so"
    assert not ping(server, "203.0.113.10")


def test_what_goes_through_the_tunnel_is_not_seen_and_what_goes_beside_it_is(
    network: LabNetwork, ends: tuple[LabMachine, LabMachine]
) -> None:
    laptop, server = ends
    with echoing(listening_on(server, 80)):
        with network.capture() as inside:
            assert ask(laptop, "10.9.0.1", 80, TELLTALE) == f"10.9.0.2 said {TELLTALE}"
        with network.capture() as beside:
            assert ask(laptop, "203.0.113.20", 80, TELLTALE) == f"203.0.113.10 said {TELLTALE}"
    assert TELLTALE.encode() not in inside.pcap
    assert TELLTALE.encode() in beside.pcap
    # It did cross: by packets of the tunnel, and no others.
    assert {frame[23] for frame in inside.frames if frame[12:14] == b"\x08\x00"} == {17}
    assert PORT.to_bytes(2, "big") in {frame[36:38] for frame in inside.frames}


def test_a_large_message_arrives_through_the_tunnel(ends: tuple[LabMachine, LabMachine]) -> None:
    laptop, server = ends
    with echoing(listening_on(server, 80)), ThreadPoolExecutor(4) as pool:
        asking = [pool.submit(ask, laptop, "10.9.0.1", 80, "x" * 300_000) for _ in range(4)]
        assert all(len(each.result()) > 300_000 for each in asking)


def test_a_tunnel_is_there_again_after_the_machine_was_cut_off_or_taken_away(
    network: LabNetwork, ends: tuple[LabMachine, LabMachine]
) -> None:
    laptop, _ = ends
    network.cut(laptop)
    assert not ping(laptop, "10.9.0.1")
    network.mend(laptop)
    assert ping(laptop, "10.9.0.1")
    network.detach(laptop)
    assert not ping(laptop, "10.9.0.1")
    # In another household wireguard-go goes on sending from its old address, for some 15 seconds.
    network.attach(laptop, to=network.site("192.168.1.0/24", outside="203.0.113.11"), address="192.168.1.10")
    assert ping(laptop, "10.9.0.1")
