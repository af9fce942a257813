"""Probes: what this machine has, each capability with a verdict and perhaps a detail (design, parts 2 and 8).

Each probe is one small file under `probes/`, found through the entry-point group `mesh.probes`, so that
others add theirs: an entry point loads a class without arguments that keeps the promise of `Probe`. One that
raises, or takes too long, takes no other down: what it would have reported is absent, with the reason.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib.metadata import EntryPoint, entry_points
from typing import Protocol

from attrs import evolve

from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.machine import Machine
from mesh_core.faults import NameKind
from mesh_core.model.names import name_fault
from mesh_core.model.node import Capability

GROUP = "mesh.probes"
SECONDS = 10.0
"""How long one probe may take."""
LONGEST_DETAIL = 200


class Probe(Protocol):
    """Looks for something on the machine, and changes nothing."""

    reports: tuple[str, ...]
    """The capabilities that are absent, with the reason, where it fails."""

    def look(self, machine: Machine) -> Iterable[Capability]:
        """What was found. It may raise: then nothing was."""
        ...


class _TooLate(Exception):
    """A probe that nobody waits for any more begins another command."""


def known_probes() -> Sequence[tuple[str, Probe | Capability]]:
    """Every probe with its name, in the order of names; an absent capability for one that does not load."""
    points = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return [(point.name, _loaded(point)) for point in points]


def _loaded(point: EntryPoint) -> Probe | Capability:
    try:
        probe: Probe = point.load()()
    except Exception as error:
        return _absent(point.name, f"the probe {point.name} cannot be loaded: {_words(error)}")
    return probe


def probe_all(
    probes: Iterable[tuple[str, Probe | Capability]], machine: Machine, seconds: float = SECONDS
) -> tuple[Capability, ...]:
    """What all probes found, by name. Where two report one capability, present goes before absent."""
    found: dict[str, Capability] = {}
    for name, probe in probes:
        reported = [probe] if isinstance(probe, Capability) else _Looking(name, probe, machine).look(seconds)
        for capability in reported:
            known = found.get(capability.name)
            if known is None or (capability.present and not known.present):
                found[capability.name] = capability
    return tuple(found[name] for name in sorted(found))


def report_to_data(capabilities: Iterable[Capability]) -> Mapping[str, object]:
    """The report document: capability to verdict, with the detail where there is one."""
    return {
        c.name: c.present if c.detail is None else {"present": c.present, "detail": c.detail}
        for c in capabilities
    }


class _Looking:
    """One probe at work, in a thread that can be left behind where it hangs.

    One after another, not side by side: what a command that took too long left behind is ended by whose child
    it is, and that has to be the command of one probe.
    """

    def __init__(self, name: str, probe: Probe, machine: Machine) -> None:
        self._name = name
        self._probe = probe
        self._really_run = machine.run
        self._machine = evolve(machine, run=self._run)
        self._ends = 0.0
        self._running = threading.Lock()
        self._left_behind = False
        self._found: list[Capability] | None = None
        self._why = ""

    def look(self, seconds: float) -> list[Capability]:
        self._ends = time.monotonic() + seconds
        thread = threading.Thread(target=self._look, daemon=True)
        thread.start()
        thread.join(seconds)
        if thread.is_alive():
            with self._running:  # a command ends by its own limit; nothing of it runs beside the next probe
                self._left_behind = True
            return self._nothing(f"it took longer than {seconds:g} s")
        return self._nothing(self._why) if self._found is None else self._found

    def _look(self) -> None:
        try:
            self._found = [_fit(capability) for capability in self._probe.look(self._machine)]
        except BaseException as error:  # whatever it is, this thread is all that ends of it
            self._why = _words(error)

    def _run(self, command: Command) -> Ended:
        with self._running:
            left = self._ends - time.monotonic()
            if self._left_behind or left <= 0:
                raise _TooLate
            return self._really_run(evolve(command, seconds=min(command.seconds, left)))

    def _nothing(self, why: str) -> list[Capability]:
        try:
            names = tuple(self._probe.reports)
        except Exception:
            names = (self._name,)
        return [_absent(name, f"the probe failed: {why}") for name in names]


def _absent(name: str, why: str) -> Capability:
    fitting = name_fault(NameKind.CAPABILITY, name) is None
    return Capability(name=name if fitting else "probe", present=False, detail=_line(why))


def _fit(capability: Capability) -> Capability:
    """With a detail of one short line: it comes from wherever, and goes into a report."""
    detail = None if capability.detail is None else _line(capability.detail)
    return evolve(capability, detail=detail or None)


def _line(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())[:LONGEST_DETAIL]


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
