"""`display`, with its connector and resolution: a screen that is connected."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probes.looking import entries, text
from mesh_core.model.node import Capability


class Display:
    """The probe `display`."""

    reports: tuple[str, ...] = ("display",)

    def look(self, machine: Machine) -> Iterable[Capability]:
        """All that are connected, in one detail."""
        connectors = [e for e in entries(machine.root / "sys/class/drm") if "-" in e.name]
        connected = [c for c in connectors if text(c / "status") == "connected"]
        if connected:
            yield Capability(name="display", detail=", ".join(map(_shown, connected)))
        else:
            why = "nothing is connected" if connectors else "there is nothing to connect one to"
            yield Capability(name="display", present=False, detail=why)


def _shown(connector: Path) -> str:
    name = connector.name.partition("-")[2]
    mode = (text(connector / "modes") or "").partition("\n")[0]
    return f"{name} {mode}".strip()
