"""One word for a build, as `mesh builds` shows it."""

from __future__ import annotations

from enum import StrEnum

from mesh_core.model.build import Build, Failed


class BuildState(StrEnum):
    """How it stands with a build."""

    WAITING = "waiting"
    """No broker has the request yet."""
    ASKED = "asked"
    """It waits for a builder."""
    TAKEN = "taken"
    """A builder is at work on it."""
    BUILT = "built"
    FAILED = "failed"
    CANCELLED = "cancelled"


def state_of_build(build: Build) -> BuildState:
    """How it stands with a build."""
    if build.cancelled_at is not None:
        return BuildState.CANCELLED
    if build.answer is not None:
        return BuildState.FAILED if isinstance(build.answer, Failed) else BuildState.BUILT
    if build.taken_at is not None:
        return BuildState.TAKEN
    return BuildState.WAITING if build.sent_at is None else BuildState.ASKED
