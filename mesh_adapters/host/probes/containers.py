"""`podman`, and `containers` where there is something that runs them: podman is what the host works with."""

from __future__ import annotations

from collections.abc import Iterable

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probes.looking import program, version
from mesh_core.model.node import Capability


class Containers:
    """The probe `containers`."""

    reports: tuple[str, ...] = ("containers", "podman")

    def look(self, machine: Machine) -> Iterable[Capability]:
        """Both, present where podman says its version."""
        if program("podman", machine) is None:
            found, said = None, "there is no podman"
        else:
            found = version("podman", machine)
            said = found or "podman does not run"
        yield Capability(name="podman", present=found is not None, detail=said)
        runs = f"podman {found}" if found else said
        yield Capability(name="containers", present=found is not None, detail=runs)
