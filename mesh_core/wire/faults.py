"""A fault in a document: where it is, what was found there, and what would do (design, part 4)."""

from __future__ import annotations

import json
from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any

from attrs import evolve, frozen

from mesh_core.model.attributes import LONGEST_BITS

_LONGEST_SHOWN = 60


@frozen(kw_only=True)
class Fault:
    """One fault. `path` is like `$.modules[2].provides[0].scope`; `$` is the whole document."""

    path: str
    found: str
    wanted: str
    suggestion: str | None = None

    def __str__(self) -> str:
        meant = f" (did you mean {self.suggestion}?)" if self.suggestion else ""
        return f"{self.path}: {self.found}; {self.wanted}{meant}"


class WireError(ValueError):
    """A document that is refused. `faults` has all its faults, at least one.

    Their order is that of the document's kind, so one document's are always told in the same: keys that
    stand twice; the format and keys that are unknown; files that cannot be taken in; the modules, as they are
    listed, and of each its keys as the format has them; what the kinds of their resources have against
    these; the nodes in the same way; last what two of them do to each other.
    """

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults = tuple(_whole(fault) for fault in faults)
        super().__init__("\n".join(str(fault) for fault in self.faults))


@frozen(kw_only=True)
class Again(Fault):
    """A name that stands twice in one list: `first` is where it stood before, seen from where `path` is.

    `found` is the name alone. Once both places are known in full it is a fault like any other.
    """

    first: str


def _whole(fault: Fault) -> Fault:
    if not isinstance(fault, Again):
        return fault
    found = f"{fault.found} stands here and at {fault.first}"
    return Fault(path=fault.path, found=found, wanted=fault.wanted, suggestion=fault.suggestion)


class Misfit(ValueError):
    """A piece of data that does not fit; its place is known only to who called for it."""

    def __init__(self, *faults: Fault) -> None:
        self.faults = faults
        super().__init__("; ".join(str(fault) for fault in faults))


def misfit(found: str, wanted: str, suggestion: str | None = None, path: str = "") -> Misfit:
    """A misfit with one fault; `path` is relative to the piece, like `.name` or `[2]`."""
    return Misfit(Fault(path=path, found=found, wanted=wanted, suggestion=suggestion))


def under(path: str, faults: Iterable[Fault]) -> list[Fault]:
    """The same faults, seen from a place that is `path` further out."""
    return [_under(path, fault) for fault in faults]


def _under(path: str, fault: Fault) -> Fault:
    if isinstance(fault, Again):
        return evolve(fault, path=path + fault.path, first=path + fault.first)
    return evolve(fault, path=path + fault.path)


def step(key: object) -> str:
    """One step of a path: `.name`, or `["odd name"]`."""
    if isinstance(key, int):
        return f"[{key}]"
    text = str(key)
    plain = text.isascii() and text.replace("_", "a").replace("-", "a").isalnum()
    return f".{text}" if plain else f"[{json.dumps(text)}]"


def shown(value: Any) -> str:
    """A short account of a value that was found: `the number 5`, `"nod"`, `a list`."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and value.bit_length() > LONGEST_BITS:
        return "a number of thousands of digits"
    if isinstance(value, int | float):
        return f"the number {_short(repr(value))}"
    if isinstance(value, str):
        return _short(json.dumps(value))
    if isinstance(value, list):
        return "a list"
    if isinstance(value, dict):
        return "an object"
    return f"a {type(value).__name__}"


def _short(text: str) -> str:
    return text if len(text) <= _LONGEST_SHOWN else text[: _LONGEST_SHOWN - 3] + "..."


def near(word: str, known: Iterable[str]) -> str | None:
    """The known word that is nearest in spelling, if one is near."""
    matches = get_close_matches(word, list(known), n=1, cutoff=0.6)
    return matches[0] if matches else None


def listed(words: Iterable[str]) -> str:
    """`a, b or c`."""
    *most, last = words
    return f"{', '.join(most)} or {last}" if most else last
