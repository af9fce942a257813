"""`gpu`, with driver and device: something that renders, not only shows."""

from __future__ import annotations

from collections.abc import Iterable

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probes.looking import entries
from mesh_core.model.node import Capability


class Gpu:
    """The probe `gpu`."""

    reports: tuple[str, ...] = ("gpu",)

    def look(self, machine: Machine) -> Iterable[Capability]:
        """The first device that renders."""
        if not (machine.root / "dev/dri").is_dir():
            yield Capability(name="gpu", present=False, detail="no /dev/dri")
            return
        renders = [e.name for e in entries(machine.root / "dev/dri") if e.name.startswith("renderD")]
        if not renders:
            yield Capability(name="gpu", present=False, detail="nothing in /dev/dri renders")
            return
        driver = machine.root / "sys/class/drm" / renders[0] / "device/driver"
        named = [driver.resolve().name] if driver.exists() else []
        yield Capability(name="gpu", detail=", ".join([*named, f"/dev/dri/{renders[0]}"]))
