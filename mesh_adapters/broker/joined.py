"""Joining a mesh and leaving it, as a node or a builder: the credential, and whether it opens the broker."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path

from mesh_adapters.broker.address import RabbitAddress
from mesh_adapters.broker.credential import (
    Credential,
    CredentialMissing,
    Role,
    read_credential,
    to_address,
    write_credential,
)
from mesh_adapters.broker.opening import open_builder, open_host
from mesh_adapters.host.files import sync_directory
from mesh_core.ports import BuilderBroker, HostBroker


def joined_as(place: Path, role: Role) -> Credential | None:
    """What was joined with; None where nobody has. Raises `CredentialError`."""
    try:
        return read_credential(place, role)
    except CredentialMissing:
        return None


def see_the_broker(credential: Credential) -> None:
    """See that the broker lets this one take what it is told. Nothing is written, and nothing acknowledged.

    Raises `BrokerOutage`s.
    """
    with (
        tempfile.TemporaryDirectory(prefix=f"{credential.role.program}-") as folder,
        closing(_end_of(to_address(credential, folder), credential)) as end,
    ):
        end.take(0)


def _end_of(address: RabbitAddress, credential: Credential) -> HostBroker | BuilderBroker:
    if credential.role is Role.NODE:
        return open_host(address, credential.name)
    return open_builder(address, credential.name)


def keep_credential(place: Path, credential: Credential) -> None:
    """Put it where the program looks for it. Raises `OSError`."""
    write_credential(place, credential)


def drop(places: Iterable[Path]) -> None:
    """Take these files off, those that are there, so that they are gone after a crash. Raises `OSError`."""
    for place in places:
        if place.is_file():
            place.unlink()
            sync_directory(place.parent)
