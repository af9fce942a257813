"""What a relay needs of the kernel, where IPv6 forwards for the whole machine.

> What was there is put back. (`mesh_adapters.host.overlay.forwarding`)
"""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from mesh_adapters.host.overlay.keeping import WELL, Keeping, Kept
from mesh_adapters.host.overlay.record import read_record
from mesh_core.model.network import DeclaredNetwork
from tests.integration.host.world import quick
from tests.unit.host.fake_wireguard import FakeWireGuard, Killed

RELAY = DeclaredNetwork(address="fd77::1", range="fd77::/64", relay=True)
PLAIN = DeclaredNetwork(address="fd77::1", range="fd77::/64")
WHOLE, ETH0, DEFAULT = (
    "ipv6/conf/all/forwarding",
    "ipv6/conf/eth0/accept_ra",
    "ipv6/conf/default/accept_ra",
)


@pytest.fixture
def fake(tmp_path: Path) -> FakeWireGuard:
    """A machine whose kernel forwards IPv6 for all or for nobody, and that hears of a router at eth0."""
    return FakeWireGuard(tmp_path)


def declare(fake: FakeWireGuard, network: DeclaredNetwork | None, generation: int) -> Kept:
    """What a process that was just started makes of it."""
    return Keeping(fake.machine).declared(
        network, generation, hosts_elsewhere=False, reached_before=None, reached_again=None
    )


def put(fake: FakeWireGuard, name: str, value: str) -> None:
    fake.put(f"proc/sys/net/{name}", f"{value}\n")


def settings(fake: FakeWireGuard) -> tuple[str, str, str]:
    return fake.setting(WHOLE), fake.setting(ETH0), fake.setting(DEFAULT)


BEFORE = ("0", "1", "1")
FORWARDS = ("1", "2", "2")


def test_whoever_is_killed_anywhere_leaves_what_was_before_to_be_put_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Killed before each thing that is written, when it becomes a relay and when it is none any more."""
    with tempfile.TemporaryDirectory(prefix="mesh-forwarding-", dir=quick()) as folder:
        killed_anywhere(Path(folder), monkeypatch)


def killed_anywhere(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for network, before, then in ((RELAY, PLAIN, FORWARDS), (PLAIN, RELAY, BEFORE), (None, RELAY, BEFORE)):
        for at in range(30):
            fake = FakeWireGuard(folder / f"{then}-{network is None}-{at}")
            declare(fake, before, 1)
            killed = killed_before(at, fake, network, monkeypatch)
            declare(fake, network, 2)
            assert settings(fake) == then, (network, at)
            declare(fake, None, 3)
            assert settings(fake) == BEFORE, (network, at)
            assert read_record(fake.machine.state).settings == ()
            if not killed:
                assert at > 3
                break
        else:
            raise AssertionError("it never came to its end")


def killed_before(
    at: int, fake: FakeWireGuard, network: DeclaredNetwork | None, monkeypatch: pytest.MonkeyPatch
) -> bool:
    """Have it killed before the write number `at` of a setting or of the record; whether it was."""
    left, replace, write_text = [at], os.replace, Path.write_text

    def step() -> None:
        left[0] -= 1
        if left[0] < 0:
            raise Killed

    def replaced(*given: Any) -> None:
        step()
        replace(*given)

    def written(place: Path, *given: Any) -> int:
        step()
        return write_text(place, *given)

    with monkeypatch.context() as patched:
        patched.setattr("mesh_adapters.host.whole.os.replace", replaced)
        patched.setattr("mesh_adapters.host.overlay.forwarding.Path.write_text", written)
        try:
            declare(fake, network, 2)
        except Killed:
            return True
    return False


def test_a_router_is_listened_to_all_the_while(fake: FakeWireGuard, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its way is gone as soon as all forward and nobody was told to listen on, also for a moment."""
    write_text, seen = Path.write_text, list[tuple[str, str, str]]()

    def written(place: Path, *given: Any) -> int:
        length = write_text(place, *given)
        seen.append(settings(fake))
        return length

    with monkeypatch.context() as patched:
        patched.setattr("mesh_adapters.host.overlay.forwarding.Path.write_text", written)
        for generation, network in enumerate((RELAY, PLAIN, RELAY, None), 1):
            declare(fake, network, generation)
    assert FORWARDS in seen
    assert all("1" not in listens for forwards, *listens in seen if forwards == "1")


def test_what_its_owner_set_otherwise_before_is_what_comes_back(fake: FakeWireGuard) -> None:
    put(fake, WHOLE, "1")
    put(fake, ETH0, "2")
    put(fake, DEFAULT, "0")
    declare(fake, RELAY, 1)
    assert settings(fake) == ("1", "2", "0")
    declare(fake, PLAIN, 2)
    assert settings(fake) == ("1", "2", "0"), "it forwards for another reason, and goes on"


def test_a_restart_sets_everything_anew_and_that_is_what_was_before(fake: FakeWireGuard) -> None:
    """Its owner has it forward from then on: that stays when it is no relay any more."""
    declare(fake, RELAY, 1)
    fake.reboot()
    put(fake, WHOLE, "1")
    put(fake, ETH0, "0")
    put(fake, DEFAULT, "1")
    assert declare(fake, RELAY, 1) == WELL
    assert settings(fake) == ("1", "0", "2")
    declare(fake, PLAIN, 2)
    assert settings(fake) == ("1", "0", "1")


def test_after_a_restart_there_is_nothing_to_put_back(fake: FakeWireGuard) -> None:
    declare(fake, RELAY, 1)
    fake.reboot()
    put(fake, WHOLE, "1")
    put(fake, ETH0, "0")
    declare(fake, None, 2)
    assert settings(fake)[:2] == ("1", "0")
    assert read_record(fake.machine.state).settings == ()


def test_a_link_that_is_plugged_in_later_listens_on_too_and_one_that_is_gone_is_no_fault(
    fake: FakeWireGuard,
) -> None:
    declare(fake, RELAY, 1)
    put(fake, "ipv6/conf/wlan0/accept_ra", "1")
    (fake.root / "proc/sys/net" / ETH0).unlink()
    (fake.root / "proc/sys/net/ipv6/conf/eth0").rmdir()
    assert declare(fake, RELAY, 1) == WELL
    assert fake.setting("ipv6/conf/wlan0/accept_ra") == "2"
    assert declare(fake, PLAIN, 2).failed == ()
    assert fake.setting("ipv6/conf/wlan0/accept_ra") == "1"


def test_what_cannot_be_set_is_told(fake: FakeWireGuard, monkeypatch: pytest.MonkeyPatch) -> None:
    write_text = Path.write_text

    def refused(place: Path, *given: Any) -> int:
        if place.name == "accept_ra":
            raise PermissionError(1, "Operation not permitted", str(place))
        return write_text(place, *given)

    monkeypatch.setattr("mesh_adapters.host.overlay.forwarding.Path.write_text", refused)
    (why,) = declare(fake, RELAY, 1).failed
    assert why.startswith("the network is not as declared: ")
    assert why.endswith("ipv6/conf/default/accept_ra = 2: Operation not permitted")
