"""Attributes: plain JSON data whose meaning is the business of a kind, kept as canonical JSON.

Equality of two values that carry some is then that of canonical JSON (design, part 4).
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

from mesh_core.canonical import canonical_json
from mesh_core.faults import BadResource, InvalidValue
from mesh_core.model.text import has_surrogate

LONGEST_BITS = 14_280
"""Python writes no number of more than 4,300 digits in decimal."""

DEEPEST = 64
"""How many lists and objects an attribute may have in each other."""


def canonical_attributes(attributes: Mapping[str, Any] | str) -> str:
    """The canonical JSON of an object of plain data, given as such or as JSON. Raises `InvalidValue`."""
    if attributes == "{}":  # many have none
        return "{}"
    try:
        plain = json.loads(attributes) if isinstance(attributes, str) else dict(attributes)
        why = None if isinstance(plain, dict) else "attributes are an object"
        odd = None if why else _first_fault(plain)
        if odd is not None:
            why = f"attributes are plain JSON data: found {odd}"
        if why is None:
            return canonical_json(plain)
    except (ValueError, TypeError, RecursionError) as error:
        why = f"attributes are plain JSON data: {error}"
    raise InvalidValue(BadResource(why=why))


def plain_fault(value: Any) -> str | None:
    """Why a leaf of an attribute is no plain JSON data; None when it is (or is a list or object)."""
    if isinstance(value, str):
        return "a lone surrogate" if has_surrogate(value) else None
    if isinstance(value, float) and not math.isfinite(value):
        return f"the number {value}"
    if isinstance(value, int) and value.bit_length() > LONGEST_BITS:
        return "a number of thousands of digits"
    if value is None or isinstance(value, bool | int | float | list | dict):
        return None
    return f"a {type(value).__name__}"


def _first_fault(value: Any, depth: int = -1) -> str | None:
    """The first thing in an object of attributes that is no plain data; an attribute has depth 0."""
    if depth > DEEPEST:
        return f"more than {DEEPEST} levels"
    why = plain_fault(value)
    inside: list[Any] = []
    if isinstance(value, list):
        inside = value
    elif isinstance(value, dict):
        odd = [key for key in value if type(key) is not str or has_surrogate(key)]
        why = f"the key {odd[0]!r}, which is no text" if odd else why
        inside = list(value.values())
    return why or next(filter(None, (_first_fault(item, depth + 1) for item in inside)), None)
