"""Joining a mesh and leaving it: the credential, the unit that runs the host, and what it kept for itself.

Nothing of this is in the journal: what the host raised for itself is never given back as a declaration's is.
"""

from __future__ import annotations

import json
import tempfile
from contextlib import closing
from pathlib import Path
from typing import Final

from mesh_adapters.broker.opening import open_host
from mesh_adapters.host import systemd
from mesh_adapters.host.agent.saved import CAME, HOLDS
from mesh_adapters.host.credential import (
    PLACE,
    Credential,
    CredentialMissing,
    read_credential,
    to_address,
    write_credential,
)
from mesh_adapters.host.files import sync_directory
from mesh_adapters.host.kind import Failed
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.unit import NAME as UNIT
from mesh_adapters.host.unit import unit_text
from mesh_adapters.host.whole import write_whole
from mesh_core.model.declaration import Declaration
from mesh_core.reconcile import Taken
from mesh_core.wire.declaration import declaration_to_data

UNIT_PLACE: Final = Path("/etc/systemd/system") / UNIT
RUNNING_SYSTEMD: Final = Path("/run/systemd/system")
"""There where systemd is what this machine was started with (sd_booted(3))."""
KEPT: Final = (HOLDS, CAME, "broker-ca.pem")
"""What the host keeps for itself beside its journal, and of no use once it has left."""


def joined_as(root: Path) -> Credential | None:
    """What this machine joined with; None where it has not. Raises `CredentialError`."""
    try:
        return read_credential(root / PLACE)
    except CredentialMissing:
        return None


def has_credential(root: Path) -> bool:
    """Whether there is one, readable or not."""
    return (root / PLACE).is_file()


def see_the_broker(credential: Credential) -> None:
    """See that the broker lets this node take what it is told. Nothing is written, nothing taken.

    Raises `BrokerOutage`s.
    """
    with (
        tempfile.TemporaryDirectory(prefix="mesh-host-") as folder,
        closing(open_host(to_address(credential, folder), credential.node)) as host,
    ):
        host.take(0)


def keep_credential(root: Path, credential: Credential) -> Path:
    """Put it where the host looks for it; where that is. Raises `OSError`."""
    write_credential(root / PLACE, credential)
    return root / PLACE


def drop_credential(root: Path, state: Path) -> None:
    """Take the credential off, and what the host kept for itself. Raises `OSError`."""
    for place in (*(state / name for name in KEPT), root / PLACE):
        if place.is_file():
            place.unlink()
            sync_directory(place.parent)


def has_systemd() -> bool:
    """Whether systemd runs this machine."""
    return RUNNING_SYSTEMD.is_dir()


def has_unit() -> bool:
    """Whether the unit is there."""
    return UNIT_PLACE.is_file()


def put_unit(program: str, machine: Machine, *, start: bool) -> Failed | None:
    """Write the unit, and have systemd run the program now and from each boot on. Raises `OSError`."""
    try:
        text = unit_text(program)
    except ValueError as error:
        return Failed(why=str(error))
    write_whole(UNIT_PLACE, text.encode(), 0o644)
    failed = systemd.reread(machine)
    if failed is not None or not start:
        return failed
    # Not only started: where it runs already, it has another credential from now on.
    return systemd.change(machine, "enable", UNIT) or systemd.bring_up(
        UNIT, "restart", machine, systemd.SETTLED
    )


def take_unit_off(machine: Machine) -> Failed | None:
    """Stop the unit and take it away. Raises `OSError`."""
    failed = systemd.change(machine, "stop", UNIT) or systemd.change(machine, "disable", UNIT)
    if failed is not None:
        return failed
    UNIT_PLACE.unlink()
    sync_directory(UNIT_PLACE.parent)
    return systemd.reread(machine)


def nothing_at_all(taken: Taken) -> bytes:
    """The declaration after the one that was taken last, that there is to be nothing."""
    nothing = Declaration(node=taken.node, generation=taken.generation + 1, allow_removals=True, empty=True)
    return json.dumps(declaration_to_data(nothing)).encode()
