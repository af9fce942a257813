"""Which machine this is: what tells two machines apart that answer to one name (design, part 11)."""

from __future__ import annotations

import re
import uuid
from pathlib import Path

from mesh_adapters.host.whole import write_whole

_FORM = re.compile(r"[0-9a-f]{32}")
_SYSTEMS = "etc/machine-id"
_OWN = "machine-id"


def machine_id(root: Path, state: Path) -> str:
    """The system's id of this machine; where it has none, one of our own that is kept in `state`.

    Raises `OSError` where that cannot be kept.
    """
    for place in (root / _SYSTEMS, state / _OWN):
        found = _read(place)
        if found is not None:
            return found
    made = uuid.uuid4().hex
    write_whole(state / _OWN, f"{made}\n".encode())
    return made


def _read(place: Path) -> str | None:
    """An id as it stands in a file; None for anything else, as for the `uninitialized` of an image."""
    try:
        text = place.read_text("ascii", "replace").strip()
    except OSError:
        return None
    return text if _FORM.fullmatch(text) else None
