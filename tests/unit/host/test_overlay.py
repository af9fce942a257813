"""The machine's part of the overlay: what is made of what is declared, tried, put back and taken off."""

from __future__ import annotations

import base64
import os
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.host.overlay.keeping import WELL, Keeping, Kept
from mesh_adapters.host.overlay.record import NAME, Record, read_record
from mesh_adapters.host.overlay.standing import standing
from mesh_core.model.network import DeclaredNetwork, Peer
from tests.unit.host.fake_wireguard import FakeWireGuard, Killed


def key(number: int) -> str:
    return base64.b64encode(bytes([100 + number]) * 32).decode()


def peer(number: int, **more: Any) -> Peer:
    given = {"endpoint": f"192.0.2.{number}:51820", "addresses": [f"10.77.0.{number}"], **more}
    return Peer(node=f"n{number}", key=key(number), **given)


def network(*peers: Peer, address: str = "10.77.0.1", **more: Any) -> DeclaredNetwork:
    names = [(one.node, one.addresses[0]) for one in peers]
    return DeclaredNetwork(
        address=address, **{"range": "10.77.0.0/24", "peers": peers, "names": names, **more}
    )


def numbers(endpoints: Iterable[str]) -> dict[str, str]:
    """Of those endpoints that are numbers, each is where it is."""
    return {endpoint: endpoint for endpoint in endpoints if endpoint[0].isdigit()}


def declare(
    keeping: Keeping,
    declared: DeclaredNetwork | None,
    generation: int = 1,
    *,
    before: bool | None = True,
    again: bool = True,
    elsewhere: bool = False,
) -> Kept:
    return keeping.declared(
        declared,
        generation,
        hosts_elsewhere=elsewhere,
        reached_before=None if before is None else lambda: bool(before),
        reached_again=None if before is None else lambda: again,
    )


@pytest.fixture
def fake(tmp_path: Path) -> FakeWireGuard:
    return FakeWireGuard(tmp_path)


@pytest.fixture
def keeping(fake: FakeWireGuard) -> Keeping:
    return Keeping(fake.machine, numbers)


def hosts(fake: FakeWireGuard) -> str:
    return (fake.root / "etc/hosts").read_text()


ONE, TWO = network(peer(2)), network(peer(2), peer(3))
OTHER = network(address="10.77.0.9")


def test_it_is_made_and_a_second_time_only_looked_at(fake: FakeWireGuard, keeping: Keeping) -> None:
    assert declare(keeping, ONE) == WELL
    link = fake.link
    assert link is not None
    assert (link.addresses, link.up, link.mtu, link.port) == (["10.77.0.1/24"], True, 1420, 51820)
    assert {key: one.allowed for key, one in link.peers.items()} == {key(2): ["10.77.0.2/32"]}
    assert "10.77.0.2 n2.mesh\n" in hosts(fake)
    fake.ran.clear()
    assert declare(keeping, ONE, 2) == WELL
    assert [words[0] for words in fake.ran] == ["ip", "wg"]
    link.mtu = 1500
    assert declare(keeping, ONE, 3).put_right
    assert link.mtu == 1420


def test_without_a_network_nothing_is_even_looked_at(fake: FakeWireGuard, keeping: Keeping) -> None:
    assert declare(keeping, None) == WELL
    assert (fake.ran, (fake.machine.state / NAME).exists()) == ([], False)


def test_a_change_is_only_what_differs(fake: FakeWireGuard, keeping: Keeping) -> None:
    declare(keeping, ONE)
    fake.ran.clear()
    declare(keeping, TWO, 2)
    (words,) = fake.changing
    assert words == (
        *("wg", "set", "mesh0", "peer", key(3)),
        *("endpoint", "192.0.2.3:51820", "allowed-ips", "10.77.0.3/32"),
    )
    fake.ran.clear()
    declare(keeping, network(peer(3), port=5000), 3)
    assert fake.changing == [("wg", "set", "mesh0", "listen-port", "5000", "peer", key(2), "remove")]


