"""The daemon at work: when it looks, what it says, and how it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from attrs import evolve

from mesh_adapters.host.agent import loop
from mesh_adapters.host.files import Files
from mesh_adapters.host.journal import Journal, JournalBusy
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.notify import Notifier
from mesh_core import Capability
from mesh_core.model.said import Doing, Report
from mesh_core.ports import REPORT_LIMIT
from mesh_core.wire.said import report_to_bytes
from tests.integration.host.agent.rig import Rig, at_work, until
from tests.integration.host.world import declaration, file

ONE = declaration(43, [file("/etc/a")])
TWO = declaration(44, [file("/etc/a")], [file("/etc/b")])
THREE = declaration(43, [file("/etc/a"), file("/etc/b"), file("/etc/c")])


def when_written(monkeypatch: pytest.MonkeyPatch, path: str, do: Callable[[], None]) -> None:
    """Do something while the file at that path is about to be written, the first time."""
    write, done = Files.write_soon, list[str]()

    def written(self: Files, where: str, content: bytes, **more: Any) -> None:
        if where == path and not done:
            done.append(where)
            do()
        write(self, where, content, **more)

    monkeypatch.setattr(Files, "write_soon", written)


def last(rig: Rig) -> tuple[int | None, Doing] | None:
    return (rig.reports[-1].applied, rig.reports[-1].doing) if rig.reports else None


def test_it_begins_at_once_when_a_declaration_comes_and_says_so_before_and_after(rig: Rig) -> None:
    with at_work(rig.agent()):
        until(lambda: last(rig) == (None, Doing.APPLIED), "the first report")
        rig.send(ONE)
        until(lambda: last(rig) == (43, Doing.APPLIED), "applied")
        rig.send(TWO)
        until(lambda: last(rig) == (44, Doing.APPLIED), "applied")
        until(lambda: (rig.heard()[0] or rig.reports[0]).applied == 44, "sent")
    assert [(r.generation, r.applied, r.doing) for r in rig.reports] == [
        (None, None, Doing.APPLIED),
        (43, None, Doing.APPLYING),
        (43, 43, Doing.APPLIED),
        (44, 43, Doing.APPLYING),
        (44, 44, Doing.APPLIED),
    ]


def test_a_broker_that_is_away_at_the_start_keeps_nothing_back(rig: Rig) -> None:
    rig.once(ONE)
    rig.heard()
    (rig.root / "etc/a").write_text("edited\n")
    rig.unreachable()
    rig.reports.clear()
    with at_work(rig.agent()):
        until(lambda: last(rig) == (43, Doing.DRIFTED), "put back")
        assert (rig.root / "etc/a").read_text() == "ours\n"
        assert rig.heard() == (None, None)
        rig.away = None
        until(lambda: (rig.heard()[0] or rig.reports[0]) is not rig.reports[0], "the report that was kept")
    away = "memory:// is out of reach: nobody answers; what is declared here is kept up meanwhile, "
    assert rig.said == [away + "and the broker is tried again", "the broker is in reach again"]


def test_it_looks_again_by_itself(rig: Rig) -> None:
    with at_work(rig.agent(every=0.05)):
        rig.send(ONE)
        until(lambda: last(rig) == (43, Doing.APPLIED), "applied")
        (rig.root / "etc/a").write_text("edited\n")
        until(lambda: any(report.doing is Doing.DRIFTED for report in rig.reports), "seen")
        until(lambda: last(rig) == (43, Doing.APPLIED), "as it was")
    (told,) = [report for report in rig.reports if report.doing is Doing.DRIFTED]
    assert told.why == ("file /etc/a was put back: edited by hand",)


def test_a_newer_one_that_comes_during_a_run_begins_when_what_is_in_hand_is_done(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    newer = declaration(44, [file("/etc/b"), file("/etc/d")])

    agent = rig.agent()

    def send() -> None:
        rig.send(newer)
        until(lambda: agent._saved.something_came, "the newer one is saved")

    when_written(monkeypatch, "/etc/b", send)
    written: list[str] = []
    write = Files.write_soon

    def counted(self: Files, where: str, content: bytes, **more: Any) -> None:
        written.append(where)
        write(self, where, content, **more)

    monkeypatch.setattr(Files, "write_soon", counted)
    with at_work(agent):
        rig.send(THREE)
        until(lambda: last(rig) == (44, Doing.APPLIED), "the newer one is applied")
    assert written == ["/etc/a", "/etc/b", "/etc/d"]
    assert sorted(path.name for path in (rig.root / "etc").iterdir()) == ["b", "d"]
    assert not any(report.applied == 43 for report in rig.reports), "43 never came to its end"


def test_one_that_is_refused_during_a_run_lets_it_go_on(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    many = declaration(43, [file(f"/etc/{name}") for name in "abcdefgh"])
    too_much = declaration(44, [file("/etc/a")], allow_removals=False)

    agent = rig.agent()

    def send() -> None:
        rig.send(too_much)
        until(lambda: agent._saved.something_came, "it is saved")

    when_written(monkeypatch, "/etc/h", send)
    with at_work(agent):
        rig.send(many)
        until(lambda: last(rig) == (43, Doing.REFUSED), "told")
    assert rig.reports[-1].refused == 44
    assert len(list((rig.root / "etc").iterdir())) == 8
    assert rig.holds.read_bytes() == many


def test_what_it_refuses_for_good_it_says_again_until_something_is_taken(rig: Rig) -> None:
    rig.once(declaration(43, [file(f"/etc/{name}") for name in "abcdefgh"]))
    agent = rig.agent(every=0.05)
    rig.reports.clear()
    with at_work(agent):
        rig.send(declaration(44, [file("/etc/a")], allow_removals=False))
        until(lambda: sum(report.refused == 44 for report in rig.reports) > 3, "said again")
        rig.send(declaration(45, [file("/etc/a")]))
        until(lambda: last(rig) == (45, Doing.APPLIED), "taken")
    assert len([line for line in rig.said if "it takes off 7" in line]) == 1


def test_what_it_refused_stands_no_more_once_what_it_has_is_sent_again(rig: Rig) -> None:
    many = declaration(43, [file(f"/etc/{name}") for name in "abcdefgh"])
    rig.once(many)
    with at_work(rig.agent()):
        rig.send(declaration(44, [file("/etc/a")], allow_removals=False))
        until(lambda: last(rig) == (43, Doing.REFUSED), "refused")
        rig.send(many)
        until(lambda: last(rig) == (43, Doing.APPLIED), "it has what it was sent last")


def test_asked_to_stop_it_ends_between_two_actions_and_goes_on_the_next_time(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    agent = rig.agent()
    with at_work(agent) as stop:
        when_written(monkeypatch, "/etc/b", stop.set)
        rig.send(THREE)
        until(stop.is_set, "at work on b")
    assert sorted(path.name for path in (rig.root / "etc").iterdir()) == ["a", "b"]
    assert last(rig) == (None, Doing.APPLYING)
    Journal.open(rig.holds.parent).close()  # nobody holds it
    assert rig.once().applied == 43
    assert (rig.root / "etc/c").exists()


def test_the_journal_is_free_between_two_runs_and_waited_for(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "BUSY", 0.02)
    rig.once(ONE)
    held: list[Journal] = []

    def hold() -> bool:
        with suppress(JournalBusy):
            held.append(Journal.open(rig.holds.parent))
        return bool(held)

    with at_work(rig.agent()):
        until(lambda: len(rig.reports) > 2, "a run")
        until(lambda: bool(held or hold()), "the journal is free")
        rig.send(TWO)
        until(rig.came.exists, "it is saved")
        assert rig.holds.read_bytes() == ONE
        held.pop().close()
        until(lambda: last(rig) == (44, Doing.APPLIED), "applied")
    assert rig.said == []


def test_a_damaged_journal_is_told_and_nothing_is_done(rig: Rig) -> None:
    rig.once(ONE)
    (rig.root / "etc/a").write_text("edited\n")
    (rig.holds.parent / "journal.db").write_bytes(b"no journal" * 500)
    report = rig.once()
    assert report.doing is Doing.FAILED
    assert "cannot be read" in report.why[0]
    assert rig.said == [report.why[0]]
    assert (rig.root / "etc/a").read_text() == "edited\n"


def test_the_parts_of_the_one_before_are_named_until_they_are_off(rig: Rig) -> None:
    """`/etc/b` cannot be taken off as long as somebody keeps things in the directory there."""
    rig.once(TWO)
    journal = Journal.open(rig.holds.parent)
    journal.close()
    (rig.root / "etc/b").unlink()
    (rig.root / "etc/b").mkdir()
    report = rig.once(declaration(45, [file("/etc/a")]))
    assert report.modules == ("m0",), "it was left to whoever put something else there"


def test_what_could_not_be_taken_off_is_still_there(rig: Rig, monkeypatch: pytest.MonkeyPatch) -> None:
    rig.once(TWO)

    def busy(self: Files, path: str, *_rest: Any, **_more: Any) -> None:
        raise OSError(16, "Device or resource busy", path)

    with monkeypatch.context() as patched:
        patched.setattr(Files, "remove", busy)
        report = rig.once(declaration(45, [file("/etc/a")]))
    assert (report.applied, report.doing, report.modules) == (45, Doing.FAILED, ("m0", "m1"))
    assert "Device or resource busy" in report.why[0]
    assert report.why[0].endswith("; the rest is applied")
    assert rig.once().modules == ("m0",)


def test_what_was_applied_by_hand_is_told_with_its_modules(rig: Rig) -> None:
    from tests.integration.host.cli.program import host

    by_hand = rig.root.parent / "pi.json"
    by_hand.write_bytes(TWO)
    assert host("apply", str(by_hand), "--root", str(rig.root)).code == 0
    report = rig.once(TWO)
    assert (report.generation, report.applied, report.modules) == (44, 44, ("m0", "m1"))
    assert rig.once().modules == ("m0", "m1")


def test_what_the_machine_has_is_told_each_time(rig: Rig) -> None:
    here = [Capability(name="kvm", present=False, detail="no /dev/kvm")]

    def probe(_machine: Machine) -> tuple[Capability, ...]:
        return tuple(here)

    with at_work(rig.agent(probe=probe, every=0.05)):
        until(lambda: len(rig.reports) > 1, "reports")
        here[0] = Capability(name="kvm", present=True)
        until(lambda: rig.reports[-1].capabilities == (here[0],), "the change")
    assert rig.reports[0].capabilities == (Capability(name="kvm", present=False, detail="no /dev/kvm"),)


def test_a_report_that_is_too_large_is_cut_and_says_so(rig: Rig) -> None:
    link = rig.root / "blocked"
    link.write_text("a file where a directory would be needed\n")
    longest = "x" * 180
    resources = [file(f"/blocked/{longest}/{number:05}") for number in range(1200)]
    rig.once(declaration(43, resources))
    report, _ = rig.heard()
    assert report is not None
    assert report.doing is Doing.FAILED
    assert report.left_out > 0
    assert len(report.why) + report.left_out == 1200
    assert len(report_to_bytes(report)) <= REPORT_LIMIT


def test_the_work_loop_tells_that_it_is_alive_between_two_actions(
    rig: Rig, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[str] = []
    notifier = Notifier({})
    monkeypatch.setattr(notifier, "_limit", 600.0)
    monkeypatch.setattr(notifier, "_tell", told.append)
    monkeypatch.setattr(notifier, "alive", lambda: told.append("alive"))
    with at_work(rig.agent(notifier=notifier)):
        until(lambda: bool(rig.reports), "it is there")
        rig.send(THREE)
        until(lambda: last(rig) == (43, Doing.APPLIED), "applied")
    begun, ended = (told.index(f"STATUS=generation 43: {doing}") for doing in ("applying", "applied"))
    assert told[begun:ended].count("alive") == 3, "one for each file"
    assert told[0] == "READY=1\nWATCHDOG=1"
    assert "STATUS=generation 43: applied" in told
    assert told[-1] == "STOPPING=1"


def test_several_live_in_one_process(tmp_path: Path) -> None:
    rigs = []
    for node in ("nas", "pi", "vps"):
        (tmp_path / node).mkdir()
        rigs.append(Rig(tmp_path / node, node))
    stop = threading.Event()
    threads = [threading.Thread(target=rig.agent().run, args=(stop,)) for rig in rigs]
    for thread in threads:
        thread.start()
    for rig in rigs:
        rig.send(declaration(1, [file("/etc/motd", rig.node)], node=rig.node))
    for rig in rigs:
        until(lambda rig=rig: last(rig) == (1, Doing.APPLIED), rig.node)  # type: ignore[misc]
        assert (rig.root / "etc/motd").read_text() == rig.node
    stop.set()
    for thread in threads:
        thread.join(timeout=20)
        assert not thread.is_alive()


@pytest.mark.parametrize("every", [0, -1, 300, 1000])
def test_it_looks_more_often_than_every_five_minutes(rig: Rig, every: float) -> None:
    with pytest.raises(ValueError, match="less than 300"):
        rig.agent(every=every)


def test_what_is_said_is_what_is_sent_and_says_when_it_is(rig: Rig) -> None:
    """It may wait for a month to be taken in, and whoever looks wants to know how fresh it is."""
    heard: list[Report] = []
    rig.reports = heard
    instants = (f"2026-12-01T22:20:{second:02}Z" for second in range(60))
    rig.once(ONE, now=lambda: next(instants))
    sent, hello = rig.heard()
    assert sent is not None
    assert sent == evolve(heard[-1], at=sent.at)
    assert hello is not None
    assert hello.at == "2026-12-01T22:20:00Z"
    assert (sent.at or "") > (heard[-1].at or "") > hello.at
