"""What is asked of builders, and what they say <-> the bytes of a message (design, part 9).

{"format": 1, "request": "6f3c...", "module": "web", "repository": "https://...", "ref": "HEAD",
 "paths": ["."], "commit": "a01c..."}

{"format": 1, "request": "6f3c...", "builder": "nas", "said": "taken"}
{"format": 1, "request": "6f3c...", "builder": "nas", "said": "built", "module": {...}, "commit": "a01c...",
 "committed_at": "2026-...Z", "content": "sha256:...", "artifact": "sha256:...", "place": "oci:/srv/registry",
 "shut": "bubblewrap", "log": [...]}
{"format": 1, "request": "6f3c...", "builder": "nas", "said": "failed", "step": "commands", "why": "...",
 "log": [...]}
"""

from __future__ import annotations

from typing import Any

from mesh_core.canonical import canonical_json
from mesh_core.faults import CatalogueError, InvalidValue
from mesh_core.model.build import Artifact, Built, Failed, Request, Said, Taken
from mesh_core.model.catalogue import Catalogue
from mesh_core.model.source import Commit
from mesh_core.wire.data import module_to_data
from mesh_core.wire.document import to_module
from mesh_core.wire.entries import BuiltEntry, FailedEntry, RequestEntry, TakenEntry
from mesh_core.wire.faults import Fault, WireError, misfit, shown, step, under
from mesh_core.wire.message import data_of, entry_of
from mesh_core.wire.origins import artifact_to_data
from mesh_core.wire.text import ANSWER_LIMIT, REQUEST_LIMIT

FORMAT = 1

_SAYS: dict[str, type[Any]] = {"taken": TakenEntry, "built": BuiltEntry, "failed": FailedEntry}


def request_to_data(request: Request) -> dict[str, Any]:
    """A request as plain data."""
    data: dict[str, Any] = {
        "format": FORMAT,
        "request": request.id,
        "module": request.module,
        "repository": request.repository,
        "ref": request.ref,
        "paths": list(request.paths),
        "commit": request.commit,
    }
    return data | {"verify": True} if request.verify else data


def request_to_bytes(request: Request) -> bytes:
    """A request as it is sent."""
    return canonical_json(request_to_data(request)).encode()


def read_request(content: bytes) -> Request:
    """The request in a message's bytes. Raises `WireError`."""
    entry = entry_of(data_of(content, REQUEST_LIMIT), RequestEntry)
    try:
        return _request(entry)
    except InvalidValue as error:
        raise WireError([Fault(path="$", found=str(error), wanted="what is asked of a builder")]) from None


def _request(entry: RequestEntry) -> Request:
    return Request(
        id=entry.request,
        module=entry.module,
        repository=entry.repository,
        commit=entry.commit,
        ref=entry.ref,
        paths=entry.paths,
        verify=entry.verify,
    )


def said_to_data(said: Said) -> dict[str, Any]:
    """What a builder says as plain data."""
    data: dict[str, Any] = {"format": FORMAT, "request": said.request}
    if said.builder is not None:
        data["builder"] = said.builder
    if isinstance(said, Taken):
        return data | {"said": "taken"}
    if isinstance(said, Failed):
        data |= {"said": "failed", "step": said.step.value, "why": said.why}
    else:
        data |= {
            "said": "built",
            "module": module_to_data(said.manifest),
            "commit": said.commit.id,
            "committed_at": said.commit.at,
            **artifact_to_data(said.artifact),
            "shut": said.shut.value,
        }
        data |= {} if said.same is None else {"same": said.same}
    return data | {"log": list(said.log)} if said.log else data


def said_to_bytes(said: Said) -> bytes:
    """What a builder says, as it is sent."""
    return canonical_json(said_to_data(said)).encode()


def read_builder(content: bytes) -> Said:
    """What a builder said, in a message's bytes. Raises `WireError`."""
    data = data_of(content, ANSWER_LIMIT)
    says = data.get("said") if isinstance(data, dict) else None
    if says not in _SAYS:
        fault = misfit(f"found {shown(says)}", "wanted taken, built or failed", path=step("said"))
        raise WireError(under("$", fault.faults))
    entry = entry_of(data, _SAYS[says])
    try:
        return _said(entry)
    except (InvalidValue, CatalogueError) as error:
        raise WireError([Fault(path="$", found=str(error), wanted="what a builder says")]) from None


def _said(entry: TakenEntry | BuiltEntry | FailedEntry) -> Said:
    if isinstance(entry, TakenEntry):
        return Taken(request=entry.request, builder=entry.builder)
    if isinstance(entry, FailedEntry):
        return Failed(
            request=entry.request, builder=entry.builder, step=entry.step, why=entry.why, log=entry.log
        )
    manifest = to_module(entry.module)
    Catalogue(modules=[manifest])  # it has to stand alone at least: with the others is another question
    return Built(
        request=entry.request,
        builder=entry.builder,
        manifest=manifest,
        commit=Commit(id=entry.commit, at=entry.committed_at),
        artifact=Artifact(content=entry.content, artifact=entry.artifact, place=entry.place),
        shut=entry.shut,
        same=entry.same,
        log=entry.log,
    )
