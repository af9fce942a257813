"""`service`: a unit of systemd runs.

{kind = "service", name = "ssh"}
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from mesh_adapters.host.attributes import text
from mesh_adapters.host.checks.kind import Look
from mesh_adapters.host.kind import Attribute, AttributeFault, Unobservable
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.systemd import UNIT_NAME, is_unit_name, look_at_one, unit_name


class ServiceCheck:
    """The kind of check `service`."""

    name = "service"
    attributes: tuple[Attribute, ...] = (text("name", "the name of a unit", needed=True),)

    def faults(self, given: Mapping[str, Any]) -> Iterator[AttributeFault]:
        """Its name is one of a unit."""
        if not is_unit_name(given["name"]):
            yield AttributeFault(key="name", found=f"found {given['name']!r}", wanted=UNIT_NAME)

    def look(self, given: Mapping[str, Any], machine: Machine, seconds: float) -> Look:
        """Ask systemd."""
        unit = look_at_one(unit_name(given["name"]), machine)
        if isinstance(unit, Unobservable):
            return Look(passed=False, detail=unit.why)
        passed = unit.runs(time.monotonic())
        return Look(passed=passed, detail=f"{unit.name} is {unit.active} ({unit.sub})")
