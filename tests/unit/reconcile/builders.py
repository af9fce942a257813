"""What the tests of reconciliation are made of, in as few words as possible."""

from __future__ import annotations

from typing import Any

from mesh_core.reconcile import Fact, Owned, State, Wanted


def state(**facts: Fact) -> State:
    return State(facts=facts)


def contents(sha256: str, mode: str = "0644") -> State:
    return state(type="file", sha256=sha256, mode=mode)


def wanted(identity: str, given: State, *watches: str) -> Wanted:
    return Wanted(identity=identity, kind=_kind(identity), state=given, watches=watches)


def owned(identity: str, left: State | None, before: State | None = None, **more: Any) -> Owned:
    given = {"position": 0, **more}
    return Owned(identity=identity, kind=_kind(identity), before=before, left=left, **given)


def _kind(identity: str) -> str:
    kind = identity.partition(":")[0]
    return "file" if kind == "path" else kind
