"""The lab's network: who reaches whom, by which address, and what of it can be cut, blocked and seen."""

import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from attrs import frozen

from tests.integration.lab.machine import LabError, LabMachine
from tests.integration.lab.many import running
from tests.integration.lab.namespace import made_in
from tests.integration.lab.network import LabNetwork
from tests.integration.lab.segment import Site
from tests.integration.lab.talk import ask, connect, echoing, listening_on, listening_outside, say

HOSTS_OWN = (
    "ip -brief link",
    "ip -brief address",
    "ip -4 route show table all",
    "ip rule",
    "ip netns",
    "nft --stateless list ruleset",
)
IP_RECVERR = 11
"""Of linux/in.h: tell me what the network says of what I sent."""
SHORT = 0.4
"""Seconds after which we believe that nobody answers."""


@frozen
class Town:
    """A server on the internet, and a household with two machines."""

    network: LabNetwork
    home: Site
    server: LabMachine
    pi: LabMachine
    laptop: LabMachine


@pytest.fixture(scope="module")
def town(network: LabNetwork) -> Iterator[Town]:
    machines = [LabMachine(name) for name in ("server", "pi", "laptop")]
    with running(*machines):
        home = network.site("192.168.1.0/24", outside="203.0.113.10")
        server, pi, laptop = machines
        network.attach(server, address="203.0.113.20")
        network.attach(pi, to=home, address="192.168.1.11")
        network.attach(laptop, to=home, address="192.168.1.12")
        yield Town(network, home, server, pi, laptop)


def test_a_household_is_seen_as_one_address_and_nothing_gets_into_it(town: Town) -> None:
    with echoing(listening_on(town.server, 80)), echoing(listening_on(town.pi, 80)):
        assert ask(town.laptop, "192.168.1.11", 80) == "192.168.1.12 said hello"
        assert ask(town.laptop, "203.0.113.20", 80) == "203.0.113.10 said hello"
        assert ask(town.pi, "203.0.113.20", 80, "x" * 1_000_000).endswith("x" * 1_000_000)
        with pytest.raises(TimeoutError):
            ask(town.server, "203.0.113.10", 80, timeout=SHORT)
        # Not by its own address either, whoever is the gateway.
        town.server.run(["ip", "route", "add", "192.168.1.0/24", "via", "203.0.113.10"])
        with pytest.raises(TimeoutError):
            ask(town.server, "192.168.1.11", 80, timeout=SHORT)
        town.server.run(["ip", "route", "delete", "192.168.1.0/24"])


def test_nobody_is_reached_who_is_not_there(town: Town) -> None:
    with pytest.raises(OSError, match="unreachable"):
        connect(town.laptop, "198.51.100.1", 80)
    assert town.laptop.run(["getent", "hosts", "server"], check=False).stdout == ""
    # It is said to whoever asks often, so that nobody waits for an answer that does not come.
    with made_in(town.laptop.pid, lambda: socket.socket(type=socket.SOCK_DGRAM)) as asking:
        asking.setsockopt(socket.IPPROTO_IP, IP_RECVERR, 1)
        asking.connect(("198.51.100.1", 53))
        asking.settimeout(5)
        for _ in range(20):
            asking.send(b"where is server?")
            with pytest.raises(OSError, match="unreachable"):
                asking.recv(9)


def test_the_hosts_own_network_is_not_touched(town: Town) -> None:
    """Before there is a network, while there is one with somebody in it, and after it."""

    def seen() -> list[str]:
        shown = [
            subprocess.run(argv.split(), capture_output=True, text=True, check=False) for argv in HOSTS_OWN
        ]
        return [each.stdout + each.stderr for each in shown]

    before = seen()
    with LabNetwork() as other:
        site = other.site(outside="203.0.113.10")
        other.way(9)
        # As an old connection does it for a while: a namespace is there as long as anything uses it.
        using = made_in(site.namespace.pid, socket.socket)
        town.network.detach(town.laptop)
        other.attach(town.laptop, to=site, address="192.168.1.12")
        assert town.laptop.run(["cat", "/sys/class/net/eth0/mtu"]).stdout == "1500\n"
        assert seen() == before
    assert seen() == before
    assert "eth0" not in town.laptop.read("/proc/net/dev").decode()
    using.close()
    town.network.attach(town.laptop, to=town.home, address="192.168.1.12")