def test_what_the_kernel_cannot_wireguard_go_does(fake: FakeWireGuard, keeping: Keeping) -> None:
    fake.kernel = False
    assert declare(keeping, ONE) == WELL
    assert ("wireguard-go", "mesh0") in fake.ran
    shown = standing(fake.machine)
    assert shown is not None
    assert shown["by"] == "wireguard-go"


def test_with_systemd_it_has_a_unit_of_its_own(fake: FakeWireGuard, keeping: Keeping) -> None:
    fake.kernel = False
    fake.put("run/systemd/system/there", "")
    assert declare(keeping, ONE) == WELL
    (words,) = [words for words in fake.ran if words[0] == "systemd-run"]
    assert words[-2:] == ("wireguard-go", "mesh0")
    assert "--property=Type=forking" in words


@pytest.mark.parametrize("program", ["wg", "wireguard-go"])
def test_what_is_lacking_is_said_and_made_once_it_is_there(
    fake: FakeWireGuard, keeping: Keeping, program: str
) -> None:
    fake.kernel = False
    fake.has(program, False)
    kept = declare(keeping, ONE)
    assert (len(kept.failed), kept.unsettled, fake.link) == (1, True, None)
    assert "apt install wireguard" in kept.failed[0]
    assert (keeping.key is None) == (program == "wg")
    assert read_record(fake.machine.state).raised is None
    fake.has(program)
    assert declare(keeping, ONE) == WELL


def test_a_restart_of_the_machine_is_no_drift_and_a_link_that_vanished_is(fake: FakeWireGuard) -> None:
    declare(Keeping(fake.machine, numbers), ONE)
    fake.reboot()
    keeping = Keeping(fake.machine, numbers)
    assert declare(keeping, ONE) == WELL
    assert fake.link is not None
    fake.link = None
    kept = declare(keeping, ONE)
    assert (kept.put_right, kept.failed) == (True, ())


@pytest.mark.parametrize("kind", ["bridge", "wireguard", "tun"])
@pytest.mark.parametrize("ours", ["never", "until a restart", "until it was deleted"])
def test_somebody_elses_link_is_never_touched(
    fake: FakeWireGuard, keeping: Keeping, kind: str, ours: str
) -> None:
    if ours != "never":
        declare(keeping, ONE)
    if ours == "until a restart":
        fake.reboot()
    theirs = fake.somebodys(kind)
    was = repr(theirs)
    kept = declare(Keeping(fake.machine, numbers), TWO, 2)
    assert kept.failed
    assert f"mesh0 is there already ({kind})" in kept.failed[0]
    for change in (lambda k: declare(k, None, 3), lambda k: k.leave()):
        change(Keeping(fake.machine, numbers))
        assert fake.link is theirs
        assert repr(theirs) == was


def test_a_link_with_our_key_is_ours_whatever_the_record_says(fake: FakeWireGuard, keeping: Keeping) -> None:
    declare(keeping, ONE)
    (fake.machine.state / NAME).unlink()
    assert declare(Keeping(fake.machine, numbers), ONE) == evolve(WELL, untried=False)
    assert declare(keeping, None, 2) == WELL
    assert fake.link is None


