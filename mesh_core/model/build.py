"""A build: what is asked of a builder, and what it answers (design, parts 9 and 11)."""

from __future__ import annotations

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import Any, TypeAlias

from attrs import field, frozen
from attrs.validators import optional

from mesh_core.faults import BadSource, InvalidValue, NameKind
from mesh_core.model.module import Module
from mesh_core.model.names import name_validator
from mesh_core.model.source import (
    Commit,
    commit_validator,
    in_order,
    paths_validator,
    ref_validator,
    repository_validator,
)

_DIGEST = re.compile("sha256:[0-9a-f]{64}")
_ID = re.compile("[0-9a-f]{8,64}")


DIGEST_RULE = "sha256: and 64 of 0-9 and a-f"
ID_RULE = "8 to 64 of 0-9 and a-f"


def digest_fault(digest: str) -> str | None:
    """What is wrong with a digest; None when it is right."""
    return None if _DIGEST.fullmatch(digest) else f"{digest!r} is no digest: {DIGEST_RULE}"


def _digest(_instance: object, _attribute: Any, value: str) -> None:
    why = digest_fault(value)
    if why is not None:
        raise InvalidValue(BadSource(why=why))


def id_fault(name: str) -> str | None:
    """What is wrong with a request's id; None when it is right."""
    return None if _ID.fullmatch(name) else f"{name!r} is no id of a build: {ID_RULE}"


def _id(_instance: object, _attribute: Any, value: str) -> None:
    why = id_fault(value)
    if why is not None:
        raise InvalidValue(BadSource(why=why))


def _lines(values: Iterable[str]) -> tuple[str, ...]:
    return tuple(values)


class Step(StrEnum):
    """The steps of a build, in their order."""

    REQUEST = "request"
    """Reading what was asked."""
    SOURCE = "source"
    """Getting the commit."""
    MANIFEST = "manifest"
    """Reading the module's manifest there."""
    COMMANDS = "commands"
    """Running what its recipe says."""
    OUTPUT = "output"
    """Packing what came of it."""
    PUBLISH = "publish"
    """Putting the artifact into the registry."""


class Shut(StrEnum):
    """How a build was shut in."""

    NOTHING_RAN = "nothing-ran"
    """There was nothing to run: files were taken as they are."""
    BUBBLEWRAP = "bubblewrap"
    CONTAINER = "container"
    """By buildah's own means, which is weaker."""
    NOT_AT_ALL = "not-at-all"


@frozen(kw_only=True)
class Request:
    """One build that is asked for: a module's source at a commit. `id` names it for ever.

    `verify` is whether it is built twice and compared. Raises `InvalidValue`.
    """

    id: str = field(validator=_id)
    module: str = field(validator=name_validator(NameKind.MODULE))
    repository: str = field(validator=repository_validator)
    commit: str = field(validator=commit_validator)
    ref: str = field(validator=ref_validator)
    paths: tuple[str, ...] = field(default=(".",), converter=in_order, validator=paths_validator)
    verify: bool = False


@frozen(kw_only=True)
class Artifact:
    """What was built and where it is. Raises `InvalidValue`.

    `content` is the digest of the uncompressed tar, `artifact` that of the OCI manifest; `place` the
    repository of the registry that has it, as a host reaches it: `oci:PATH` or `https://HOST[:PORT]/NAME`.
    """

    content: str = field(validator=_digest)
    artifact: str = field(validator=_digest)
    place: str


@frozen(kw_only=True)
class Taken:
    """A builder has begun."""

    request: str = field(validator=_id)
    builder: str = field(validator=name_validator(NameKind.NODE))


@frozen(kw_only=True)
class Built:
    """It was built and is published.

    `manifest` is as it stands in the source: without the artifact in its trees. `commit` is the newest that
    touched a path of the source, at the commit that was asked for. `same` is whether a second build gave the
    same content; None where nobody asked. Raises `InvalidValue`.
    """

    request: str = field(validator=_id)
    builder: str = field(validator=name_validator(NameKind.NODE))
    manifest: Module
    commit: Commit
    artifact: Artifact
    shut: Shut
    same: bool | None = None
    log: tuple[str, ...] = field(default=(), converter=_lines)


@frozen(kw_only=True)
class Failed:
    """It was not built: at which step, why, and the last lines of what its commands said.

    Without a `builder` no builder said so: the broker gave the request up. Raises `InvalidValue`.
    """

    request: str = field(validator=_id)
    builder: str | None = field(validator=optional(name_validator(NameKind.NODE)))
    step: Step
    why: str
    log: tuple[str, ...] = field(default=(), converter=_lines)


Answer: TypeAlias = Built | Failed
Said: TypeAlias = Taken | Built | Failed
"""What a builder says."""


@frozen(kw_only=True)
class Build:
    """One build as the control plane knows it. Instants are in UTC, like `2026-12-01T22:20:02Z`.

    `number` only grows: of two builds of one module the greater was asked for later. `sent_at` is when a
    broker last confirmed the request, None while none has. It is over once it has an answer or was cancelled;
    of a cancelled one no answer counts.
    """

    number: int
    request: Request
    asked_at: str
    asked_by: str
    sent_at: str | None = None
    taken_by: str | None = None
    taken_at: str | None = None
    answer: Answer | None = None
    answered_at: str | None = None
    cancelled_at: str | None = None

    @property
    def over(self) -> bool:
        """Whether nothing more is waited for."""
        return self.answer is not None or self.cancelled_at is not None
