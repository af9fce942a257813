"""`disk`, with the size of the root file system and what is free of it."""

from __future__ import annotations

import os
from collections.abc import Iterable

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probes.looking import size
from mesh_core.model.node import Capability


class Disk:
    """The probe `disk`."""

    reports: tuple[str, ...] = ("disk",)

    def look(self, machine: Machine) -> Iterable[Capability]:
        """Free is what somebody without privileges could use."""
        found = os.statvfs(machine.root)
        whole, free = (count * found.f_frsize for count in (found.f_blocks, found.f_bavail))
        yield Capability(name="disk", detail=f"{size(whole)}, {size(free)} free")
