"""Where a manifest came from <-> plain data, as the event log and the store keep it.

{"from": "hand"}
{"from": "shipped", "version": "0.3"}
{"from": "build", "build": "6f3c...", "builder": "nas", "commit": "a01c...", "committed_at": "2026-...Z",
 "content": "sha256:...", "artifact": "sha256:...", "place": "oci:/srv/registry", "shut": "bubblewrap"}
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, assert_never

from mesh_core.model.build import Artifact, Shut
from mesh_core.model.origin import FromBuild, Handed, Origin, Shipped
from mesh_core.model.source import Commit


def origin_to_data(origin: Origin) -> dict[str, Any]:
    """An origin as plain data."""
    match origin:
        case Handed():
            return {"from": "hand"}
        case Shipped(version=version):
            return {"from": "shipped", "version": version}
        case FromBuild():
            return {
                "from": "build",
                "build": origin.build,
                "builder": origin.builder,
                "commit": origin.commit.id,
                "committed_at": origin.commit.at,
                **artifact_to_data(origin.artifact),
                "shut": origin.shut.value,
                **({} if origin.built_at is None else {"built_at": origin.built_at}),
            }
        case _:
            assert_never(origin)


def artifact_to_data(artifact: Artifact) -> dict[str, Any]:
    """An artifact as plain data."""
    return {"content": artifact.content, "artifact": artifact.artifact, "place": artifact.place}


def origin_from_data(data: Mapping[str, Any]) -> Origin:
    """The origin that `origin_to_data` wrote.

    Raises `KeyError` or `ValueError` for anything else: only the program itself writes these.
    """
    match data["from"]:
        case "hand":
            return Handed()
        case "shipped":
            return Shipped(version=data["version"])
        case "build":
            return FromBuild(
                build=data["build"],
                builder=data["builder"],
                commit=Commit(id=data["commit"], at=data["committed_at"]),
                artifact=Artifact(content=data["content"], artifact=data["artifact"], place=data["place"]),
                shut=Shut(data["shut"]),
                built_at=data.get("built_at"),
            )
        case other:
            raise ValueError(f"nothing comes from {other!r}")
