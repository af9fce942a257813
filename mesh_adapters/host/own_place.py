"""Where the host keeps what is its own: the journal, declarations, what it fetched."""

from __future__ import annotations

from typing import Final

PLACE: Final = "var/lib/mesh-host"
"""The directory, under the root."""
