"""The package managers that a host knows, and which of them a machine has."""

from __future__ import annotations

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.managers.manager import Manager

NAMES = ("apt", "dnf", "pacman")
"""As they stand in the attribute `names`; no manager is claimed that is not tested."""


def manager_of(machine: Machine) -> Manager | None:
    """The manager whose database is under the machine's root; None where there is none.

    A database decides, not a program: Debian has a package `dnf`, and an image has no program at all. Where
    there are several, the first one with packages in it counts.
    """
    # Imported here, so that a command that touches no package reads none of them.
    from mesh_adapters.host.managers.apt import Apt
    from mesh_adapters.host.managers.dnf import Dnf
    from mesh_adapters.host.managers.pacman import Pacman

    managers: tuple[Manager, ...] = (Apt(machine), Pacman(machine), Dnf(machine))
    there = [manager for manager in managers if manager.has_database()]
    return next((manager for manager in there if manager.has_packages()), there[0] if there else None)
