"""> The private key is made there and never leaves; the public one is reported. (Design, part 11.)"""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mesh_adapters.host.machine import Machine, machine_at
from mesh_adapters.host.overlay.keeping import Keeping
from mesh_adapters.host.overlay.key import PLACE, Keys, NoKey, forget_key
from tests.unit.host.fake_wireguard import FakeWireGuard, Killed


@pytest.fixture
def fake(tmp_path: Path) -> FakeWireGuard:
    return FakeWireGuard(tmp_path)


def public(keys: Keys) -> str:
    found = keys.public()
    assert isinstance(found, str), found
    return found


def why(machine: Machine) -> str:
    found = Keys(machine).public()
    assert isinstance(found, NoKey)
    return found.why


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o666])
def test_one_that_others_may_read_is_shut(fake: FakeWireGuard, mode: int) -> None:
    keys = Keys(fake.machine)
    made = public(keys)
    keys.place.chmod(mode)
    assert public(keys) == made
    assert keys.place.stat().st_mode & 0o7777 == 0o600


def test_nothing_is_run_for_one_that_is_known(fake: FakeWireGuard) -> None:
    """A machine looks at itself every few minutes."""
    keys = Keys(fake.machine)
    made = public(keys)
    fake.ran.clear()
    assert [public(keys), public(keys)] == [made, made]
    assert fake.ran == []


def test_another_one_that_somebody_put_there_is_seen(fake: FakeWireGuard, tmp_path: Path) -> None:
    keys = Keys(fake.machine)
    made = public(keys)
    other = FakeWireGuard(tmp_path / "other")
    other._keys = 100
    theirs = public(Keys(other.machine))
    os.replace(other.root / PLACE, keys.place)
    assert public(keys) == theirs != made


def test_without_wg_there_is_none_and_nothing_is_made(fake: FakeWireGuard) -> None:
    fake.has("wg", False)
    assert why(fake.machine) == (
        "the network was not made: wg is not installed (apt install wireguard-tools)"
    )
    assert Keeping(fake.machine).key is None
    assert (fake.ran, (fake.root / "etc/mesh-host").exists()) == ([], False)
    fake.has("wg")
    assert Keeping(fake.machine).key is not None


def test_a_root_that_stands_for_a_machine_has_none(tmp_path: Path) -> None:
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/wg").write_text("")
    (tmp_path / "usr/bin/wg").chmod(0o755)
    machine = machine_at(tmp_path)
    assert why(machine) == "the network is left out: this is no running machine"
    assert Keeping(machine).key is None
    assert not (tmp_path / "etc").exists()


def test_whoever_is_killed_while_it_is_made_has_none_or_all_of_it(
    fake: FakeWireGuard, monkeypatch: pytest.MonkeyPatch
) -> None:
    def killed(*_: object) -> None:
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr("mesh_adapters.host.whole.os.replace", killed)
        with pytest.raises(Killed):
            Keys(fake.machine).public()
    place = fake.root / PLACE
    assert not place.exists()
    made = public(Keys(fake.machine))
    assert public(Keys(fake.machine)) == made


def test_whoever_leaves_has_no_key_any_more(fake: FakeWireGuard) -> None:
    made = public(Keys(fake.machine))
    forget_key(fake.machine)
    forget_key(fake.machine)
    assert not (fake.root / PLACE).exists()
    assert public(Keys(fake.machine)) != made
