"""What a kind of check is: attributes that it knows, and one look that changes nothing."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from attrs import frozen

from mesh_adapters.host.kind import Attribute, AttributeFault
from mesh_adapters.host.machine import Machine


@frozen(kw_only=True)
class Look:
    """What one look found: whether it passed, and in words what is so."""

    passed: bool
    detail: str


class CheckKind(Protocol):
    """A kind of check."""

    name: str
    """As it stands in `kind`."""
    attributes: tuple[Attribute, ...]
    """Every attribute that it knows, but for `seconds`, which all have."""

    def faults(self, given: Mapping[str, Any]) -> Iterator[AttributeFault]:
        """What is wrong with the attributes beyond each of them."""
        ...

    def look(self, given: Mapping[str, Any], machine: Machine, seconds: float) -> Look:
        """Look once, for `seconds` at most."""
        ...


def within(seconds: float, look: Callable[[], Look], late: str) -> Look:
    """A look whose parts have no limit together (a name is looked up, an answer comes byte by byte).

    What is late is not waited for; it ends by the limits of its parts, and nobody hears of it.
    """
    found: list[Look] = []
    thread = threading.Thread(target=lambda: found.append(look()), daemon=True)
    thread.start()
    thread.join(seconds)
    return found[0] if found else Look(passed=False, detail=f"{late}: no answer within {seconds:g} s")
