"""Canonical JSON (design, part 4): the one spelling by which plain data is compared and sorted."""

from __future__ import annotations

import json
from typing import Any

_ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def canonical_json(value: Any) -> str:
    """The canonical JSON of plain data; `1`, `1.0` and `true` differ in it.

    Raises `ValueError` for NaN and infinities, `TypeError` for what is no plain JSON data.
    """
    return _ENCODER.encode(value)
