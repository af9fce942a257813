"""What is text: anything that UTF-8 can carry."""

from __future__ import annotations

import re
from typing import Any

from mesh_core.faults import BadText, InvalidValue

_SURROGATE = re.compile("[\ud800-\udfff]")


def has_surrogate(text: str) -> bool:
    """Whether a text holds a lone surrogate, which no UTF-8 can carry."""
    return not text.isascii() and _SURROGATE.search(text) is not None


def refuse_surrogates(where: str, *texts: str) -> None:
    """Raise `InvalidValue` if one of the texts is none."""
    if any(map(has_surrogate, texts)):
        raise InvalidValue(BadText(where=where))


def text_validator(_instance: object, attribute: Any, value: str | None) -> None:
    """An attrs validator for text, or None."""
    if value is not None:
        refuse_surrogates(attribute.name, value)
