"""Two machines are joined: what is made, what a second look does, what is put right, what goes again."""

from __future__ import annotations

import pytest

from mesh_core.model.network import Peer
from tests.integration.host.network.site import ENVIRONMENT, WITHOUT_SYSTEMD, Host, declared

PORT = 51820
AT_NAS, AT_PI = f"203.0.113.10:{PORT}", f"203.0.113.20:{PORT}"
OTHER_KEY = "YWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWFhYWE="
BEFORE = b"127.0.0.1 localhost\n"


def join(nas: Host, pi: Host) -> None:
    assert not nas.told(nas.network(pi.peer("pi", AT_PI))).failed
    assert not pi.told(pi.network(nas.peer("nas", AT_NAS))).failed


def test_they_reach_each_other_and_by_name(nas: Host, pi: Host) -> None:
    join(nas, pi)
    assert nas.pings("10.77.0.2")
    assert pi.pings("nas.mesh")
    assert "10.77.0.1/24" in nas.shown()
    link = nas.machine.run(["ip", "-details", "link", "show", "mesh0"]).stdout
    assert "mtu 1420" in link
    assert "10.77.0.0/24 dev mesh0" in nas.machine.run(["ip", "route"]).stdout


def test_a_second_look_only_looks_and_in_two_commands(nas: Host, pi: Host) -> None:
    join(nas, pi)
    network = nas.network(pi.peer("pi", AT_PI))
    first, second = nas.ask(declared(network, 1), declared(network, 2))
    assert (first.changing, second.changing) == ([], [])
    assert [words[0] for words in second.ran] == ["ip", "wg"]
    assert (second.failed, second.notes) == ([], [])


def test_whatever_somebody_changed_is_put_right_and_told(nas: Host, pi: Host) -> None:
    join(nas, pi)
    key = pi.key()
    changes = [
        ["ip", "link", "delete", "mesh0"],
        ["wg", "set", "mesh0", "peer", key, "remove"],
        ["wg", "set", "mesh0", "peer", OTHER_KEY, "allowed-ips", "10.77.0.99/32"],
        ["wg", "set", "mesh0", "listen-port", "5000"],
        ["wg", "set", "mesh0", "peer", key, "preshared-key", "/etc/mesh-host/network.key"],
        ["ip", "address", "add", "10.99.0.1/24", "dev", "mesh0"],
        ["ip", "address", "delete", "10.77.0.1/24", "dev", "mesh0"],
        ["ip", "link", "set", "mesh0", "down"],
        ["sed", "-i", "s/10.77.0.2/10.77.0.3/", "/etc/hosts"],
    ]
    for change in changes:
        nas.machine.run(change)
        kept = nas.ask({"do": "look"}, {"do": "look"})
        # The first look of a process finds what it finds: the machine may just have been started.
        assert (kept[0].failed, kept[0].said["put_right"]) == ([], False), change
        assert kept[0].changing or change[0] == "sed", change
        assert kept[1].changing == [], change
        assert nas.pings("pi.mesh"), change


def test_a_change_between_two_looks_of_one_process_is_drift(nas: Host, pi: Host) -> None:
    join(nas, pi)
    with nas.process() as process:
        assert not process.ask({"do": "look"}).said["put_right"]
        nas.machine.run(["ip", "link", "delete", "mesh0"])
        answer = process.ask({"do": "look"})
    assert answer.said["put_right"]
    assert answer.notes == ["the network was put back: somebody had changed it"]
    assert nas.pings("10.77.0.2")


@pytest.mark.parametrize("without_systemd", [False, True])
def test_what_is_declared_no_more_goes_and_nothing_else(
    two: tuple[Host, Host], nas: Host, pi: Host, without_systemd: bool
) -> None:
    host = Host(nas.machine, nas.address, WITHOUT_SYSTEMD if without_systemd else ())
    host.machine.write("/etc/hosts", BEFORE, mode=0o640, gid=1)
    assert not host.told(host.network(pi.peer("pi", AT_PI))).failed
    key = host.key()
    (process,) = host.wireguard_go()
    assert b"10.77.0.2 pi.mesh" in host.hosts()
    assert not host.told(None, 2).failed
    assert (host.shown(), host.hosts()) == ("", BEFORE)
    assert host.machine.run(["stat", "-c", "%a %g", "/etc/hosts"]).stdout == "640 1\n"
    assert host.key() == key
    host.until(lambda: process not in host.wireguard_go(), "it has ended with its interface")


def test_wireguard_go_is_no_part_of_the_service_that_started_it(nas: Host, pi: Host) -> None:
    """A restart of the host, which ends all that is in its service, is none of the network."""
    environment = [f"--setenv={name}={value}" for name, value in ENVIRONMENT.items()]
    as_service = [
        "systemd-run",
        "--quiet",
        "--pipe",
        "--wait",
        "--property=KillMode=mixed",
        *environment,
        "--",
    ]
    host = Host(nas.machine, nas.address, as_service)
    assert not host.told(host.network(pi.peer("pi", AT_PI))).failed
    (process,) = host.wireguard_go()
    assert "/system.slice/mesh0-wireguard-go.service" in nas.machine.read(f"/proc/{process}/cgroup").decode()
    assert "10.77.0.1/24" in host.shown()
    assert not host.told(None, 2).failed
    shown = ["systemctl", "show", "--property=LoadState", "mesh0-wireguard-go.service"]
    host.until(lambda: "not-found" in nas.machine.run(shown).stdout, "nothing is left of its unit")


