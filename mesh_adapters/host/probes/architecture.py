"""`arch:x86_64`: what the processor runs, in the kernel's word for it."""

from __future__ import annotations

from collections.abc import Iterable

from mesh_adapters.host.machine import Machine
from mesh_core.model.node import Capability


class Architecture:
    """The probe `architecture`."""

    reports: tuple[str, ...] = ("arch",)

    def look(self, machine: Machine) -> Iterable[Capability]:
        """One capability, and never another."""
        import platform

        yield Capability(name=f"arch:{platform.machine().lower()}")
