"""A change of the network is tried over the line, in one process: the machine's part of it is played.

> Only the network part goes back when the broker is lost after a change, only if it was in reach before, and
> the same generation is not tried again. (Design, part 11.)
"""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.host.agent import line as line_module
from mesh_adapters.host.agent import network as network_module
from mesh_adapters.pause import Pause
from mesh_core.model.said import Doing
from tests.integration.host.agent.networked import BETTER, CUTS, GOOD, UNDONE, Over, World, declared, ended
from tests.integration.host.agent.rig import Rig, at_work, until


@pytest.fixture
def world(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr(network_module, "LOOK", 0.02)
    return World(rig, monkeypatch)


def test_one_with_which_the_broker_is_reached_stays(world: World) -> None:
    with at_work(world.agent()):
        for generation, network in enumerate((GOOD, BETTER, None, GOOD), 1):
            world.send(generation, network)
            report = ended(world.rig, generation)
            assert (report.doing, report.why) == (Doing.APPLIED, ())
            assert world.address == (None if network is None else f"{network.address}/24")
            assert world.trying is None
    assert world.rig.said == []


def test_one_that_loses_it_is_undone_and_reported_and_the_rest_is_applied(world: World) -> None:
    with at_work(world.agent()):
        world.send(1, GOOD)
        ended(world.rig, 1)
        world.send(2, CUTS)
        report = ended(world.rig, 2)
        assert (report.doing, report.why) == (Doing.FAILED, (UNDONE,))
        assert (world.address, world.words()) == ("10.77.0.1/24", "2")
        until(lambda: (heard := world.rig.heard()[0]) is not None and UNDONE in heard.why, "it is sent")
    world.fake.ran.clear()
    again = world.agent().once()
    assert (again.doing, again.why) == (Doing.FAILED, (UNDONE,)), "it is told as long as it is so"
    assert [words for words in world.fake.changing if words[0] != "sh"] == [], "and not tried again"
    report = world.once(3, CUTS)
    assert report.why[0] == UNDONE.replace("2", "3", 1), "a newer one is tried"
    assert world.once(4, BETTER).why == ()


def test_the_network_comes_before_the_modules_and_is_tried_before_them(world: World) -> None:
    seen: list[tuple[str | None, bool]] = []

    def reached() -> bool:
        seen.append((world.address, (world.rig.root / "etc/words").exists()))
        return True

    world.send(1, GOOD)
    world.agent(connect=lambda: Over(world.rig, reached)).once()
    assert ("10.77.0.1/24", False) in seen, "the broker was asked for with the network and without modules"
    assert world.words() == "1"


@pytest.mark.parametrize("mended", [False, True])
def test_a_daemon_that_is_stopped_in_the_middle_takes_it_up_at_its_next_start(
    world: World, mended: bool
) -> None:
    world.once(1, GOOD)
    world.minute = 60
    with at_work(world.agent()) as stop:
        world.send(2, CUTS)
        until(lambda: world.trying == 2 and world.address == "10.77.0.66/24", "it is being tried")
        stop.set()
    world.minute = 0.3
    assert (world.trying, world.address, world.words()) == (2, "10.77.0.66/24", "1")
    world.mended = mended
    world.rig.reports.clear()
    with at_work(world.agent()):
        report = ended(world.rig, 2)
    assert report.why == (() if mended else (UNDONE,))
    assert world.address == ("10.77.0.66/24" if mended else "10.77.0.1/24")
    assert (world.trying, world.words()) == (None, "2")


def test_where_the_broker_was_not_in_reach_before_nothing_is_tried(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was saved before the broker went away; that, the change did not do."""
    monkeypatch.setattr(network_module, "BEFORE", 0.05)
    monkeypatch.setattr(network_module, "TAKE_SECONDS", 0.0)
    world.once(1, GOOD)
    world.rig.came.write_bytes(declared(2, CUTS))
    away = Over(world.rig, lambda: False)
    with at_work(world.agent(connect=lambda: away)):
        report = ended(world.rig, 2)
    assert (report.doing, report.why) == (Doing.APPLIED, ())
    assert (world.address, world.trying) == ("10.77.0.66/24", None)


def test_while_it_is_tried_the_line_pauses_briefly(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """The broker is lost with the change, and in reach again soon: any pause is too long for that."""
    monkeypatch.setattr(line_module, "HURRIED", 0.02)
    world.once(1, GOOD)
    monkeypatch.setattr(line_module, "Pause", lambda: Pause(600.0, 600.0))
    tried: list[bool] = []

    def reached() -> bool:
        lost = world.address == "10.77.0.66/24" and len(tried) < 5
        tried.extend([True] * lost)
        return not lost

    with at_work(world.agent(connect=lambda: Over(world.rig, reached))):
        world.send(2, CUTS)
        report = ended(world.rig, 2)
        assert (report.why, len(tried)) == ((), 5)


def test_what_was_undone_is_sent_soon_too(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(line_module, "HURRIED", 0.02)
    world.once(1, GOOD)
    monkeypatch.setattr(line_module, "Pause", lambda: Pause(600.0, 600.0))
    with at_work(world.agent()):
        world.send(2, CUTS)
        until(lambda: (heard := world.rig.heard()[0]) is not None and UNDONE in heard.why, "it is sent")


def test_after_a_restart_it_is_made_before_the_broker_is_reached_and_is_no_drift(world: World) -> None:
    """Often the broker is only reached over it."""
    world.once(1, GOOD)
    world.fake.reboot()
    world.rig.reports.clear()
    asked: list[str | None] = []

    def reached() -> bool:
        asked.append(world.address)
        return world.address is not None

    with at_work(world.agent(connect=lambda: Over(world.rig, reached))):
        until(lambda: None not in asked[-1:] and bool(world.rig.reports), "the broker is reached")
        until(lambda: world.rig.heard()[0] is not None, "it has reported")
    assert [(r.doing, r.why) for r in world.rig.reports] == [(Doing.APPLIED, ())] * len(world.rig.reports)
    assert world.address == "10.77.0.1/24"


def test_what_somebody_took_away_is_put_right_and_told(world: World) -> None:
    with at_work(world.agent(every=0.05)):
        world.send(1, GOOD)
        ended(world.rig, 1)
        world.fake.link = None
        until(lambda: any(r.doing is Doing.DRIFTED for r in world.rig.reports), "it is told")
        until(lambda: world.rig.reports[-1].doing is Doing.APPLIED, "it is well again")
    (told,) = {r.why for r in world.rig.reports if r.doing is Doing.DRIFTED}
    assert told == ("the network was put back: somebody had changed it",)
    assert world.address == "10.77.0.1/24"


def test_what_could_not_be_made_is_tried_again_soon_and_ever_less_often(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(network_module, "SOON", 0.02)
    world.fake.has("wg", False)
    with at_work(world.agent()):
        world.send(1, GOOD)
        report = ended(world.rig, 1)
        assert report.doing is Doing.FAILED
        assert report.why == ("the network was not made: wg is not installed (apt install wireguard-tools)",)
        assert (report.key, world.words()) == (None, "1")
        world.fake.has("wg")
        until(lambda: world.rig.reports[-1].doing is Doing.APPLIED, "it is made")
    assert world.address == "10.77.0.1/24"


def test_the_next_look_at_what_is_unsettled_comes_later_each_time(world: World) -> None:
    network = world.agent()._network
    network.kept = evolve(network.kept, unsettled=True)
    assert [network.next_look(60) for _ in range(6)] == [5, 10, 20, 40, 60, 60]
    network.kept = evolve(network.kept, unsettled=False)
    assert network.next_look(60) == 60
    network.kept = evolve(network.kept, unsettled=True)
    assert network.next_look(60) == 5


def test_a_key_that_cannot_be_kept_keeps_nothing_else_from_being_done(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: Any) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("mesh_adapters.host.overlay.key.write_whole", full)
    report = world.once(1, GOOD)
    assert (report.key, report.doing, world.words()) == (None, Doing.FAILED, "1")
    assert report.why == ("the network was not made: its key cannot be kept: No space left on device",)


def test_a_damaged_record_is_told_and_nothing_of_the_network_is_touched(world: World) -> None:
    world.once(1, GOOD)
    (world.fake.machine.state / "network.json").write_bytes(b"{}")
    world.fake.ran.clear()
    report = world.once(2, BETTER)
    assert (report.doing, world.words()) == (Doing.FAILED, "2")
    assert report.why[0].startswith("the network was not touched: ")
    assert world.address == "10.77.0.1/24"
    assert {words[0] for words in world.fake.ran} <= {"sh"}, "it only looks which key it has"
