"""What joining says, whoever joins."""

from __future__ import annotations

from mesh_cli.output import note
from mesh_cli.wiring_joining import drop_file


def used_up(file: str) -> bool:
    """Remove the invitation: whether it is gone. Where it is not, that is said."""
    gone = drop_file(file)
    if not gone:
        note(f"{file} could not be removed: remove it, it has this machine's password")
    return gone