def test_a_peer_is_told_where_it_is_when_it_is_new_declared_anew_or_silent(
    fake: FakeWireGuard, keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesh_adapters.host.overlay.interface.time.time", lambda: 10_000)
    declare(keeping, ONE)
    assert fake.link is not None
    there = fake.link.peers[key(2)]
    there.endpoint, there.heard = "198.51.100.7:9", 10_000 - 179
    declare(keeping, TWO, 2)
    assert there.endpoint == "198.51.100.7:9"
    there.heard = 10_000 - 180
    assert not declare(keeping, TWO, 3).put_right, "it moved; nobody changed anything"
    assert there.endpoint == "192.0.2.2:51820"
    there.endpoint, there.heard = "198.51.100.7:9", 10_000
    declare(keeping, network(peer(2, endpoint="192.0.2.22:51820"), peer(3)), 4)
    assert there.endpoint == "192.0.2.22:51820"


@pytest.mark.parametrize("before", [True, False])
def test_what_was_told_once_is_told_and_no_news_the_next_time(
    fake: FakeWireGuard, keeping: Keeping, monkeypatch: pytest.MonkeyPatch, before: bool
) -> None:
    """It moves about right after it was declared to be elsewhere."""
    monkeypatch.setattr("mesh_adapters.host.overlay.interface.time.time", lambda: 10_000)
    declare(keeping, ONE)
    anew = network(peer(2, endpoint="192.0.2.22:51820"))
    declare(keeping, anew, 2, before=before)
    assert fake.link is not None
    there = fake.link.peers[key(2)]
    assert there.endpoint == "192.0.2.22:51820"
    there.endpoint, there.heard = "198.51.100.7:9", 10_000
    declare(keeping, anew, 3)
    assert there.endpoint == "198.51.100.7:9"


def test_an_endpoint_that_could_not_be_told_is_told_later(
    fake: FakeWireGuard, keeping: Keeping, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("mesh_adapters.host.overlay.interface.time.time", lambda: 10_000)
    declare(keeping, ONE)
    assert fake.link is not None
    there = fake.link.peers[key(2)]
    there.heard = 10_000
    fake.has("wg", False)
    (fake.root / "etc/mesh-host/network.key").touch()  # it is looked at again
    anew = network(peer(2, endpoint="192.0.2.22:51820"))
    assert declare(keeping, anew, 2).failed
    fake.has("wg")
    assert not declare(keeping, anew, 2).failed
    assert there.endpoint == "192.0.2.22:51820"


def test_the_key_is_shut_to_others_again(fake: FakeWireGuard, keeping: Keeping) -> None:
    public, place = keeping.key, fake.root / "etc/mesh-host/network.key"
    place.chmod(0o644)
    assert keeping.key == public
    assert place.stat().st_mode & 0o777 == 0o600


def test_only_names_that_have_to_be_found_are_looked_for(fake: FakeWireGuard) -> None:
    asked: list[list[str]] = []

    def find(endpoints: Iterable[str]) -> dict[str, str]:
        asked.append([*endpoints])
        return {endpoint: "192.0.2.2:51820" for endpoint in asked[-1] if endpoint.startswith("known")}

    keeping = Keeping(fake.machine, find)
    one = network(peer(2, endpoint="known.example:51820"), peer(3, endpoint="lost.example:51820"))
    kept = declare(keeping, one)
    assert kept.notes == ("not found now, and looked for again: lost.example:51820",)
    assert (kept.failed, kept.unsettled) == ((), True)
    assert fake.link is not None
    assert [peer.endpoint for peer in fake.link.peers.values()] == ["192.0.2.2:51820", None]
    fake.link.peers[key(2)].heard = int(time.time())
    declare(keeping, one, 2)
    assert asked == [["known.example:51820", "lost.example:51820"], ["lost.example:51820"]]


def test_the_names_go_where_a_module_has_the_file_and_come_when_it_has_not(
    fake: FakeWireGuard, keeping: Keeping
) -> None:
    before = hosts(fake)
    declare(keeping, ONE)
    kept = declare(keeping, ONE, 2, elsewhere=True)
    assert not kept.put_right
    assert kept.notes == ("the names of the mesh are not in /etc/hosts: a module declares that file",)
    assert hosts(fake) == before, "the module is to find it as it was before the mesh"
    assert kept.unsettled
    assert declare(keeping, ONE, 3) == WELL
    assert "n2.mesh" in hosts(fake)


@pytest.mark.parametrize("content", [None, "", "127.0.0.1 localhost", "127.0.0.1 localhost\n"])
def test_the_file_is_as_it_was_once_the_names_are_gone(
    fake: FakeWireGuard, keeping: Keeping, content: str | None
) -> None:
    place = fake.root / "etc/hosts"
    place.unlink()
    if content is not None:
        place.write_text(content)
        place.chmod(0o640)
    declare(keeping, ONE)
    assert "n2.mesh" in hosts(fake)
    declare(keeping, None, 2)
    assert (place.read_text() if place.exists() else None) == content
    assert content is None or place.stat().st_mode & 0o777 == 0o640


def test_a_file_that_was_made_for_the_names_stays_with_what_somebody_wrote_in_it(
    fake: FakeWireGuard, keeping: Keeping
) -> None:
    place = fake.root / "etc/hosts"
    place.unlink()
    declare(keeping, ONE)
    with place.open("a") as file:
        file.write("192.0.2.1 printer\n")
    declare(keeping, None, 2)
    assert hosts(fake) == "192.0.2.1 printer\n"


def test_half_a_block_is_left_alone_and_told(fake: FakeWireGuard, keeping: Keeping) -> None:
    declare(keeping, ONE)
    half = hosts(fake).replace("# mesh-host: end.\n", "")
    (fake.root / "etc/hosts").write_text(half)
    kept = declare(keeping, TWO, 2)
    assert "is missing or stands twice" in kept.failed[0]
    assert hosts(fake) == half


def test_a_link_to_the_file_stays_one(fake: FakeWireGuard, keeping: Keeping) -> None:
    place = fake.root / "etc/hosts"
    place.rename(fake.root / "etc/hosts.real")
    place.symlink_to("hosts.real")
    declare(keeping, ONE)
    assert place.is_symlink()
    assert "n2.mesh" in hosts(fake)


V6 = {"range": "fd77::/64", "address": "fd77::1"}


def test_a_relay_forwards_and_what_it_needs_is_put_back(fake: FakeWireGuard, keeping: Keeping) -> None:
    """Linux before 6.17: IPv6 forwards for all, and who forwards listens to no router unless told to."""
    ipv4, whole = "ipv4/conf/mesh0/forwarding", "ipv6/conf/all/forwarding"
    names = (whole, "ipv6/conf/eth0/accept_ra", "ipv6/conf/default/accept_ra")
    was = {name: fake.setting(name) for name in names}
    declare(keeping, network(relay=True))
    assert fake.setting(ipv4) == "1"
    assert {name: fake.setting(name) for name in names} == was
    declare(keeping, network(relay=True, **V6), 2)
    assert fake.setting(ipv4) == "0"
    assert [fake.setting(name) for name in names] == ["1", "2", "2"]
    fake.put("proc/sys/net/ipv6/conf/all/forwarding", "0\n")
    assert declare(keeping, network(relay=True, **V6), 3).put_right
    assert fake.setting(whole) == "1"
    declare(keeping, network(**V6), 4)
    assert {name: fake.setting(name) for name in names} == was


def test_a_newer_kernel_forwards_for_the_interface_alone(fake: FakeWireGuard, keeping: Keeping) -> None:
    own = "ipv6/conf/mesh0/force_forwarding"
    fake.put(f"proc/sys/net/{own}", "0\n")
    declare(keeping, network(relay=True, **V6))
    assert (fake.setting(own), fake.setting("ipv6/conf/all/forwarding")) == ("1", "0")
    declare(keeping, None, 2)
    assert fake.setting("ipv6/conf/eth0/accept_ra") == "1"


def test_what_is_no_relay_keeps_what_the_interface_came_with(fake: FakeWireGuard, keeping: Keeping) -> None:
    declare(keeping, ONE)
    fake.put("proc/sys/net/ipv4/conf/mesh0/forwarding", "1\n")  # as where containers are
    assert not declare(keeping, ONE, 2).put_right
    declare(keeping, evolve(ONE, relay=True), 3)
    declare(keeping, ONE, 4)
    assert fake.setting("ipv4/conf/mesh0/forwarding") == "1"


def test_a_change_that_loses_the_broker_is_undone_told_and_not_tried_again(
    fake: FakeWireGuard, keeping: Keeping
) -> None:
    """> Only the network part goes back when the broker is lost after a change, only if it was in reach
    > before, and the same generation is not tried again.
    """
    declare(keeping, ONE)
    kept = declare(keeping, OTHER, 2, again=False)
    assert fake.link is not None
    assert fake.link.addresses == ["10.77.0.1/24"]
    assert "the network of generation 2 was undone" in kept.failed[0]
    fake.ran.clear()
    for process in (keeping, Keeping(fake.machine, numbers)):
        kept = declare(process, OTHER, 2)
        assert "the network of generation 2 was undone" in kept.failed[0]
    assert {words[0] for words in fake.changing} <= {"sh"}, "but for its key nothing was looked at"
    assert declare(keeping, OTHER, 3) == WELL
    assert fake.link.addresses == ["10.77.0.9/24"]


def test_where_there_was_none_before_it_is_undone_to_none(fake: FakeWireGuard, keeping: Keeping) -> None:
    before = hosts(fake)
    kept = declare(keeping, ONE, 2, again=False)
    assert "was undone" in kept.failed[0]
    assert (fake.link, hosts(fake)) == (None, before)


def test_a_broker_that_was_not_in_reach_before_undoes_nothing(fake: FakeWireGuard, keeping: Keeping) -> None:
    declare(keeping, ONE)
    kept = declare(keeping, OTHER, 2, before=False, again=False)
    assert (kept.failed, kept.untried) == ((), True)
    assert fake.link is not None
    assert fake.link.addresses == ["10.77.0.9/24"]


def test_by_hand_nothing_is_tried_and_what_is_being_tried_stays_so(fake: FakeWireGuard) -> None:
    keeping = killed_in_its_trial(fake)
    declare(keeping, OTHER, 2, before=None)
    assert read_record(fake.machine.state).trying == 2
    assert declare(keeping, TWO, 3, before=None).untried
    assert read_record(fake.machine.state).trying is None


def killed_in_its_trial(fake: FakeWireGuard) -> Keeping:
    def kill() -> bool:
        raise Killed

    keeping = Keeping(fake.machine, numbers)
    declare(keeping, ONE)
    with pytest.raises(Killed):
        keeping.declared(OTHER, 2, hosts_elsewhere=False, reached_before=lambda: True, reached_again=kill)
    return Keeping(fake.machine, numbers)


@pytest.mark.parametrize("restarted", [False, True])
@pytest.mark.parametrize("again", [False, True])
def test_a_trial_that_somebody_was_killed_in_is_taken_up_again(
    fake: FakeWireGuard, restarted: bool, again: bool
) -> None:
    keeping = killed_in_its_trial(fake)
    if restarted:
        fake.reboot()
    kept = declare(keeping, OTHER, 2, again=again)
    assert fake.link is not None
    assert fake.link.addresses == (["10.77.0.9/24"] if again else ["10.77.0.1/24"])
    assert bool(kept.failed) is not again
    assert read_record(fake.machine.state).trying is None


def test_a_damaged_record_is_never_no_network(fake: FakeWireGuard, keeping: Keeping) -> None:
    declare(keeping, ONE)
    place = fake.machine.state / NAME
    whole = place.read_bytes()
    for content in (b"", whole[:-9], b"{}", b"[]", whole.replace(b"10.77.0.2", b"10.77.0.3")):
        place.write_bytes(content)
        fake.ran.clear()
        for declared in (None, TWO):
            kept = declare(Keeping(fake.machine, numbers), declared, 2)
            assert "the network was not touched" in kept.failed[0]
            assert "damaged" in kept.failed[0]
        assert (fake.ran, place.read_bytes()) == ([], content)
        shown = standing(fake.machine)
        assert shown is not None
        assert "damaged" in shown["troubles"][0]


@pytest.mark.parametrize("damaged", [False, True])
def test_leaving_takes_everything_off_whatever_the_record_says(
    fake: FakeWireGuard, keeping: Keeping, damaged: bool
) -> None:
    before = hosts(fake)
    declare(keeping, evolve(TWO, relay=True))
    if damaged:
        (fake.machine.state / NAME).write_bytes(b"{")
    assert Keeping(fake.machine, numbers).leave().failed == ()
    assert (fake.link, hosts(fake), (fake.machine.state / NAME).exists()) == (None, before, False)


STEPS: list[tuple[str, Callable[[Keeping], Kept]]] = [
    ("a change that is kept", lambda keeping: declare(keeping, evolve(OTHER, relay=True), 2)),
    ("a change that is undone", lambda keeping: declare(keeping, OTHER, 2, again=False)),
    ("a change that is not tried", lambda keeping: declare(keeping, OTHER, 2, before=False)),
    ("no network any more", lambda keeping: declare(keeping, None, 2)),
    ("leaving", lambda keeping: keeping.leave()),
]


@pytest.mark.parametrize(("what", "step"), STEPS, ids=[what for what, _ in STEPS])
@pytest.mark.parametrize("restarted", [False, True], ids=["", "and the machine restarts"])
def test_whoever_is_killed_anywhere_finds_what_was_begun(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    what: str,
    step: Callable[[Keeping], Kept],
    restarted: bool,
) -> None:
    """Killed before the first command or write, the second, and so on; the same is done again after that."""
    straight = run_over(tmp_path / "straight", monkeypatch, step, None, restarted)
    for number in range(200):
        found = run_over(tmp_path / str(number), monkeypatch, step, number, restarted)
        assert found[0] == straight[0], f"killed before step {number}"
        if not found[1]:
            assert number > 3
            return
    raise AssertionError("it never came to its end")


def run_over(
    root: Path,
    monkeypatch: pytest.MonkeyPatch,
    step: Callable[[Keeping], Kept],
    at: int | None,
    restarted: bool,
) -> tuple[dict[str, object], bool]:
    """What is there in the end where a first process is killed before its step `at`; whether it was."""
    fake = FakeWireGuard(root)
    declare(Keeping(fake.machine, numbers), network(peer(2), relay=True))
    left = [at]

    def before_each(*_: object) -> None:
        if left[0] is not None:
            left[0] -= 1
            if left[0] < 0:
                left[0] = None
                raise Killed

    replace = os.replace

    def killed_or_replaced(*given: Any) -> None:
        before_each()
        replace(*given)

    fake.before_each = before_each
    killed = False
    with monkeypatch.context() as patched:
        patched.setattr("mesh_adapters.host.whole.os.replace", killed_or_replaced)
        try:
            step(Keeping(fake.machine, numbers))
        except Killed:
            killed = True
    fake.before_each = lambda: None
    if restarted:
        fake.reboot()
    kept = step(Keeping(fake.machine, numbers))
    later = step(Keeping(fake.machine, numbers))
    link = fake.link
    return {
        "failed": (bool(kept.failed), bool(later.failed)),
        "link": None if link is None else (link.addresses, link.port, sorted(link.peers)),
        "hosts": hosts(fake),
        "forwarding": None if link is None else fake.setting("ipv4/conf/mesh0/forwarding"),
        "record": _settled(fake),
    }, killed


def _settled(fake: FakeWireGuard) -> Record:
    """What is kept, without the number that a link happens to have."""
    record = read_record(fake.machine.state)
    return evolve(record, raised=None if record.raised is None else evolve(record.raised, boot="", index=0))
