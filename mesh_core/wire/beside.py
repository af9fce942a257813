"""Files beside a document: `content_from` and `template_from`, taken in before anything is checked.

    {kind = "file", path = "/etc/motd", content_from = "files/motd"}

becomes a resource with `content`, so that nothing behind this knows that there was a file. How a file is read
is handed in: nothing is opened here.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from attrs import frozen

from mesh_core.canonical import canonical_json
from mesh_core.wire.faults import Fault, shown, step
from mesh_core.wire.kinds import Kinds
from mesh_core.wire.text import MANIFEST_LIMIT, MESH_LIMIT

TAKEN_IN = {"content_from": "content", "template_from": "template"}
"""The keys that name a file, and the attribute that its text becomes."""

_LARGEST = 3


@frozen(kw_only=True)
class NotRead:
    """A file beside a document that cannot be taken in: what was found, and what would do."""

    found: str
    wanted: str


ReadBeside: TypeAlias = Callable[[str], str | NotRead]
"""The text of a file beside the document, by its path there."""


class Taking:
    """Takes in what the modules of one document name; `faults` collects what cannot be."""

    def __init__(self, read: ReadBeside, kinds: Kinds | None) -> None:
        self._read = read
        self._kinds = kinds
        self._taken = 0
        self.faults: list[Fault] = []

    def modules(self, data: dict[Any, Any]) -> dict[Any, Any]:
        """A mesh document with everything taken in; what is no such document is left as it is."""
        raw = data.get("modules")
        if not isinstance(raw, list):
            return data
        modules = [self.module(module, f"$.modules[{place}]") for place, module in enumerate(raw)]
        return {**data, "modules": modules}

    def module(self, raw: Any, path: str = "$") -> Any:
        """A manifest with everything taken in; larger than a manifest may be is a fault."""
        resources = raw.get("resources") if isinstance(raw, dict) else None
        if not isinstance(resources, list) or not any(map(_names_a_file, resources)):
            return raw
        whole = {**raw}
        whole["resources"] = [
            self._resource(resource, f"{path}.resources[{place}]") if _names_a_file(resource) else resource
            for place, resource in enumerate(resources)
        ]
        size = _size(whole)
        if size > MANIFEST_LIMIT:
            wanted = f"a manifest has at most {MANIFEST_LIMIT}; the largest parts are {_largest(whole)}"
            self.faults.append(Fault(path=path, found=f"{size} bytes with what is taken in", wanted=wanted))
        return whole

    def _resource(self, raw: dict[Any, Any], path: str) -> dict[Any, Any]:
        taken = dict(raw)
        for key, attribute in TAKEN_IN.items():
            if key not in raw or not self._takes(raw.get("kind"), attribute):
                continue
            named = taken.pop(key)
            if attribute in raw:
                both = f"both {attribute!r} and {key!r}"
                self.faults.append(Fault(path=path + step(key), found=both, wanted="give one of them"))
                continue
            text = self._text(named)
            if isinstance(text, NotRead):
                self.faults.append(Fault(path=path + step(key), found=text.found, wanted=text.wanted))
            taken[attribute] = "" if isinstance(text, NotRead) else text
        return taken

    def _takes(self, kind: Any, attribute: str) -> bool:
        return self._kinds is None or not isinstance(kind, str) or self._kinds.takes(kind, attribute)

    def _text(self, named: Any) -> str | NotRead:
        if not isinstance(named, str):
            return NotRead(found=f"found {shown(named)}", wanted="wanted the path of a file beside this one")
        if self._taken > MESH_LIMIT:
            return NotRead(found="not read", wanted=f"at most {MESH_LIMIT} bytes are taken in for a document")
        text = self._read(named)
        if not isinstance(text, NotRead):
            self._taken += len(text)
        return text


def _names_a_file(resource: Any) -> bool:
    return isinstance(resource, dict) and not TAKEN_IN.keys().isdisjoint(resource)


def _size(value: Any) -> int:
    """Bytes of its canonical JSON; what is no plain data is somebody else's fault, and counts nothing."""
    try:
        return len(canonical_json(value).encode("utf-8", "surrogatepass"))
    except (TypeError, ValueError, RecursionError):
        return 0


def _largest(module: dict[Any, Any]) -> str:
    sizes = [(_size(resource), _called(resource)) for resource in module["resources"]]
    largest = sorted(sizes, key=lambda part: (-part[0], part[1]))[:_LARGEST]
    return ", ".join(f"{called} ({size} bytes)" for size, called in largest)


def _called(resource: Any) -> str:
    place = resource.get("path", resource.get("name")) if isinstance(resource, dict) else None
    return str(place) if isinstance(place, str) else shown(resource)
