"""Where the current manifest of a module came from (design, parts 2 and 10)."""

from __future__ import annotations

from typing import TypeAlias

from attrs import frozen

from mesh_core.model.build import Artifact, Shut
from mesh_core.model.module import Module
from mesh_core.model.source import Commit


@frozen(kw_only=True)
class Handed:
    """A person handed it over."""


HANDED = Handed()


@frozen(kw_only=True)
class Shipped:
    """It came with the control plane, of this version."""

    version: str


@frozen(kw_only=True)
class FromBuild:
    """A builder built it: from this commit, in the build of this id, which was answered at `built_at`."""

    build: str
    builder: str
    commit: Commit
    artifact: Artifact
    shut: Shut
    built_at: str | None = None


Origin: TypeAlias = Handed | Shipped | FromBuild


@frozen(kw_only=True)
class Put:
    """A manifest that became the current one of its name. `number` only grows; `digest` is the manifest's.

    `current` is whether nothing has taken its place since.
    """

    number: int
    manifest: Module
    digest: str
    origin: Origin
    at: str
    current: bool
