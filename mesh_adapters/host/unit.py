"""The systemd unit of the host's daemon."""

from __future__ import annotations

from mesh_adapters.own_unit import OwnUnit

UNIT = OwnUnit(name="mesh-host.service", package="mesh_adapters.host")
