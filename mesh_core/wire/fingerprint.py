"""The fingerprint of plain data: short, and the same in every process."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

from mesh_core.canonical import canonical_json


def fingerprint(data: Any) -> str:
    """The SHA-256 of the canonical JSON of plain data, in hexadecimal."""
    return sha256(canonical_json(data).encode()).hexdigest()
