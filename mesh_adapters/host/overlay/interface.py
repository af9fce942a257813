"""The interface `mesh0`: looked at, made so, taken away. WireGuard of the kernel, or `wireguard-go`.

> A change is applied without dropping unchanged peers (`wg syncconf`); the kernel's WireGuard where it has
> one, `wireguard-go` where not.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from mesh_adapters.host.commands import Command, Ended, command
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay.configuration import SeenInterface, configuration, is_so, read_dump
from mesh_adapters.host.overlay.key import PLACE
from mesh_adapters.host.probes.looking import program
from mesh_adapters.host.whole import write_whole
from mesh_core.explain import overlay as say
from mesh_core.model.network import DeclaredNetwork, as_range

NAME: Final = "mesh0"
MTU: Final = 1420
"""What is left of 1500 once WireGuard has wrapped a packet, over IPv6 as well."""
_SECONDS = 20.0
_UNIT = f"{NAME}-wireguard-go"


@frozen(kw_only=True)
class Seen:
    """The interface as it is: its addresses with their length, whether it is up, and WireGuard's part."""

    addresses: frozenset[str]
    up: bool
    mtu: int
    wireguard: SeenInterface


class Trouble(Exception):
    """Something of the interface cannot be made so, in a sentence."""


def look(machine: Machine) -> Seen | None:
    """The interface; None where there is no link of that name, or one that is no WireGuard."""
    shown = _run(machine, "ip", "-json", "address", "show", "dev", NAME)
    if not shown.well:
        return None
    dumped = _run(machine, "wg", "show", NAME, "dump")
    if not dumped.well:
        return None
    (link,) = [one for one in json.loads(shown.output or "[]") if one]
    return Seen(
        addresses=frozenset(_addresses(link)),
        up="UP" in link.get("flags", ()),
        mtu=int(link.get("mtu", 0)),
        wireguard=read_dump(dumped.output, int(time.time())),
    )


def _addresses(link: Mapping[str, Any]) -> list[str]:
    """Those that somebody gave it: what the kernel gives each by itself (scope link) counts for nothing."""
    return [f"{one['local']}/{one['prefixlen']}" for one in link["addr_info"] if one.get("scope") != "link"]


def is_there(machine: Machine) -> bool:
    """Whether any link has that name."""
    return _run(machine, "ip", "link", "show", "dev", NAME).well


def raise_it(machine: Machine) -> None:
    """Make the link. Raises `Trouble`."""
    made = _run(machine, "ip", "link", "add", NAME, "type", "wireguard")
    if made.well:
        return
    if program("wireguard-go", machine) is None:
        raise Trouble(say.no_wireguard(made.words))
    started = machine.run(_wireguard_go(machine))
    if not started.well:
        raise Trouble(say.cannot(f"wireguard-go {NAME}", started.words))


def _wireguard_go(machine: Machine) -> Command:
    """It outlives this process: under systemd in a unit of its own, which no restart of the host ends."""
    plain = ("wireguard-go", NAME)
    if not (machine.root / "run/systemd/system").is_dir():
        return command(*plain, seconds=_SECONDS)
    how = ("--quiet", "--collect", f"--unit={_UNIT}", "--property=Type=forking")
    return command("systemd-run", *how, *plain, seconds=_SECONDS)


def make_so(
    machine: Machine,
    network: DeclaredNetwork,
    before: DeclaredNetwork | None,
    public_key: str,
    found: Mapping[str, str],
) -> bool:
    """Make the interface, which is there, what it is to be: whether anything was changed. Raises `Trouble`.

    `before` is what it was told last, `found` where the endpoints are.
    """
    seen = look(machine)
    if seen is None:
        raise Trouble(say.not_ours(NAME))
    changed = False
    if not is_so(network, before, seen.wireguard, public_key, found):
        _synchronise(machine, network, found)
        changed = True
    wanted = f"{network.address}/{as_range(network.range).prefixlen}"
    # Those first: with an address the kernel deletes all that came after it in its range.
    for other in sorted(seen.addresses - {wanted}):
        _well(machine, "ip", "address", "delete", other, "dev", NAME)
        changed = True
    if changed or wanted not in seen.addresses:
        _well(machine, "ip", "address", "replace", wanted, "dev", NAME)
        changed = True
    if not seen.up or seen.mtu != MTU:
        _well(machine, "ip", "link", "set", NAME, "mtu", str(MTU), "up")
        changed = True
    return changed


def _synchronise(machine: Machine, network: DeclaredNetwork, found: Mapping[str, str]) -> None:
    """The key stands in the file as well, since `wg` takes one that is not named for none."""
    private = (machine.root / PLACE).read_text().strip()
    place = machine.state / "network.conf"
    write_whole(place, configuration(network, private, found).encode(), 0o600)
    try:
        _well(machine, "wg", "syncconf", NAME, str(place))
    finally:
        place.unlink(missing_ok=True)


def take_away(machine: Machine) -> None:
    """No interface any more. `wireguard-go` ends with it. Raises `Trouble`."""
    if is_there(machine):
        _well(machine, "ip", "link", "delete", NAME)


def forward(machine: Machine, network: DeclaredNetwork | None, was: str | None) -> str | None:
    """Let a relay forward, on this interface alone where the kernel can; what it was for all where not.

    `was` is what the last call gave; it is put back once there is no need any more.
    """
    settings = machine.root / "proc/sys/net"
    own = settings / f"ipv4/conf/{NAME}/forwarding"
    relays = network is not None and network.relay
    if own.exists():
        _set(own, "1" if relays else "0")
    # IPv6 forwards for the whole machine or not at all.
    for_all = settings / "ipv6/conf/all/forwarding"
    if relays and network is not None and ":" in network.address:
        before = for_all.read_text().strip() if was is None else was
        _set(for_all, "1")
        return before
    if was is not None:
        _set(for_all, was)
    return None


def _set(place: Path, value: str) -> None:
    try:
        if place.read_text().strip() != value:
            place.write_text(value)
    except OSError as error:
        raise Trouble(say.cannot(f"{place} = {value}", os.strerror(error.errno or 0))) from error


def _well(machine: Machine, *words: str) -> None:
    ended = _run(machine, *words)
    if not ended.well:
        raise Trouble(say.cannot(" ".join(words), ended.words))


def _run(machine: Machine, *words: str) -> Ended:
    # By hand: whoever only asks how it stands need not load what puts longer commands together.
    return machine.run(Command(argv=words, seconds=_SECONDS))
