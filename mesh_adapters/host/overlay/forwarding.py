"""What a relay needs of the kernel: that it passes on what comes in through the interface.

As little as the kernel allows: IPv4 for this interface alone, and IPv6 too where it can (Linux 6.17). With an
older one IPv6 forwards for the whole machine or not at all, and a machine that forwards forgets the way that
its router announces, unless it is told to listen on (`accept_ra` 2). What was there is put back.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Final

from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay.interface import NAME
from mesh_adapters.host.overlay.running import Trouble
from mesh_core.explain import overlay as say
from mesh_core.model.network import DeclaredNetwork

IPV4: Final = f"ipv4/conf/{NAME}/forwarding"
IPV6: Final = f"ipv6/conf/{NAME}/force_forwarding"
WHOLE: Final = "ipv6/conf/all/forwarding"
_LISTENS, _LISTENS_ON = "1", "2"

Remember = Callable[[Mapping[str, str]], None]


def forward(
    machine: Machine, network: DeclaredNetwork | None, was: Mapping[str, str], remember: Remember
) -> bool:
    """Let a relay forward, and nobody who is none any more: whether anything changed.

    `was` is what settings of ours were before, and `remember` is called with what that is from then on,
    before anything is set that is not in it. Raises `Trouble`.
    """
    place = machine.root / "proc/sys/net"
    wanted = _wanted(place, network, was)
    over = {name: value for name, value in was.items() if name not in wanted}
    # A router's way is gone as soon as all forward, unless its owner listens on: so forwarding ends first.
    back = sorted(over.items(), key=lambda setting: setting[0] != WHOLE)
    changed = _set_all(place, back)
    keeping = {name: was[name] if name in was else _read(place / name) for name in wanted}
    if keeping != dict(was):
        remember(keeping)
    return _set_all(place, wanted.items()) or changed


def of_the_machine(was: Mapping[str, str]) -> dict[str, str]:
    """Those of these settings that do not go with the interface."""
    return {name: value for name, value in was.items() if f"/{NAME}/" not in name}


def _wanted(place: Path, network: DeclaredNetwork | None, was: Mapping[str, str]) -> dict[str, str]:
    if network is None or not network.relay:
        return {}
    if ":" not in network.address:
        return {IPV4: "1"}
    if (place / IPV6).exists():
        return {IPV6: "1"}
    links = {link.name for link in (place / "ipv6/conf").iterdir()} - {"all", "lo", NAME}
    listening = [f"ipv6/conf/{link}/accept_ra" for link in sorted(links)]
    ours = [name for name in listening if name in was or _read(place / name) == _LISTENS]
    return {**dict.fromkeys(ours, _LISTENS_ON), WHOLE: "1"}


def _read(place: Path) -> str:
    try:
        return place.read_text().strip()
    except OSError:
        return ""


def _set_all(place: Path, values: Iterable[tuple[str, str]]) -> bool:
    """Whether any of them was another."""
    return sum(_set(place / name, value) for name, value in values) > 0


def _set(place: Path, value: str) -> bool:
    """Whether it was another; what is not there any more needs no setting."""
    if not place.exists() or _read(place) == value:
        return False
    try:
        place.write_text(value)
    except OSError as error:
        raise Trouble(say.cannot(f"{place} = {value}", os.strerror(error.errno or 0))) from error
    return True
