"""The kind `package`, and what is read out of the answers of package managers, without any of them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mesh_adapters.host.attributes import faults_of
from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.kind import Context, Failed, Unobservable
from mesh_adapters.host.kinds.package import INSTALLED, Package
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.managers import manager_of
from mesh_adapters.host.managers.apt import Apt
from mesh_adapters.host.managers.dnf import Dnf
from mesh_adapters.host.managers.manager import Presence, Transaction
from mesh_core import Resource
from mesh_core.reconcile import State
from tests.unit.host.machines import machine_in, put


def package(name: str = "zsh", **attributes: Any) -> Resource:
    return Resource(kind="package", name=name, attributes_json=attributes)


def says(output: str = "", errors: str = "", code: int = 0) -> Callable[[Command], Ended]:
    """Whatever is asked, this is the answer."""
    return lambda command: Ended(command=command, code=code, output=output, errors=errors)


@pytest.mark.parametrize("name", ["g++", "libstdc++6", "python3.11", "libc6:i386", "Xorg", "fonts_a@b"])
def test_names_that_managers_have(name: str) -> None:
    assert list(faults_of(package(name), Package())) == []


@pytest.mark.parametrize("name", ["-f", "--purge", "zsh-", "zsh ", "z*", "a/b", "zsh=1", "", "zsh\n", "<zsh"])
def test_names_that_would_be_something_else_to_a_manager_are_refused(name: str) -> None:
    assert not name or list(faults_of(package(name), Package()))
    (fault,) = faults_of(package(names={"apt": name}), Package())
    assert fault.key == "names"


@pytest.mark.parametrize("names", [{}, {"brew": "zsh"}, {"apt": 1}, ["zsh"], "zsh"])
def test_names_are_of_managers_that_are_known(names: Any) -> None:
    (fault,) = faults_of(package(names=names), Package())
    assert "apt, dnf, pacman" in fault.wanted


def test_it_knows_nothing_else() -> None:
    assert list(faults_of(package(names={"apt": "zsh", "dnf": "zsh"}, purge=True), Package())) == []
    (fault,) = faults_of(package(version="1.0"), Package())
    assert fault.found == "unknown attribute"
    (fault,) = faults_of(package(purge="yes"), Package())
    assert fault.key == "purge"


def test_it_wants_to_be_installed_and_says_nothing_of_versions() -> None:
    wanted = Package().prepare(package(names={"apt": "zzz"}), Context(data={})).wanted
    assert (wanted.identity, wanted.state) == ("package:zsh", INSTALLED)


# Which manager: the one whose database is there, and has something in it.


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return machine_in(tmp_path)


def test_a_database_tells_which_manager_it_is(machine: Machine) -> None:
    assert manager_of(machine) is None
    put(machine.root, "var/lib/dpkg/status")
    assert isinstance(manager_of(machine), Apt)
    put(machine.root, "var/lib/rpm/rpmdb.sqlite")
    assert isinstance(manager_of(machine), Dnf)
    put(machine.root, "var/lib/pacman/local/ALPM_DB_VERSION", "9\n")
    assert isinstance(manager_of(machine), Dnf)
    put(machine.root, "var/lib/pacman/local/bash-5-1/desc")
    chosen = manager_of(machine)
    assert chosen is not None
    assert chosen.name == "pacman"
    put(machine.root, "var/lib/dpkg/status", "Package: bash\n")
    assert isinstance(manager_of(machine), Apt)


# dpkg's database.

STATUS = (
    "dpkg\tamd64\tnono\tinstall\tinstalled\n"
    "zsh\tamd64\t\tinstall\tinstalled\n"
    "old\tall\t\tdeinstall\tconfig-files\n"
    "half\tall\t\tinstall\thalf-configured\n"
    "unpacked\tall\t\tinstall\tunpacked\n"
    "waits\tall\t\tinstall\ttriggers-awaited\n"
    "never\tall\t\tunknown\tnot-installed\n"
    "libc6\ti386\t\tinstall\tinstalled\n"
)


def test_only_what_is_whole_counts_as_installed(tmp_path: Path) -> None:
    there = Apt(machine_in(tmp_path, says(STATUS))).installed()
    assert there == {
        name: Presence.HALFWAY if name.split(":")[0] in ("half", "unpacked") else Presence.INSTALLED
        for name in (
            *("dpkg", "dpkg:amd64", "zsh", "zsh:amd64", "half", "half:all", "unpacked", "unpacked:all"),
            *("waits", "waits:all", "libc6:i386"),
        )
    }


def test_it_is_observed_by_its_name_with_that_manager(tmp_path: Path) -> None:
    put(tmp_path, "var/lib/dpkg/status", "something\n")
    resources = [
        package(names={"apt": "half", "dnf": "zsh"}),
        package("old"),
        package("fd", names={"apt": "zsh"}),
    ]
    seen = Package().observe(resources, machine_in(tmp_path, says(STATUS)))
    assert seen == {
        "package:zsh": State(facts={"installed": False, "halfway": True}),
        "package:old": None,
        "package:fd": INSTALLED,
    }


def test_all_are_observed_with_one_question_and_one_that_fails_never_reads_as_absent(tmp_path: Path) -> None:
    put(tmp_path, "var/lib/dpkg/status", "something\n")
    asked: list[Command] = []

    def run(command: Command) -> Ended:
        asked.append(command)
        return Ended(command=command, code=2, output=STATUS, errors="dpkg-query: error: parsing file\n")

    seen = Package().observe([package("zsh"), package("never")], machine_in(tmp_path, run))
    why = Unobservable(why="dpkg-query: error: parsing file")
    assert seen == {"package:zsh": why, "package:never": why}
    assert len(asked) == 1


# What would happen.


def apt_that_plans(tmp_path: Path, plan: str) -> Apt:
    def run(command: Command) -> Ended:
        output = STATUS.replace("zsh\tamd64\t\tinstall", "zsh\tamd64\tyes\thold")
        answer = output if command.argv[0] == "dpkg-query" else plan
        return Ended(command=command, code=0, output=answer, errors="")

    return Apt(machine_in(tmp_path, run))


def test_what_apt_would_do(tmp_path: Path) -> None:
    plan = """The following packages will be DOWNGRADED:
  older1
  older2
