"""`kvm`: whether virtual machines run at full speed, and this program may start them."""

from __future__ import annotations

import os
from collections.abc import Iterable

from mesh_adapters.host.machine import Machine
from mesh_core.model.node import Capability


class Kvm:
    """The probe `kvm`."""

    reports: tuple[str, ...] = ("kvm",)

    def look(self, machine: Machine) -> Iterable[Capability]:
        """It is there when its device can be opened."""
        try:
            os.close(os.open(machine.root / "dev/kvm", os.O_RDWR | os.O_CLOEXEC))
        except FileNotFoundError:
            yield Capability(name="kvm", present=False, detail="no /dev/kvm")
        except OSError as error:
            yield Capability(name="kvm", present=False, detail=f"/dev/kvm: {error.strerror}")
        else:
            yield Capability(name="kvm", detail="/dev/kvm")
