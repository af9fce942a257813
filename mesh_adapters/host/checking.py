"""Checks: what says that a module does its work, run after it was applied (design, part 8).

All of a module's checks passing is *healthy*. A check changes nothing. What was just started may need a
moment, so one that does not pass is looked at again until its `seconds` are over.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from attrs import frozen

from mesh_adapters.host.attributes import attribute_faults, seconds
from mesh_adapters.host.checks.command import CommandCheck
from mesh_adapters.host.checks.http import Http
from mesh_adapters.host.checks.kind import CheckKind, Look
from mesh_adapters.host.checks.service import ServiceCheck
from mesh_adapters.host.checks.tcp import Tcp
from mesh_adapters.host.kind import AttributeFault
from mesh_adapters.host.machine import Machine
from mesh_core.model.check import Check
from mesh_core.model.declaration import Declaration

SECONDS = 5.0
"""How long a check may take to pass, where it does not say."""
_BETWEEN = 0.2
_EVERY: tuple[CheckKind, ...] = (CommandCheck(), Http(), ServiceCheck(), Tcp())
KINDS: Mapping[str, CheckKind] = {kind.name: kind for kind in _EVERY}
"""Every kind of check by its name."""


@frozen(kw_only=True)
class Asked:
    """A check, and the module that it is of."""

    module: str
    check: Check


@frozen(kw_only=True)
class Checked:
    """A check that was run: whether it passed, and in words what was found."""

    module: str
    kind: str
    passed: bool
    detail: str


def checks_of(declaration: Declaration) -> list[Asked]:
    """Every check of a declaration, in order."""
    return [Asked(module=module.name, check=c) for module in declaration.modules for c in module.checks]


def asked_from_data(data: Mapping[str, Any]) -> Asked:
    """A check as the journal remembers it."""
    attributes = dict(data["check"])
    check = Check(kind=attributes.pop("kind"), attributes_json=attributes)
    return Asked(module=data["module"], check=check)


def check_faults(check: Check) -> Iterator[AttributeFault]:
    """What its kind has against a check; nothing where the kind is not known."""
    kind = KINDS.get(check.kind)
    if kind is None:
        return
    given = check.attributes
    faults = list(attribute_faults(given, (*kind.attributes, seconds("seconds")), f"a check {kind.name}"))
    yield from faults or kind.faults(given)


def run_checks(asked: Sequence[Asked], machine: Machine) -> tuple[Checked, ...]:
    """Run them all; a kind that is not known did not pass. Nothing runs under a root that is not `/`.

    Each is looked at in turn, and those that did not pass once more, so that they wait together.
    """
    if not machine.running:
        return ()
    waiting = {place: _Waiting(one, machine) for place, one in enumerate(asked)}
    looks: dict[int, Look] = {}
    while waiting:
        for place, one in list(waiting.items()):
            looks[place] = one.look()
            if looks[place].passed or one.over:
                del waiting[place]
        if waiting:
            time.sleep(_BETWEEN)
    return tuple(_checked(one, looks[place]) for place, one in enumerate(asked))


def _checked(one: Asked, look: Look) -> Checked:
    return Checked(module=one.module, kind=one.check.kind, passed=look.passed, detail=look.detail)


class _Waiting:
    """A check that has until its time is up, from its first look on."""

    def __init__(self, asked: Asked, machine: Machine) -> None:
        self._check = asked.check
        self._machine = machine
        self._faults = "; ".join(str(fault) for fault in check_faults(asked.check))
        if asked.check.kind not in KINDS:
            self._faults = (
                f"this host knows no check {asked.check.kind!r} (it knows {', '.join(sorted(KINDS))})"
            )
        self._until: float | None = None

    @property
    def over(self) -> bool:
        return bool(self._faults) or (self._until is not None and time.monotonic() + _BETWEEN >= self._until)

    def look(self) -> Look:
        if self._faults:
            return Look(passed=False, detail=self._faults)
        given = self._check.attributes
        if self._until is None:
            left = float(given.get("seconds", SECONDS))
            self._until = time.monotonic() + left
        else:
            left = round(max(0.1, self._until - time.monotonic()), 1)
        return KINDS[self._check.kind].look(given, self._machine, left)