The following held packages will be changed:
  zsh
0 upgraded, 1 newly installed, 1 downgraded, 1 to remove and 0 not upgraded.
Remv zsh [5.9-4]
Purg gone [1.0]
Inst older1 [2.0] (1.0 Debian:12 [all])
Inst older2 [2.0] (1.0 Debian:12 [all])
Inst newer [1.0] (2.0 Debian:12 [amd64])
Inst libnew:i386 (2.0 Debian:12 [i386]) []
Conf libnew:i386 (2.0 Debian:12 [i386])
"""
    assert apt_that_plans(tmp_path, plan).simulate_install(["x"]) == Transaction(
        installed=["libnew:i386"],
        upgraded=["newer"],
        downgraded=["older1", "older2"],
        removed=["zsh", "gone"],
        held=["zsh"],
        protected=["zsh"],
    )


TABLE = """Last metadata expiration check: 0:00:02 ago on Wed Dec  2 02:03:15 2026.
Dependencies resolved.
=======================================================================================
 Package                                                       Arch    Version
                                                                             Repo
                                                                                   Size
=======================================================================================
Installing:
 xx                                                            noarch  1.0-1 lab  5.8 k
     replacing  mine.noarch 1.0-1
Upgrading:
 newer                                                         x86_64  2.0-1 lab  5.8 k
Installing dependencies:
 other-name-of-a-package-that-is-much-longer-than-the-column   noarch  1.0-1 lab  5.7 k
Downgrading:
 older                                                         noarch  1.0-1 lab  5.7 k
Removing dependent packages:
 user                                                          noarch  1.0-1 @lab 5.7 k

Transaction Summary
=======================================================================================
Install  2 Packages
"""


def test_what_dnf_would_do(tmp_path: Path) -> None:
    dnf = Dnf(machine_in(tmp_path, says(TABLE, "Operation aborted.\n", 1)))
    assert dnf.simulate_install(["xx"]) == Transaction(
        installed=["xx", "other-name-of-a-package-that-is-much-longer-than-the-column"],
        upgraded=["newer"],
        downgraded=["older"],
        removed=["mine", "user"],
    )


def test_what_dnf_will_not_do_is_told_in_its_words(tmp_path: Path) -> None:
    words = "Error: \n Problem: conflicting requests\n(try to add '--skip-broken')\n"
    dnf = Dnf(machine_in(tmp_path, says(TABLE, words, 1)))
    assert dnf.simulate_install(["xx"]) == Failed(why="Error:; Problem: conflicting requests")


def test_the_lock_is_not_waited_for_without_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0

    def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    monkeypatch.setattr("mesh_adapters.host.managers.manager.time.sleep", sleep)
    monkeypatch.setattr("mesh_adapters.host.managers.manager.time.monotonic", lambda: now)
    outcome = Dnf(machine_in(tmp_path, says("", "Failed to obtain the lock\n", 200))).fetch(["xx"])
    assert outcome == Failed(why="Failed to obtain the lock")
    assert 300 <= now <= 303
