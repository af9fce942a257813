"""`systemd`, with its version: whether it is what started this machine and runs its services."""

from __future__ import annotations

from collections.abc import Iterable

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probes.looking import program, version
from mesh_core.model.node import Capability


class Systemd:
    """The probe `systemd`."""

    reports: tuple[str, ...] = ("systemd",)

    def look(self, machine: Machine) -> Iterable[Capability]:
        """As sd_booted(3): it made its directory under /run."""
        if (machine.root / "run/systemd/system").is_dir():
            yield Capability(name="systemd", detail=version("systemctl", machine))
        elif program("systemctl", machine) is not None:
            why = "it is installed, and something else started this machine"
            yield Capability(name="systemd", present=False, detail=why)
        else:
            yield Capability(name="systemd", present=False, detail="it is not installed")
