"""`mesh-host apply`, `status` and `leave` where a network is declared, on a machine that is played."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay.keeping import Keeping
from mesh_adapters.host.overlay.key import PLACE as KEY
from mesh_adapters.host.overlay.record import NAME
from mesh_core.model.network import DeclaredNetwork, Peer
from tests.integration.host.cli.program import JOURNAL, declared, file, host, well
from tests.unit.host.fake_wireguard import FakeWireGuard

KEY_OF_PI = "w7b2q7lEde9TIuvoaQmNSRkOaNymBI961QhhanXQCGA="
NETWORK = DeclaredNetwork(
    address="10.77.0.1",
    range="10.77.0.0/24",
    peers=[Peer(node="pi", key=KEY_OF_PI, addresses=["10.77.0.3"], endpoint="192.0.2.3:51820")],
    names=[("pi", "10.77.0.3")],
)
OTHER = evolve(NETWORK, address="10.77.0.9")
MOTD = file("/etc/motd", "hello\n")
UNDONE = "the network of generation 2 was undone: the broker was not reached within 60 s of it; "
UNDONE += "what was there before holds"


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeWireGuard:
    """What every command takes for the machine that it runs on."""
    fake = FakeWireGuard(tmp_path)

    def machine_at(root: Path, **more: Any) -> Machine:
        assert root == fake.root
        known = {name: value for name, value in more.items() if name != "run"}
        return evolve(fake.machine, **known)

    monkeypatch.setattr("mesh_adapters.host.machine.machine_at", machine_at)
    return fake


def apply(fake: FakeWireGuard, generation: int, network: DeclaredNetwork | None) -> Any:
    content = declared(generation, MOTD, network=network)
    return host("apply", "-", "--root", fake.root, stdin=content)


def left(fake: FakeWireGuard) -> dict[str, bool]:
    """What is there of the mesh."""
    return {
        "link": fake.link is not None,
        "names": "pi.mesh" in (fake.root / "etc/hosts").read_text(),
        "key": (fake.root / KEY).exists(),
        "record": (fake.root / JOURNAL / NAME).exists(),
        "modules": (fake.root / "etc/motd").exists(),
    }


ALL = {"link": True, "names": True, "key": True, "record": True, "modules": True}
NOTHING = dict.fromkeys(ALL, False)


def test_it_is_made_before_the_modules_and_not_tried(fake: FakeWireGuard) -> None:
    def no_module_yet() -> None:
        assert not (fake.root / "etc/motd").exists()

    fake.before_each = no_module_yet
    ran = apply(fake, 1, NETWORK)
    assert (ran.code, left(fake)) == (0, ALL)
    assert ran.out.splitlines()[1:] == [
        "the network was changed, and not tried: nobody looks whether the broker is still reached",
        "1 made",
    ]


def test_what_the_daemon_has_undone_is_told_by_hand_as_well(fake: FakeWireGuard) -> None:
    """Else the same file would be applied with "nothing to do", and the network not be that of the file."""
    assert apply(fake, 1, NETWORK).code == 0
    undo(fake, 2, OTHER)
    for _ in range(2):
        ran = apply(fake, 2, OTHER)
        assert (ran.code, UNDONE in ran.out) == (4, True), ran.out
        assert fake.link is not None
        assert fake.link.addresses == ["10.77.0.1/24"]
    assert UNDONE in well("status", "--root", fake.root).out
    assert apply(fake, 3, OTHER).code == 0
    assert UNDONE not in well("status", "--root", fake.root).out


def undo(fake: FakeWireGuard, generation: int, network: DeclaredNetwork) -> None:
    """What a daemon does whose broker is lost with a change."""
    Keeping(fake.machine).declared(
        network,
        generation,
        hosts_elsewhere=False,
        reached_before=lambda: True,
        reached_again=lambda: False,
    )


def damage(fake: FakeWireGuard) -> None:
    (fake.root / JOURNAL / NAME).write_bytes(b"{")


@pytest.mark.parametrize("before", [lambda _: None, damage], ids=["", "with a damaged record"])
def test_leaving_takes_all_of_it_off(fake: FakeWireGuard, before: Callable[[FakeWireGuard], None]) -> None:
    apply(fake, 1, NETWORK)
    before(fake)
    ran = well("leave", "--yes", "--root", fake.root)
    assert left(fake) == NOTHING
    assert "not tried" not in ran.out, "nobody misses the broker"


def test_leaving_tells_what_of_the_network_cannot_be_taken_off_and_goes_on_later(
    fake: FakeWireGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(fake, 1, NETWORK)
    run = FakeWireGuard.run

    def refused(self: FakeWireGuard, command: Command) -> Ended:
        if command.argv[:3] == ("ip", "link", "delete"):
            return Ended(command=command, code=2, output="", errors="Operation not permitted")
        return run(self, command)

    with monkeypatch.context() as patched:
        patched.setattr(FakeWireGuard, "run", refused)
        ran = host("leave", "--yes", "--root", fake.root)
    assert ran.code == 4
    assert "ip link delete mesh0: Operation not permitted" in ran.err
    assert "`mesh-host leave` again, or leave with --keep" in ran.err
    assert left(fake) == {**ALL, "modules": False}
    well("leave", "--yes", "--root", fake.root)
    assert left(fake) == NOTHING


def test_leaving_a_record_that_cannot_be_kept_is_told(
    fake: FakeWireGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    apply(fake, 1, NETWORK)
    damage(fake)

    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr("mesh_adapters.host.overlay.record.write_whole", full)
        ran = host("leave", "--yes", "--root", fake.root)
    assert (ran.code, "No space left on device" in ran.err) == (4, True), ran.err
    assert left(fake)["key"], "it has not left"


def test_letting_go_alone_leaves_the_network_as_it_is(fake: FakeWireGuard) -> None:
    apply(fake, 1, NETWORK)
    well("leave", "--keep", "--yes", "--root", fake.root)
    assert left(fake) == {**ALL, "key": False, "record": False}


def test_status_of_a_network_that_was_declared_no_more(fake: FakeWireGuard) -> None:
    apply(fake, 1, NETWORK)
    apply(fake, 2, None)
    assert well("status", "--root", fake.root, "--json").json["network"] is None
    assert "mesh0" not in well("status", "--root", fake.root).out


def test_status_only_looks(fake: FakeWireGuard) -> None:
    apply(fake, 1, NETWORK)
    before = (fake.root / JOURNAL / NAME).read_bytes()
    fake.ran.clear()
    shown = well("status", "--root", fake.root, "--json").json["network"]
    assert (shown["address"], shown["up"], shown["troubles"]) == ("10.77.0.1", True, [])
    assert fake.changing == []
    assert (fake.root / JOURNAL / NAME).read_bytes() == before
    assert "private" not in str(shown)
    assert fake.link is not None
    assert fake.link.private not in str(shown)


def test_status_of_an_interface_that_is_gone(fake: FakeWireGuard) -> None:
    apply(fake, 1, NETWORK)
    fake.link = None
    out = well("status", "--root", fake.root).out
    assert "10.77.0.1 on mesh0, not up, port 51820" in out
    assert "pi 10.77.0.3: never heard" in out
