"""The index.json of an OCI image layout, as it was found: what others put into it stays as it stands."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from attrs import evolve, frozen

from mesh_adapters.build.oci import (
    INDEX,
    REF_NAME,
    Descriptor,
    canonical,
    descriptor_from,
    manifests_of,
    object_from,
    referrers_tag,
)


@frozen(kw_only=True)
class LayoutIndex:
    """What index.json says. `entries` are its manifests, with all keys that they have."""

    data: dict[str, Any]

    @property
    def entries(self) -> list[dict[str, Any]]:
        """The manifests that it lists."""
        listed: list[dict[str, Any]] = self.data["manifests"]
        return listed

    def by_name(self, name: str) -> Iterator[Descriptor]:
        """The manifests that have a name; there should be one at most."""
        for entry in self.entries:
            found = descriptor_from(entry)
            if found is not None and dict(found.annotations).get(REF_NAME) == name:
                yield found

    def naming(self, named: Mapping[str, Descriptor]) -> bytes:
        """The bytes of the index once these names stand for these manifests.

        What had one of the names and is something else now stays, without a name: it was published once.
        """
        digests = {each.digest for each in named.values()}
        kept: list[dict[str, Any]] = []
        for entry in self.entries:
            name = _annotations(entry).get(REF_NAME)
            if name not in named:
                kept.append(entry)
            elif not (entry["digest"] in digests or _is_referrers(entry, str(name))):
                nameless = _nameless(entry)
                kept.extend([] if nameless in kept else [nameless])
        new = [
            evolve(each, annotations={**dict(each.annotations), REF_NAME: name}).data()
            for name, each in sorted(named.items())
        ]
        return canonical({**self.data, "manifests": kept + new})


def layout_index(content: bytes) -> LayoutIndex | None:
    """An index.json from its bytes; None where they are none."""
    data = object_from(content)
    return None if data is None or manifests_of(content) is None else LayoutIndex(data=data)


def _annotations(entry: Mapping[str, Any]) -> dict[str, str]:
    return dict(entry.get("annotations") or {})


def _is_referrers(entry: Mapping[str, Any], name: str) -> bool:
    """Whether it is an older index of what refers to something: the newer one has all of it."""
    return entry["mediaType"] == INDEX and name.startswith(referrers_tag("sha256:"))


def _nameless(entry: Mapping[str, Any]) -> dict[str, Any]:
    annotations = {key: value for key, value in _annotations(entry).items() if key != REF_NAME}
    rest = {key: value for key, value in entry.items() if key != "annotations"}
    return {**rest, "annotations": annotations} if annotations else rest
