"""`packages:apt`, `packages:dnf`, `packages:pacman`: the package managers that the host works with."""

from __future__ import annotations

from collections.abc import Iterable

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probes.looking import program
from mesh_core.model.node import Capability

_PROGRAMS = {"apt": ("apt-get", "dpkg"), "dnf": ("dnf", "rpm"), "pacman": ("pacman",)}


class Packages:
    """The probe `packages`."""

    reports = tuple(f"packages:{manager}" for manager in _PROGRAMS)

    def look(self, machine: Machine) -> Iterable[Capability]:
        """Each of them, present where all of its programs are."""
        for manager, programs in _PROGRAMS.items():
            missing = [name for name in programs if program(name, machine) is None]
            why = f"there is no {missing[0]}" if missing else None
            yield Capability(name=f"packages:{manager}", present=not missing, detail=why)
