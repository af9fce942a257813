"""The attributes of a resource against those that its kind knows: what is unknown, missing, or no use."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from difflib import get_close_matches
from typing import Any

from mesh_adapters.host.kind import Attribute, AttributeFault, Kind
from mesh_core import Resource

_MODE = re.compile(r"0[0-7]{3}|[0-7]{4}")
_USER = re.compile(r"[a-z_][a-z0-9_-]{0,31}\$?|\d{1,10}")


def faults_of(resource: Resource, kind: Kind) -> Iterator[AttributeFault]:
    """Everything that a kind has against a resource; nothing where it can use it."""
    if (resource.path is None) != (kind.place == "name"):
        wanted = f"a {kind.name} has a '{kind.place}'"
        yield AttributeFault(key="path" if resource.path else "name", found="this key", wanted=wanted)
    yield from attribute_faults(resource.attributes, kind.attributes, f"a {kind.name}")
    yield from kind.faults(resource)


def attribute_faults(
    given: Mapping[str, Any], attributes: Iterable[Attribute], who: str
) -> Iterator[AttributeFault]:
    """What is unknown, of no use or missing in what was given; `who` knows the attributes."""
    known = {attribute.name: attribute for attribute in attributes}
    for key, value in given.items():
        if key not in known:
            near = get_close_matches(key, known, n=1)
            wanted = f"{who} knows {', '.join(sorted(known)) or 'no attribute'}"
            yield AttributeFault(
                key=key, found="unknown attribute", wanted=wanted, suggestion=near[0] if near else None
            )
        elif not known[key].fits(value):
            yield AttributeFault(key=key, found=f"found {_shown(value)}", wanted=known[key].wanted)
    for attribute in known.values():
        if attribute.needed and attribute.name not in given:
            yield AttributeFault(key=attribute.name, found="missing", wanted=attribute.wanted)


def _shown(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 60 else text[:57] + "..."


def text(name: str, wanted: str = "text", *, needed: bool = False) -> Attribute:
    """An attribute that is text."""
    return Attribute(name=name, wanted=wanted, fits=lambda value: isinstance(value, str), needed=needed)


def truth(name: str) -> Attribute:
    """An attribute that is true or false."""
    return Attribute(name=name, wanted="true or false", fits=lambda value: isinstance(value, bool))


def texts(name: str, wanted: str = "a list of texts", *, needed: bool = False) -> Attribute:
    """An attribute that is a list of texts, of which there is one at least."""
    return Attribute(name=name, wanted=wanted, fits=_are_texts, needed=needed)


def paths(name: str) -> Attribute:
    """An attribute that is a list of absolute paths."""
    wanted = "a list of absolute paths"
    fits = lambda value: _are_texts(value) and all(item.startswith("/") for item in value)  # noqa: E731
    return Attribute(name=name, wanted=wanted, fits=fits)


def seconds(name: str) -> Attribute:
    """An attribute that is a number of seconds, above 0."""
    return Attribute(
        name=name,
        wanted="a number of seconds above 0",
        fits=lambda value: isinstance(value, int | float) and not isinstance(value, bool) and value > 0,
    )


MODE = Attribute(
    name="mode",
    wanted='four octal digits in quotes, like "0644"',
    fits=lambda value: isinstance(value, str) and _MODE.fullmatch(value) is not None,
)
OWNER = Attribute(
    name="owner",
    wanted="the name of a user, or its number in quotes",
    fits=lambda value: isinstance(value, str) and _USER.fullmatch(value) is not None,
)
GROUP = Attribute(
    name="group",
    wanted="the name of a group, or its number in quotes",
    fits=lambda value: isinstance(value, str) and _USER.fullmatch(value) is not None,
)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, str) for item in value)
