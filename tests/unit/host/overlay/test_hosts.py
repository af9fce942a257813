"""The file with the names on a disk: what stays of it, and what becomes of one that was made for them."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import Any

import pytest

from mesh_adapters.host.machine import Machine, machine_at
from mesh_adapters.host.overlay.hosts import Named, write_names
from mesh_adapters.host.overlay.names import block

PI = (("pi", "10.77.0.3"),)
CHANGED = Named(changed=True)
PRIVILEGED = os.geteuid() == 0


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    (tmp_path / "etc").mkdir()
    return machine_at(tmp_path)


@pytest.fixture
def place(machine: Machine) -> Path:
    return machine.root / "etc/hosts"


def test_bytes_that_are_no_text_stay(machine: Machine, place: Path) -> None:
    content = b"127.0.0.1 localhost # \xff\xfe\x00\n10.0.0.1 caf\xe9\n"
    place.write_bytes(content)
    assert write_names(machine, PI, ours=False) == CHANGED
    assert place.read_bytes() == content + block(PI)
    assert write_names(machine, (), ours=False) == CHANGED
    assert place.read_bytes() == content


def test_its_mode_and_owner_stay(machine: Machine, place: Path) -> None:
    place.write_bytes(b"127.0.0.1 localhost\n")
    if PRIVILEGED:
        os.chown(place, 12, 34)
    place.chmod(0o2640)
    before = place.stat()
    write_names(machine, PI, ours=False)
    write_names(machine, (("nas", "10.77.0.2"),), ours=False)
    after = place.stat()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert after.st_mode & 0o7777 == 0o2640


def test_a_file_that_has_them_is_not_written_again(machine: Machine, place: Path) -> None:
    place.write_bytes(b"127.0.0.1 localhost\n")
    write_names(machine, PI, ours=False)
    before = place.stat()
    assert write_names(machine, PI, ours=False) == Named()
    assert (place.stat().st_ino, place.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_one_that_was_made_for_them_is_readable_by_all_and_goes_with_them(
    machine: Machine, place: Path
) -> None:
    assert write_names(machine, PI, ours=True) == CHANGED
    assert place.read_bytes() == block(PI)
    assert place.stat().st_mode & 0o7777 == 0o644
    assert write_names(machine, (), ours=True) == CHANGED
    assert os.listdir(place.parent) == []


def test_one_that_was_empty_before_stays(machine: Machine, place: Path) -> None:
    place.write_bytes(b"")
    write_names(machine, PI, ours=False)
    assert write_names(machine, (), ours=False) == CHANGED
    assert place.read_bytes() == b""


def test_without_names_no_file_is_made(machine: Machine, place: Path) -> None:
    assert write_names(machine, (), ours=True) == Named()
    assert not place.exists()


@pytest.mark.parametrize("target", ["real/hosts", "/real/hosts"])
def test_a_link_stays_one_and_what_it_leads_to_is_written(machine: Machine, place: Path, target: str) -> None:
    real = machine.root / "etc/real/hosts"
    real.parent.mkdir()
    real.write_bytes(b"127.0.0.1 localhost\n")
    real.chmod(0o640)
    target = str(real) if target.startswith("/") else target
    place.symlink_to(target)
    assert write_names(machine, PI, ours=False) == CHANGED
    assert os.readlink(place) == target
    assert real.read_bytes() == b"127.0.0.1 localhost\n" + block(PI)
    assert real.stat().st_mode & 0o7777 == 0o640


def test_a_link_to_nowhere_stays_when_the_names_go(machine: Machine, place: Path) -> None:
    place.symlink_to("elsewhere")
    write_names(machine, PI, ours=True)
    assert (place.parent / "elsewhere").read_bytes() == block(PI)
    write_names(machine, (), ours=True)
    assert (os.readlink(place), os.listdir(place.parent)) == ("elsewhere", ["hosts"])


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EXDEV])
def test_a_mount_point_is_filled_since_nothing_can_take_its_place(
    machine: Machine, place: Path, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    def busy(*_: Any) -> None:
        raise OSError(number, os.strerror(number))

    place.write_bytes(b"127.0.0.1 localhost\n")
    inode = place.stat().st_ino
    monkeypatch.setattr(os, "replace", busy)
    assert write_names(machine, PI, ours=False) == CHANGED
    assert (place.stat().st_ino, place.read_bytes()) == (inode, b"127.0.0.1 localhost\n" + block(PI))
    assert os.listdir(place.parent) == ["hosts"], "nothing is left of what could not be put there"


def test_what_keeps_it_from_being_written_is_said(
    machine: Machine, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def read_only(*_: Any) -> None:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS))

    place.write_bytes(b"127.0.0.1 localhost\n")
    monkeypatch.setattr(os, "replace", read_only)
    named = write_names(machine, PI, ours=False)
    assert named == Named(failed="the names of the mesh are not in /etc/hosts: Read-only file system")
    assert place.read_bytes() == b"127.0.0.1 localhost\n"
    place.unlink()
    place.mkdir()
    failed = write_names(machine, PI, ours=False).failed
    assert failed == "the names of the mesh are not in /etc/hosts: Is a directory"
