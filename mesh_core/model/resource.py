"""A resource: one thing on a machine that a module consists of (design, part 4).

The core takes any kind. It knows a resource's identity, and whether two resources are equal; what the
attributes mean is the business of the kinds.
"""

from __future__ import annotations

import json
import math
import posixpath
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

from mesh_core.canonical import canonical_json
from mesh_core.faults import BadResource, InvalidValue
from mesh_core.model.text import has_surrogate

LONGEST_BITS = 14_280
"""Python writes no number of more than 4,300 digits in decimal."""

DEEPEST = 64
"""How many lists and objects an attribute may have in each other."""

RESERVED_KEYS = frozenset({"kind", "path", "name"})


def _canonical_attributes(attributes: Mapping[str, Any] | str) -> str:
    try:
        plain = json.loads(attributes) if isinstance(attributes, str) else dict(attributes)
        why = None if isinstance(plain, dict) else "attributes are an object"
        why = why or _first_fault(plain)
        if why is None:
            return canonical_json(plain)
    except (ValueError, TypeError, RecursionError) as error:
        why = f"attributes are plain JSON data: {error}"
    raise InvalidValue(BadResource(why=why))


@frozen(kw_only=True)
class Resource:
    """One resource of a module.

    `kind` is any text without ':' other than 'path'; exactly one of `path` (absolute and normal) and
    `name` is given. `attributes_json` is the canonical JSON object of everything else, so that equality
    of two resources is that of canonical JSON; it may be given as a mapping of plain data.
    Raises `InvalidValue`.
    """

    kind: str
    path: str | None = None
    name: str | None = None
    attributes_json: str = field(default="{}", converter=_canonical_attributes)

    def __attrs_post_init__(self) -> None:
        why = kind_fault(self.kind) or place_fault(self.path, self.name)
        if why is None and RESERVED_KEYS & self.attributes.keys():
            why = "kind, path and name are not attributes"
        if why is not None:
            raise InvalidValue(BadResource(why=why))

    @property
    def identity(self) -> str:
        """`path:/etc/motd`, or `package:zsh` (kind and name)."""
        if self.path is not None:
            return f"path:{self.path}"
        return f"{self.kind}:{self.name}"

    @property
    def attributes(self) -> dict[str, Any]:
        """A fresh copy of the attributes as plain data."""
        copy: dict[str, Any] = json.loads(self.attributes_json)
        return copy


def kind_fault(kind: str) -> str | None:
    """Why `kind` is no kind of resource; None when it is one."""
    if not kind:
        return "the kind is empty"
    if has_surrogate(kind):
        return "a lone surrogate is no text"
    if ":" in kind or kind == "path":
        return f"{kind!r} is no kind: it has no ':' and is not 'path'"
    return None


def place_fault(path: str | None, name: str | None) -> str | None:
    """Why a path and a name do not make an identity; None when they do."""
    if (path is None) == (name is None):
        return "a resource has exactly one of 'path' and 'name'"
    if has_surrogate(path or name or ""):
        return "a lone surrogate is no text"
    if path is not None:
        return path_fault(path)
    return None if name else "the name is empty"


def path_fault(path: str) -> str | None:
    """Why `path` is not absolute and normal; None when it is."""
    if "\0" in path:
        return "a path has no NUL character"
    if not path.startswith("/"):
        return f"{path!r} is no absolute path"
    normal = normal_path(path)
    return None if path == normal else f"{path!r} is not normal; {normal!r} would do"


def normal_path(path: str) -> str:
    """The normal spelling of an absolute path."""
    return "/" + posixpath.normpath(path).lstrip("/")


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
