"""The key of a machine, made by the real `wg`: where it is, and where it is not.

> The private key is made there and never leaves; the public one is reported. (Design, part 11.)
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import pytest
from attrs import define, evolve, field

from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.commands import run as really_run
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay.key import PLACE, Keys, NoKey
from mesh_core.model.network import key_fault
from tests.integration.lab.fixtures import need
from tests.unit.host.fake_wireguard import FakeWireGuard


@define
class Recorded:
    """A machine whose `wg` is the real one, with what was run."""

    root: Path
    ran: list[Command] = field(factory=list)

    @property
    def machine(self) -> Machine:
        return evolve(FakeWireGuard(self.root).machine, run=self._run)

    @property
    def place(self) -> Path:
        return self.root / PLACE

    def private(self) -> str:
        return self.place.read_text().strip()

    def _run(self, command: Command) -> Ended:
        self.ran.append(command)
        return really_run(command)


@pytest.fixture
def real(tmp_path: Path) -> Recorded:
    need(None if shutil.which("wg") else "wg is not installed (sh scripts/system_packages.sh)")
    return Recorded(tmp_path)


def public(keys: Keys) -> str:
    found = keys.public()
    assert isinstance(found, str), found
    return found


def why(machine: Machine) -> str:
    found = Keys(machine).public()
    assert isinstance(found, NoKey)
    return found.why


def test_it_is_made_once_and_is_the_same_for_every_process(real: Recorded) -> None:
    made = public(Keys(real.machine))
    assert key_fault(made) is None
    private, inode = real.private(), real.place.stat().st_ino
    assert private != made
    assert [public(Keys(real.machine)) for _ in range(3)] == [made] * 3
    assert (real.private(), real.place.stat().st_ino) == (private, inode)
    assert [command.argv for command in real.ran].count(("wg", "genkey")) == 1


def test_it_is_in_no_command_no_environment_and_no_word(
    real: Recorded,
    capfd: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    keys = Keys(real.machine)
    said = [public(keys), repr(keys)]
    real.place.chmod(0o644)
    said += [public(keys), public(Keys(real.machine))]
    private = real.private()
    real.place.write_text(f"{private}{private}\n")
    said += [why(real.machine)]
    out, err = capfd.readouterr()
    for words in (*map(repr, real.ran), *said, out, err, caplog.text, repr(dict(os.environ))):
        assert private not in words


def test_nobody_but_root_may_read_it_from_its_first_moment(
    real: Recorded, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.umask(0)
    replace, modes = os.replace, list[int]()

    def watched(source: str, target: Path) -> None:
        modes.append(os.stat(source).st_mode & 0o7777)
        replace(source, target)

    monkeypatch.setattr("mesh_adapters.host.whole.os.replace", watched)
    try:
        public(Keys(real.machine))
    finally:
        os.umask(before)
    assert modes == [0o600]
    assert real.place.stat().st_mode & 0o7777 == 0o600
    assert [path.name for path in real.place.parent.iterdir()] == [real.place.name]


@pytest.mark.parametrize("content", ["", "nonsense\n", "c2hvcnQ=\n"])
def test_one_that_is_of_no_use_is_told_and_not_replaced(real: Recorded, content: str) -> None:
    """The others know this machine by it; a new one is made where somebody takes it away."""
    made = public(Keys(real.machine))
    real.place.write_text(content)
    told = why(real.machine)
    assert told.startswith(f"the network was not made: the key in {real.place} is of no use (")
    assert real.place.read_text() == content
    real.place.unlink()
    assert public(Keys(real.machine)) != made