def test_a_machine_is_cut_off_and_comes_back_and_goes_elsewhere(town: Town) -> None:
    network, laptop = town.network, town.laptop
    with echoing(listening_on(town.server, 80)), connect(laptop, "203.0.113.20", 80) as kept:
        network.cut(laptop)
        with pytest.raises(TimeoutError):
            ask(laptop, "203.0.113.20", 80, timeout=SHORT)
        assert ask(town.pi, "203.0.113.20", 80) == "203.0.113.10 said hello"
        network.mend(laptop)
        assert ask(laptop, "203.0.113.20", 80) == "203.0.113.10 said hello"
        assert say(kept, "still here") == "203.0.113.10 said still here"
        network.attach(laptop, address="203.0.113.30")
        assert ask(laptop, "203.0.113.20", 80) == "203.0.113.30 said hello"
        network.attach(laptop, to=town.home, address="192.168.1.12")
        assert ask(laptop, "203.0.113.20", 80) == "203.0.113.10 said hello"


def test_what_is_sent_as_soon_as_a_machine_is_there_again_is_not_lost(town: Town) -> None:
    """By UDP, which nobody sends again. TCP would hide it."""

    def of(machine: LabMachine) -> socket.socket:
        return made_in(machine.pid, lambda: socket.socket(type=socket.SOCK_DGRAM))

    with of(town.laptop) as laptop, of(town.pi) as pi:
        pi.bind(("192.168.1.11", 9))
        pi.settimeout(SHORT)
        for _ in range(4):
            town.network.cut(town.laptop)
            town.network.mend(town.laptop)
            laptop.sendto(b"found", ("192.168.1.11", 9))
            assert pi.recv(9) == b"found"


def test_a_machine_that_comes_back_is_found_by_who_knew_it(town: Town) -> None:
    with echoing(listening_on(town.laptop, 80)):
        for _ in range(2):
            assert ask(town.pi, "192.168.1.12", 80) == "192.168.1.11 said hello"
            town.network.attach(town.laptop, to=town.home, address="192.168.1.12")
        assert ask(town.pi, "192.168.1.12", 80) == "192.168.1.11 said hello"


def test_a_machine_that_was_started_anew_is_attached_again(town: Town) -> None:
    town.laptop.close()
    town.laptop.start()
    town.network.attach(town.laptop, to=town.home, address="192.168.1.12")
    with echoing(listening_on(town.pi, 80)):
        assert ask(town.laptop, "192.168.1.11", 80) == "192.168.1.12 said hello"


def test_an_address_is_one_machines_and_of_its_wire(town: Town) -> None:
    with pytest.raises(LabError, match=r"203\.0\.113\.20 is taken"):
        town.network.attach(town.laptop, address="203.0.113.20")
    with pytest.raises(LabError, match=r"laptop is not attached"):
        town.network.cut(town.laptop)
    assert "eth0" not in town.laptop.read("/proc/net/dev").decode()
    # Nothing is left of one that came half way.
    town.laptop.run(["ip", "route", "add", "default", "dev", "lo"])
    with pytest.raises(LabError, match=r"route add default via"):
        town.network.attach(town.laptop, address="203.0.113.30")
    assert "eth0" not in town.laptop.read("/proc/net/dev").decode()
    town.laptop.run(["ip", "route", "delete", "default"])
    with pytest.raises(LabError, match=r"192\.168\.1\.1 is .* not of 203\.0\.113\.0/24"):
        town.network.attach(town.laptop, address="192.168.1.1")
    town.network.attach(town.laptop, to=town.home, address="192.168.1.12")


