"""The link: made slowly, made by nobody, with addresses of others, with more peers than can be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from attrs import evolve

from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay.keeping import WELL, Keeping, Kept
from mesh_adapters.host.overlay.record import read_record
from mesh_core.model.network import DeclaredNetwork
from tests.unit.host.fake_wireguard import FakeWireGuard

NETWORK = DeclaredNetwork(address="10.77.0.1", range="10.77.0.0/24")
Answer = Callable[[Command], Ended | None]


@pytest.fixture
def fake(tmp_path: Path) -> FakeWireGuard:
    return FakeWireGuard(tmp_path)


def answering(fake: FakeWireGuard, answer: Answer) -> Machine:
    """The machine, of which some commands are answered otherwise."""
    return evolve(fake.machine, run=lambda command: answer(command) or fake.run(command))


def declare(machine: Machine, network: DeclaredNetwork | None = NETWORK, generation: int = 1) -> Kept:
    return Keeping(machine).declared(
        network, generation, hosts_elsewhere=False, reached_before=None, reached_again=None
    )


def late(command: Command) -> Ended:
    return Ended(command=command, code=None, output="", errors="")


def failed(command: Command, errors: str) -> Ended:
    return Ended(command=command, code=2, output="", errors=errors)


@pytest.mark.parametrize("kernel", [True, False])
def test_one_that_comes_after_its_time_was_up_is_ours(fake: FakeWireGuard, kernel: bool) -> None:
    """On a small machine that has just started, systemd makes it a moment after nobody waits any more."""
    fake.kernel = kernel
    fake.put("run/systemd/system/there", "")
    makes = "ip" if kernel else "systemd-run"

    def slowly(command: Command) -> Ended | None:
        made_by = command.argv[0] == makes and "address" not in command.argv
        return late(command) if made_by and fake.run(command).well else None

    (why,) = declare(answering(fake, slowly)).failed
    assert "took longer than 20 s" in why
    assert [words[0] for words in fake.ran].count("systemd-run") == (0 if kernel else 1)
    assert declare(fake.machine) == WELL
    assert fake.link is not None
    assert fake.link.addresses == ["10.77.0.1/24"]
    assert declare(fake.machine, None, 2).failed == ()
    assert fake.link is None


def test_one_that_somebody_makes_in_that_very_moment_is_theirs(fake: FakeWireGuard) -> None:
    def taken(command: Command) -> Ended | None:
        if command.argv[:3] == ("ip", "link", "add"):
            fake.somebodys()
        return None

    (why,) = declare(answering(fake, taken)).failed
    assert "File exists" in why
    assert read_record(fake.machine.state).raised is None
    theirs = fake.link
    assert "mesh0 is there already" in declare(fake.machine).failed[0]
    assert declare(fake.machine, None, 2).failed == ()
    assert fake.link is theirs


@pytest.mark.parametrize("promotes", [False, True])
def test_addresses_of_others_go_also_where_one_goes_with_another(fake: FakeWireGuard, promotes: bool) -> None:
    """With the first of a range the kernel deletes those after it, unless it is told to promote one."""
    declare(fake.machine)
    link = fake.link
    assert link is not None
    link.addresses = ["10.77.0.5/24", "10.77.0.6/24", "10.77.0.1/24"]

    def delete(command: Command) -> Ended | None:
        if command.argv[:3] != ("ip", "address", "delete") or promotes:
            return None
        if command.argv[3] not in link.addresses:
            return failed(command, "RTNETLINK answers: Cannot assign requested address")
        link.addresses = []
        return Ended(command=command, code=0, output="", errors="")

    assert declare(answering(fake, delete)) == WELL
    assert link.addresses == ["10.77.0.1/24"]


def test_an_address_that_cannot_be_taken_off_is_told(fake: FakeWireGuard) -> None:
    declare(fake.machine)
    assert fake.link is not None
    fake.link.addresses.append("10.9.9.9/24")

    def refused(command: Command) -> Ended | None:
        delete = command.argv[:3] == ("ip", "address", "delete")
        return failed(command, "RTNETLINK answers: Operation not permitted") if delete else None

    (why,) = declare(answering(fake, refused)).failed
    assert why.endswith("ip address delete 10.9.9.9/24 dev mesh0: RTNETLINK answers: Operation not permitted")


def test_what_wg_says_and_is_cut_is_told_in_words_without_the_key(fake: FakeWireGuard) -> None:
    """Of what a command says the last is kept: of some thousand peers the first are not."""
    declare(fake.machine)
    assert fake.link is not None

    def cut(command: Command) -> Ended | None:
        ended = fake.run(command)
        return evolve(ended, output=ended.output[3:]) if command.argv[:2] == ("wg", "show") else None

    def nothing(command: Command) -> Ended | None:
        return evolve(fake.run(command), output="x\ty") if command.argv[:2] == ("wg", "show") else None

    (why,) = declare(answering(fake, nothing)).failed
    assert why == "the network is not as declared: wg show mesh0 dump: what it says cannot be read"
    assert fake.link.private not in repr(declare(answering(fake, cut)))


def test_what_we_raised_goes_also_where_nobody_can_look_into_it_any_more(fake: FakeWireGuard) -> None:
    """The tools were taken off before the network was: nothing of ours is to stay behind for that."""

    def without_wg(command: Command) -> Ended | None:
        if command.argv[0] not in ("wg", "sh"):
            return None
        return Ended(command=command, code=127, output="", errors="wg: No such file or directory")

    declare(fake.machine)
    fake.has("wg", False)
    machine = answering(fake, without_wg)
    assert "wg is not installed" in declare(machine).failed[0]
    assert declare(machine, None, 2).failed == ()
    assert fake.link is None
    assert read_record(fake.machine.state).raised is None
    theirs = fake.somebodys()
    assert declare(machine, None, 3).failed == ()
    assert fake.link is theirs


def test_what_ip_says_and_cannot_be_read_is_told(fake: FakeWireGuard) -> None:
    def garbled(command: Command) -> Ended | None:
        if command.argv[:2] != ("ip", "-json"):
            return None
        return Ended(command=command, code=0, output="{", errors="")

    (why,) = declare(answering(fake, garbled)).failed
    assert why.startswith("the network is not as declared: ip -json -details address show dev mesh0: ")
    assert fake.link is None
