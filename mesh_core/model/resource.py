"""A resource: one thing on a machine that a module consists of (design, part 4).

The core takes any kind. It knows a resource's identity, and whether two resources are equal; what the
attributes mean is the business of the kinds.
"""

from __future__ import annotations

import json
import posixpath
from typing import Any

from attrs import field, frozen

from mesh_core.faults import BadResource, InvalidValue
from mesh_core.model.attributes import canonical_attributes
from mesh_core.model.text import has_surrogate

TREE = "tree"
"""The kind of resource that is a module's artifact at a path."""

RESERVED_KEYS = frozenset({"kind", "path", "name"})


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
    attributes_json: str = field(default="{}", converter=canonical_attributes)

    def __attrs_post_init__(self) -> None:
        why = kind_fault(self.kind) or place_fault(self.path, self.name)
        if (
            why is None
            and _may_hold_reserved(self.attributes_json)
            and RESERVED_KEYS & self.attributes.keys()
        ):
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


def _may_hold_reserved(attributes_json: str) -> bool:
    """Whether it is worth reading: most have none, and canonical JSON writes a key in one way only."""
    return attributes_json != "{}" and any(f'"{key}":' in attributes_json for key in RESERVED_KEYS)


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
    if "/." not in path and "//" not in path and not path.endswith("/"):
        return None  # nothing in it could be spelt in another way; this is far quicker than to spell it
    normal = normal_path(path)
    return None if path == normal else f"{path!r} is not normal; {normal!r} would do"


def normal_path(path: str) -> str:
    """The normal spelling of an absolute path."""
    return "/" + posixpath.normpath(path).lstrip("/")
