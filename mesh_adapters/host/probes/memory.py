"""`memory`, with how much there is."""

from __future__ import annotations

import re
from collections.abc import Iterable

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probes.looking import size, text
from mesh_core.model.node import Capability


class Memory:
    """The probe `memory`."""

    reports: tuple[str, ...] = ("memory",)

    def look(self, machine: Machine) -> Iterable[Capability]:
        """What the kernel manages: a little less than is built in."""
        found = re.search(r"^MemTotal:\s+(\d+) kB$", text(machine.root / "proc/meminfo") or "", re.MULTILINE)
        if found is None:
            yield Capability(name="memory", present=False, detail="/proc/meminfo does not say")
        else:
            yield Capability(name="memory", detail=size(int(found.group(1)) * 1024))
