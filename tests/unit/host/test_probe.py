"""Probing: each probe says what it found, and none takes another down."""

from __future__ import annotations

import importlib.metadata
import threading
import time
from collections.abc import Iterable, Iterator
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

from mesh_adapters.host import probe as probing
from mesh_adapters.host.commands import Command, Ended, command
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probe import LONGEST_DETAIL, known_probes, probe_all, report_to_data
from mesh_core.model.node import Capability
from mesh_core.wire.document import read_report
from tests.unit.host.machines import machine_in


class Fixed:
    """Finds what it was given."""

    def __init__(self, *found: Capability) -> None:
        self.reports: tuple[str, ...] = tuple(one.name for one in found)
        self._found = found

    def look(self, machine: Machine) -> Iterable[Capability]:
        return self._found


class Broken:
    """Raises, after it has said something."""

    reports: tuple[str, ...] = ("left", "right")

    def __init__(self, error: BaseException) -> None:
        self._error = error

    def look(self, machine: Machine) -> Iterator[Capability]:
        yield Capability(name="left")
        raise self._error


class Slow:
    """Waits for as long as the test lasts."""

    reports: tuple[str, ...] = ("slow",)

    def __init__(self, until: threading.Event) -> None:
        self._until = until

    def look(self, machine: Machine) -> Iterator[Capability]:
        self._until.wait(30)
        yield Capability(name="slow")


GOOD = ("zz-good", Fixed(Capability(name="good", detail="as gold")))


@pytest.mark.parametrize(
    ("error", "why"),
    [
        (OSError(5, "Input/output error"), "OSError: [Errno 5] Input/output error"),
        (ValueError(), "ValueError"),
        (SystemExit("bye"), "SystemExit: bye"),
    ],
)
def test_a_probe_that_raises_is_absent_with_the_reason(
    tmp_path: Path, error: BaseException, why: str
) -> None:
    found = probe_all([("broken", Broken(error)), GOOD], machine_in(tmp_path))
    assert found == (
        Capability(name="good", detail="as gold"),
        Capability(name="left", present=False, detail=f"the probe failed: {why}"),
        Capability(name="right", present=False, detail=f"the probe failed: {why}"),
    )


def test_a_probe_that_takes_long_is_left_behind(tmp_path: Path) -> None:
    over = threading.Event()
    try:
        found = probe_all([("slow", Slow(over)), GOOD], machine_in(tmp_path), seconds=0.1)
    finally:
        over.set()
    assert found == (
        Capability(name="good", detail="as gold"),
        Capability(name="slow", present=False, detail="the probe failed: it took longer than 0.1 s"),
    )


def test_no_command_of_one_probe_runs_beside_the_next(tmp_path: Path) -> None:
    """A command of one that is left behind ends first, within the time of its probe; it begins no other."""
    running: list[str] = []
    beside: list[list[str]] = []
    limits: list[float] = []

    def run(command: Command) -> Ended:
        running.append(command.argv[-1])
        limits.append(command.seconds)
        beside.append(list(running))
        time.sleep(0.3)
        running.remove(command.argv[-1])
        return Ended(command=command, code=0, output="", errors="")

    class Runs:
        reports: tuple[str, ...] = ("runs",)

        def __init__(self, name: str) -> None:
            self._name = name
            self.reports = (name,)

        def look(self, machine: Machine) -> Iterator[Capability]:
            for _ in range(3):
                machine.run(command("true", self._name, seconds=3600))
            yield Capability(name=self._name)

    found = probe_all([("a", Runs("a")), ("b", Runs("b"))], machine_in(tmp_path, run), seconds=0.1)
    time.sleep(0.3)
    assert beside == [["a"], ["b"]]
    assert all(limit <= 0.1 for limit in limits)
    assert [capability.present for capability in found] == [False, False]


def test_what_is_no_capability_is_the_fault_of_its_probe_alone(tmp_path: Path) -> None:
    class Wrong:
        reports: tuple[str, ...] = ("wrong",)

        def look(self, machine: Machine) -> Iterator[Capability]:
            yield Capability(name="No Name")

    class Mute:
        reports: tuple[str, ...] = ("mute",)

        def look(self, machine: Machine) -> Iterable[Capability]:
            return None  # type: ignore[return-value]

    found = probe_all([("wrong", Wrong()), ("mute", Mute()), GOOD], machine_in(tmp_path))
    assert [(one.name, one.present) for one in found] == [("good", True), ("mute", False), ("wrong", False)]


def test_details_are_one_short_line(tmp_path: Path) -> None:
    long = Fixed(Capability(name="long", detail="a\tb\n" * 100), Capability(name="empty", detail=" \n"))
    broken = Broken(ValueError("\udc80" + "x" * 500))
    found = {one.name: one.detail for one in probe_all([("l", long), ("b", broken)], machine_in(tmp_path))}
    assert (found["long"] or "").startswith("a b a b a b")
    assert found["empty"] is None
    assert (found["left"] or "").startswith("the probe failed: ValueError: ?xxx")
    assert all(len(detail or "") <= LONGEST_DETAIL for detail in found.values())


def test_of_two_verdicts_present_goes_before_absent(tmp_path: Path) -> None:
    no, yes = Fixed(Capability(name="x", present=False)), Fixed(Capability(name="x", detail="here"))
    for probes in ([("a", no), ("b", yes)], [("a", yes), ("b", no)]):
        assert probe_all(probes, machine_in(tmp_path)) == (Capability(name="x", detail="here"),)


def test_the_report_is_what_the_control_plane_reads() -> None:
    import json

    said = (Capability(name="a", detail="1"), Capability(name="b"), Capability(name="c", present=False))
    assert report_to_data(said) == {"a": {"present": True, "detail": "1"}, "b": True, "c": False}
    assert read_report(json.dumps(report_to_data(said)).encode()) == said


def test_one_that_does_not_load_is_absent_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = [
        EntryPoint(name="gone", value="no_such_module_here:Gone", group=probing.GROUP),
        EntryPoint(name="Bad Name", value="no_such_module_here:Gone", group=probing.GROUP),
        EntryPoint(name="disk", value="mesh_adapters.host.probes.disk:Disk", group=probing.GROUP),
    ]
    monkeypatch.setattr(probing, "entry_points", lambda group: points if group == probing.GROUP else [])
    found = {one.name: one for one in probe_all(known_probes(), machine_in(tmp_path))}
    assert found["disk"].present
    assert not found["gone"].present
    assert "the probe gone cannot be loaded: ModuleNotFoundError" in (found["gone"].detail or "")
    assert "Bad Name" in (found["probe"].detail or "")


def test_every_probe_that_ships_is_an_entry_point_and_loads() -> None:
    folder = Path(probing.__file__).parent / "probes"
    shipped = {path.stem for path in folder.glob("*.py")} - {"__init__", "looking"}
    points = importlib.metadata.entry_points(group=probing.GROUP)
    assert shipped <= {point.name for point in points}
    assert all(not isinstance(probe, Capability) for name, probe in known_probes() if name in shipped)
