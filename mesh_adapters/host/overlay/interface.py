"""The interface `mesh0` as a link: looked at, raised, given its address, taken away.

> the kernel's WireGuard where it has one, `wireguard-go` where not.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.overlay.configuration import SeenInterface, read_dump
from mesh_adapters.host.overlay.running import SECONDS, Trouble, run, trouble, well
from mesh_adapters.host.probes.looking import program
from mesh_core.explain import overlay as say
from mesh_core.model.network import DeclaredNetwork, as_range

NAME: Final = "mesh0"
MTU: Final = 1420
"""What is left of 1500 once WireGuard has wrapped a packet, over IPv6 as well."""
KERNEL: Final = "wireguard"
"""The kind of a link that is the kernel's; one of `wireguard-go` is a tun device."""
_UNIT = f"{NAME}-wireguard-go.service"
_NO_ADDRESS = "Cannot assign requested address"
"""What `ip` says of one that is not there: it has gone with another."""


@frozen(kw_only=True)
class Link:
    """A link as it is: the kernel's number of it, its kind, its addresses with their length."""

    index: int
    kind: str
    addresses: frozenset[str]
    up: bool
    mtu: int


def look(machine: Machine) -> Link | None:
    """The link of our name; None where there is none. Raises `Trouble` where that cannot be said."""
    words = ("ip", "-json", "-details", "address", "show", "dev", NAME)
    shown = run(machine, *words)
    if not shown.well and "does not exist" in shown.errors:
        return None
    found = _links(shown)
    if not found:
        raise Trouble(say.cannot(" ".join(words), shown.words))
    return Link(
        index=found[0]["ifindex"],
        kind=found[0].get("linkinfo", {}).get("info_kind", ""),
        addresses=frozenset(_addresses(found[0])),
        up="UP" in found[0].get("flags", ()),
        mtu=found[0].get("mtu", 0),
    )


def _links(shown: Ended) -> list[Mapping[str, Any]]:
    try:
        return [link for link in json.loads(shown.output) if link] if shown.well else []
    except ValueError:
        return []


def _addresses(link: Mapping[str, Any]) -> list[str]:
    """Those that somebody gave it: what the kernel gives each by itself (scope link) counts for nothing."""
    given = [one for one in link.get("addr_info", ()) if one.get("scope") != "link"]
    return [f"{one['local']}/{one['prefixlen']}" for one in given]


def look_inside(machine: Machine) -> SeenInterface | None:
    """What WireGuard says of the link; None where it is none of it.

    The private key is in what `wg` says: of that nothing is kept, or told. Raises `Trouble`.
    """
    words = ("wg", "show", NAME, "dump")
    dumped = run(machine, *words)
    if not dumped.well:
        return None
    try:
        return read_dump(dumped.output, int(time.time()))
    except ValueError:
        # Of what a command says only so much is kept: of some thousand peers the first are not.
        raise Trouble(say.cannot(" ".join(words), "what it says cannot be read")) from None


def raise_it(machine: Machine) -> None:
    """Make the link. Raises `Trouble`, and `Unfinished` where it may come yet."""
    words = ("ip", "link", "add", NAME, "type", "wireguard")
    made = run(machine, *words)
    if made.well:
        return
    if made.code is None:
        raise trouble(" ".join(words), made)
    if program("wireguard-go", machine) is None:
        raise Trouble(say.no_wireguard(made.words))
    command = _wireguard_go(machine)
    if command.argv[0] != "wireguard-go":
        # One whose link was taken from it may not have ended yet; where there is none, that is no fault.
        run(machine, "systemctl", "stop", _UNIT)
    started = machine.run(command)
    if not started.well:
        raise trouble(f"wireguard-go {NAME}", started)


def _wireguard_go(machine: Machine) -> Command:
    """It outlives this process: under systemd in a unit of its own, which no restart of the host ends."""
    plain = ("wireguard-go", NAME)
    if not (machine.root / "run/systemd/system").is_dir():
        return Command(argv=plain, seconds=SECONDS)
    how = ("--quiet", "--collect", f"--unit={_UNIT}", "--property=Type=forking")
    return Command(argv=("systemd-run", *how, *plain), seconds=SECONDS)


def address(machine: Machine, network: DeclaredNetwork, link: Link) -> bool:
    """Give the link its address, and take others off; have it up: whether anything changed.

    Raises `Trouble`.
    """
    wanted = f"{network.address}/{as_range(network.range).prefixlen}"
    others = sorted(link.addresses - {wanted})
    # Those first: with an address the kernel deletes all that came after it in its range.
    for other in others:
        words = ("ip", "address", "delete", other, "dev", NAME)
        ended = run(machine, *words)
        if not ended.well and _NO_ADDRESS not in ended.errors:
            raise trouble(" ".join(words), ended)
    missing = others or wanted not in link.addresses
    if missing:
        well(machine, "ip", "address", "replace", wanted, "dev", NAME)
    down = not link.up or link.mtu != MTU
    if down:
        well(machine, "ip", "link", "set", NAME, "mtu", str(MTU), "up")
    return bool(missing or down)


def take_away(machine: Machine) -> None:
    """No link any more; `wireguard-go` ends with it. Raises `Trouble`."""
    well(machine, "ip", "link", "delete", NAME)
