"""`tunnel`, with the interfaces: a WireGuard or a tun device that is there."""

from __future__ import annotations

from collections.abc import Iterable

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probes.looking import entries, text
from mesh_core.model.node import Capability


class Tunnel:
    """The probe `tunnel`."""

    reports: tuple[str, ...] = ("tunnel",)

    def look(self, machine: Machine) -> Iterable[Capability]:
        """Those that the kernel calls so; whether anybody answers at the other end is not looked at."""
        there = [e for e in entries(machine.root / "sys/class/net") if (e / "uevent").exists()]
        tunnels = [
            e.name
            for e in there
            if "DEVTYPE=wireguard" in (text(e / "uevent") or "") or (e / "tun_flags").exists()
        ]
        detail = ", ".join(tunnels) or "no WireGuard or tun device"
        yield Capability(name="tunnel", present=bool(tunnels), detail=detail)