def test_the_way_there_and_back_again_and_again(nas: Host, pi: Host) -> None:
    """An interface is raised right after it was taken away, when what made it may not have ended yet."""
    for before in ((), WITHOUT_SYSTEMD):
        host = Host(nas.machine, nas.address, before)
        network = host.network(pi.peer("pi", AT_PI))
        both = [declared(network, 1), declared(None, 2)]
        answers = host.ask(*both * 4, declared(network, 9))
        assert [answer.failed for answer in answers] == [[]] * 9
        assert "10.77.0.1/24" in host.shown()
        assert not host.told(None, 10).failed


def test_wireguard_go_that_was_killed_is_started_again(nas: Host, pi: Host) -> None:
    join(nas, pi)
    nas.machine.run(["pkill", "-KILL", "-x", "wireguard-go"])
    nas.until(lambda: not nas.shown(), "its interface is gone")
    assert not nas.does("look").failed
    assert nas.pings("10.77.0.2")


def test_ipv6(nas: Host, pi: Host) -> None:
    for host, other, at in ((nas, pi, AT_PI), (pi, nas, AT_NAS)):
        address = host.address.replace("10.77.0.", "fd77::")
        peer = Peer(
            node="other",
            key=other.key(),
            addresses=[other.address.replace("10.77.0.", "fd77::")],
            endpoint=at,
        )
        network = Host(host.machine, address).network(peer, range="fd77::/64")
        first, second = host.ask(declared(network, 1), declared(network, 2))
        assert (first.failed, second.changing) == ([], [])
    assert nas.machine.run(["ping", "-c", "1", "-W", "3", "other.mesh"]).returncode == 0


def test_the_key_is_where_it_was_made_and_nowhere_else(nas: Host, pi: Host) -> None:
    join(nas, pi)
    stat = nas.machine.run(["stat", "-c", "%a %U %G", "/etc/mesh-host/network.key"]).stdout
    assert stat == "600 root root\n"
    private = nas.machine.read("/etc/mesh-host/network.key").decode().strip()
    assert private != nas.key()
    find = [
        "grep",
        "-rlF",
        "--exclude-dir=proc",
        "--exclude-dir=sys",
        private,
        "/etc",
        "/run",
        "/tmp",
        "/var/lib",
    ]
    assert nas.machine.run(find, check=False).stdout.split() == ["/etc/mesh-host/network.key"]
    processes = ["sh", "-c", 'cat /proc/[0-9]*/cmdline /proc/[0-9]*/environ | grep -acFf "$0"']
    counted = nas.machine.run([*processes, "/etc/mesh-host/network.key"], check=False).stdout
    assert counted == "0\n"
    answers = nas.ask({"do": "key"}, {"do": "look"}, {"do": "standing"})
    assert all(private not in repr(answer) for answer in answers)
    journal = nas.machine.run(["journalctl", "--no-pager"]).stdout
    assert private not in journal


def test_a_key_that_others_may_read_is_shut_again_and_one_that_is_none_is_told(nas: Host) -> None:
    key, place = nas.key(), "/etc/mesh-host/network.key"
    nas.machine.run(["chmod", "644", place])
    assert nas.key() == key
    assert nas.machine.run(["stat", "-c", "%a", place]).stdout == "600\n"
    kept = nas.machine.read(place)
    nas.machine.write(place, b"nonsense\n", mode=0o600)
    (why,) = nas.told(nas.network()).failed
    assert f"the key in {place} is of no use" in why
    assert nas.machine.read(place) == b"nonsense\n"
    nas.machine.write(place, kept, mode=0o600)


@pytest.mark.parametrize("kind", ["bridge", "wireguard-go"])
def test_an_interface_of_somebody_else_is_not_touched(nas: Host, pi: Host, kind: str) -> None:
    make = ["wireguard-go", "mesh0"] if kind != "bridge" else ["ip", "link", "add", "mesh0", "type", "bridge"]
    for generation, ours_before in ((1, False), (3, True)):
        if ours_before:
            assert not nas.told(nas.network(), generation).failed
            nas.machine.run(["ip", "link", "delete", "mesh0"])
        nas.machine.run(make)
        nas.machine.run(["ip", "address", "add", "10.1.1.1/24", "dev", "mesh0"])
        shown = nas.shown()
        (why,) = nas.told(nas.network(pi.peer("pi")), generation + 1).failed
        assert "mesh0 is there already" in why
        assert nas.shown() == shown
        assert not nas.told(None, generation + 2).failed
        assert nas.shown() == shown
        nas.machine.run(["ip", "link", "delete", "mesh0"])


def test_what_is_lacking_is_said(nas: Host, pi: Host) -> None:
    for lacking in ("wg", "wireguard-go"):
        place = nas.machine.run(["which", lacking]).stdout.strip()
        nas.machine.run(["mv", place, f"{place}-away"])
        (why,) = nas.told(nas.network(pi.peer("pi", AT_PI)), 1).failed
        nas.machine.run(["mv", f"{place}-away", place])
        package = {"wg": "wireguard-tools", "wireguard-go": "wireguard-go"}[lacking]
        assert f"apt install {package}" in why
    assert not nas.told(nas.network(pi.peer("pi", AT_PI)), 1).failed


def test_how_it_stands(nas: Host, pi: Host) -> None:
    assert nas.does("standing").said is None
    join(nas, pi)
    assert nas.pings("10.77.0.2")
    said = nas.does("standing").said
    (peer,) = said["peers"]
    assert (said["name"], said["address"], said["by"], said["up"]) == (
        "mesh0",
        "10.77.0.1",
        "wireguard-go",
        True,
    )
    assert (peer["node"], peer["endpoint"], peer["heard"] < 60) == ("pi", AT_PI, True)
