"""Joining and leaving as a node: what the journal has to do with it; the rest is as for a builder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from mesh_cli import wiring_joining
from mesh_cli.host.wiring import journal_looked_at, journal_of

if TYPE_CHECKING:
    from mesh_cli.host.wiring import Journal
    from mesh_cli.wiring_joining import Role


def node() -> Role:
    """What this machine joins as."""
    return wiring_joining.role_called("node")


def place_of(root: Path) -> Path:
    """Where the credential is."""
    return root / node().place


def other_node(root: Path, name: str) -> str | None:
    """Which other node this machine is; None where it is none, or that one. Raises `JournalError`."""
    joined = wiring_joining.joined_as(place_of(root), node())
    with journal_looked_at(root) as journal:
        taken = journal.taken()
    names = [joined, None if taken is None else taken.node]
    return next((found for found in names if found not in (None, name)), None)


def has_credential(root: Path) -> bool:
    """Whether this machine has joined: there is a credential, readable or not."""
    return place_of(root).is_file()


def nothing_at_all(journal: Journal) -> bytes | None:
    """The declaration that gives everything back; None where nothing was ever taken."""
    from mesh_adapters.host.joining import nothing_at_all as declared

    taken = journal.taken()
    return None if taken is None else declared(taken)


def make_key(root: Path) -> str | None:
    """The public key of this machine in the overlay, made if there is none; None where it can have none."""
    from mesh_adapters.host.machine import machine_at
    from mesh_adapters.host.overlay.keeping import Keeping

    return Keeping(machine_at(root)).key


def leave_network(root: Path) -> tuple[str, ...]:
    """Take this machine's part of the overlay off: what kept it from going, in sentences."""
    from mesh_adapters.host.machine import machine_at
    from mesh_adapters.host.overlay.keeping import Keeping

    return Keeping(machine_at(root)).leave().failed


def drop_credential(root: Path) -> None:
    """Take the credential off, the key in the overlay, and what the host kept for itself."""
    from mesh_adapters.host.joining import KEPT
    from mesh_adapters.host.machine import machine_at
    from mesh_adapters.host.overlay.key import forget_key

    forget_key(machine_at(root))
    wiring_joining.drop((*(journal_of(root) / name for name in KEPT), place_of(root)))
