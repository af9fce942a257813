"""The machine's private key in the overlay: made here, once, and never anywhere else.

> The private key is made there and never leaves; the public one is reported.
"""

from __future__ import annotations

from typing import Final

from mesh_adapters.host.commands import command
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probes.looking import program, text
from mesh_adapters.host.whole import write_whole
from mesh_core.model.network import key_fault

PLACE: Final = "etc/mesh-host/network.key"
_SECONDS = 10.0


def public_key(machine: Machine) -> str | None:
    """The public key, made with its private one where there is none yet; None where that cannot be.

    That is where WireGuard's tools are not installed, and under a root. Raises `OSError` where it cannot be
    kept.
    """
    if not machine.running or program("wg", machine) is None:
        return None
    place = machine.root / PLACE
    if text(place) is None:
        made = machine.run(command("wg", "genkey", seconds=_SECONDS))
        if not made.well or key_fault(made.output.strip()) is not None:
            return None
        write_whole(place, made.output.encode(), 0o600)
    # `wg pubkey` reads its input, and a command of the host has none: so a shell hands it the file.
    found = machine.run(command("sh", "-c", 'exec wg pubkey <"$0"', str(place), seconds=_SECONDS))
    public = found.output.strip()
    return public if found.well and key_fault(public) is None else None


def forget_key(machine: Machine) -> None:
    """The machine is no node any more: whoever it was in the overlay, nobody is it now."""
    (machine.root / PLACE).unlink(missing_ok=True)
