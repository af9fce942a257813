"""Differences of files: what a dry run shows of their content. Nothing is changed here."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import Any

from attrs import frozen

from mesh_adapters.host.applying import Decided, Host
from mesh_core.reconcile import ON_THE_MACHINE, Action, State

LARGE = 128 * 1024
"""Bytes from which on a file is not compared line by line."""


@frozen(kw_only=True)
class Difference:
    """What changes of one file: `text` with its lines; or `binary`, `large`, `private`, without."""

    what: str
    lines: tuple[str, ...] = ()

    def as_data(self) -> dict[str, Any]:
        """As plain data."""
        return {"what": self.what} | ({"lines": list(self.lines)} if self.what == "text" else {})


def differences(decided: Decided, host: Host, *, private: bool = False) -> dict[str, Difference]:
    """By identity, of each file whose bytes would change.

    A file that not everybody may read, before or afterwards, is only shown with `private`.
    """
    return {
        action.identity: difference
        for action in decided.actions
        if action.act in ON_THE_MACHINE and action.kind == "file"
        for difference in _difference(action, decided, host, private)
    }


def _difference(action: Action, decided: Decided, host: Host, private: bool) -> Iterator[Difference]:
    if _digest(action.observed) == _digest(action.target):
        return
    if not private and not (_open(action.observed) and _open(action.target)):
        yield Difference(what="private")
        return
    path = str(decided.gathered.resource(action.identity).path)
    was, will = _there(path, action, host), _content(action, decided, host)
    yield _compared(path, was, will)


def _digest(state: State | None) -> object:
    return None if state is None else state.get("sha256")


def _open(state: State | None) -> bool:
    """Whether everybody may read it; nobody minds what is not there."""
    return state is None or state.get("mode") is None or bool(int(str(state.get("mode")), 8) & 0o004)


def _there(path: str, action: Action, host: Host) -> bytes | None:
    """The bytes that are there; None where it is large."""
    if _digest(action.observed) is None:
        return b""
    try:
        return host.machine.files.read(path)
    except OSError:
        return None


def _content(action: Action, decided: Decided, host: Host) -> bytes:
    digest = _digest(action.target)
    if digest is None:
        return b""
    declared = decided.gathered.declared.get(action.identity)
    if declared is not None:
        return declared.prepared.content or b""
    return host.machine.kept(str(digest))


def _compared(path: str, was: bytes | None, will: bytes) -> Difference:
    if was is None or max(len(was), len(will)) > LARGE:
        return Difference(what="large")
    try:
        old, new = was.decode(), will.decode()
    except UnicodeDecodeError:
        return Difference(what="binary")
    if "\0" in old + new:
        return Difference(what="binary")
    lines = difflib.unified_diff(
        old.splitlines(), new.splitlines(), f"{path} (there)", f"{path} (declared)", lineterm=""
    )
    return Difference(what="text", lines=tuple(lines))
