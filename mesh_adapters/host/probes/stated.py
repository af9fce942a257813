"""What the owner states of a machine, and no probe can find: that mail gets out, that a disk is well.

`/etc/mesh-host/capabilities.json` is what `mesh node report` takes: `{"smtp-out": true, "smart": {"present":
true, "detail": "/dev/sda"}}`. Where something else finds it as well, present goes before absent.
"""

from __future__ import annotations

from collections.abc import Iterable

from mesh_adapters.host.machine import Machine
from mesh_core.model.node import Capability
from mesh_core.wire.document import read_report

PLACE = "etc/mesh-host/capabilities.json"


class Stated:
    """The probe `stated`. Raises for a file that is no such object, which the report says then."""

    reports: tuple[str, ...] = ("stated",)

    def look(self, machine: Machine) -> Iterable[Capability]:
        """What is stated; nothing where there is no such file."""
        try:
            content = (machine.root / PLACE).read_bytes()
        except FileNotFoundError:
            return ()
        return read_report(content)
