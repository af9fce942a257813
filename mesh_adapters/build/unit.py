"""The systemd unit of a builder."""

from __future__ import annotations

from mesh_adapters.own_unit import OwnUnit

UNIT = OwnUnit(name="mesh-builder.service", package="mesh_adapters.build")