def test_there_is_a_way_to_a_port_of_the_host_until_it_is_closed(town: Town) -> None:
    with echoing(listening_outside()) as port:
        way = town.network.way(port, port=5672)
        # Whoever it is: outside, all of them are the way itself.
        assert ask(town.server, way.host, 5672, "hello") == "127.0.0.1 said hello"
        kept = connect(town.laptop, way.host, 5672)
        assert say(kept, "hello") == "127.0.0.1 said hello"
        way.close()
        with pytest.raises(ConnectionRefusedError):
            ask(town.laptop, way.host, 5672)
        with kept, pytest.raises(OSError, match=r"reset|Broken pipe"):
            say(kept, "still here?")
        way.open()
        assert ask(town.laptop, way.host, 5672) == "127.0.0.1 said hello"
        with pytest.raises(LabError, match=r"203\.0\.113\.1:5672 is open already"):
            way.open()
        way.close()


def test_a_way_is_closed_although_nobody_takes_what_is_sent_by_it(town: Town) -> None:
    with listening_outside() as silent:
        way = town.network.way(silent.getsockname()[1], port=5674)
        with connect(town.laptop, way.host, way.port, timeout=SHORT) as talking:
            with pytest.raises(TimeoutError):
                talking.sendall(b"x" * 64_000_000)
            way.close()


def test_one_machine_is_kept_from_a_way_and_the_others_are_not(town: Town) -> None:
    with echoing(listening_outside()) as port:
        way = town.network.way(port, port=5673)
        for machine in (town.pi, town.server):
            with connect(machine, way.host, way.port, timeout=SHORT) as kept:
                assert say(kept, "hello") == "127.0.0.1 said hello"
                town.network.block(machine, way)
                with pytest.raises(TimeoutError):
                    ask(machine, way.host, way.port, timeout=SHORT)
                with pytest.raises(TimeoutError):
                    say(kept, "hello?")
            assert ask(town.laptop, way.host, way.port) == "127.0.0.1 said hello"
            town.network.unblock(machine, way)
            assert ask(machine, way.host, way.port) == "127.0.0.1 said hello"
        way.close()


def test_who_is_kept_from_a_way_neither_hears_nor_is_heard_by_it(town: Town) -> None:
    with listening_outside() as listener:
        way = town.network.way(listener.getsockname()[1], port=5675)
        with connect(town.pi, way.host, way.port) as inside, listener.accept()[0] as outside:
            outside.sendall(b"one")
            assert inside.recv(9) == b"one"
            town.network.block(town.pi, way)
            for here, there in ((outside, inside), (inside, outside)):
                here.sendall(b"two")
                there.settimeout(SHORT)
                with pytest.raises(TimeoutError):
                    there.recv(9)
            # Neither has given up: both send it until it arrives.
            town.network.unblock(town.pi, way)
            for there in (inside, outside):
                there.settimeout(10)
                assert there.recv(9) == b"two"
        way.close()


def test_what_crosses_the_internet_is_seen_and_what_stays_at_home_is_not(town: Town, tmp_path: Path) -> None:
    with (
        echoing(listening_on(town.server, 80)),
        echoing(listening_on(town.pi, 80)),
        town.network.capture() as crossed,
        town.network.capture("203.0.113.10", "203.0.113.1") as between,
        town.home.capture() as at_home,
    ):
        ask(town.laptop, "203.0.113.20", 80, "out of the house")
        ask(town.laptop, "192.168.1.11", 80, "from room to room")
    assert b"out of the house" in crossed.pcap
    assert b"from room to room" not in crossed.pcap
    assert b"out of the house" in at_home.pcap
    assert b"from room to room" in at_home.pcap
    assert between.frames == []
    # The line and its echo, each once: a frame is not seen at both ends of the bridge.
    assert sum(b"out of the house" in frame for frame in crossed.frames) == 2


def test_a_capture_that_lost_frames_says_so(town: Town, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tests.integration.lab.capture.ROOM", 2048)
    with (
        echoing(listening_on(town.server, 80)),
        pytest.raises(LabError, match="frames were lost"),
        town.network.capture(),
    ):
        ask(town.laptop, "203.0.113.20", 80, "x" * 1_000_000)
