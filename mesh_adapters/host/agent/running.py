"""One run over the machine for the daemon: looked at, decided, acted, with what a report needs remembered."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from attrs import frozen

from mesh_adapters.host.acting import Enough
from mesh_adapters.host.agent.reporting import Standing, still_here
from mesh_adapters.host.applied import Applied
from mesh_adapters.host.applying import (
    Decided,
    Host,
    Refused,
    Stopped,
    apply_until,
    decide,
    nothing,
    unchanged,
)
from mesh_adapters.host.journal import Journal
from mesh_adapters.host.status import status_of
from mesh_core.model.declaration import Declaration

HERE = "here"
"""The fact of the journal that names the modules of which something may be on the machine.

It says for which generation, since somebody may have applied another one by hand.
"""


@frozen(kw_only=True)
class Beginning:
    """A declaration was taken, and its run begins; `newer` is whether it is newer than the one before."""

    newer: bool
    standing: Standing


def run_over(
    content: bytes, host: Host, enough: Enough, begin: Callable[[Beginning], None]
) -> Applied | Stopped | Refused:
    """Make the machine what the bytes say, as far as it gets; `begin` is called before anything is touched.

    Raises `JournalError`, and whatever `begin` raises.
    """
    journal = host.journal
    same = unchanged(content, host)
    if same is not None and _here(journal)[0] == same.generation:
        journal.remember(at=now(), status=status_of(same))
        begin(Beginning(newer=False, standing=standing_of(journal)))
        return same
    decided = decide(content, host)
    if not isinstance(decided, Decided):
        return decided
    begin(_begun(decided, journal))
    ended = apply_until(decided, host, enough, nothing)
    if isinstance(ended, Applied):
        left = _something_left(decided.declaration, journal)
        journal.remember(at=now(), **_here_with(decided.declaration, journal, something_left=left))
    return ended


def _begun(decided: Decided, journal: Journal) -> Beginning:
    """Remember what may be here from now on, and say how it stands as the run begins."""
    declaration, taken = decided.declaration, journal.taken()
    newer = taken is None or taken.generation < declaration.generation
    journal.remember(**_here_with(declaration, journal, something_left=True))
    standing = Standing(
        generation=declaration.generation, modules=_here(journal)[1], status=journal.fact("status")
    )
    return Beginning(newer=newer, standing=standing)


def _here(journal: Journal) -> tuple[int | None, list[str]]:
    found = journal.fact(HERE) or {"generation": None, "modules": []}
    return found["generation"], found["modules"]


def _here_with(declaration: Declaration, journal: Journal, *, something_left: bool) -> dict[str, Any]:
    declared = [module.name for module in declaration.modules]
    modules = still_here(_here(journal)[1], declared, something_left=something_left)
    return {HERE: {"generation": declaration.generation, "modules": modules}}


def _something_left(declaration: Declaration, journal: Journal) -> bool:
    """Whether something is owned for its own sake that is declared no more: it could not be taken off."""
    declared = {one.identity for module in declaration.modules for one in module.resources}
    return any(not one.brought and one.identity not in declared for one in journal.owned())


def standing_of(journal: Journal) -> Standing:
    """How it stands, as far as the journal knows. Raises `JournalError`."""
    taken = journal.taken()
    return Standing(
        generation=None if taken is None else taken.generation,
        modules=_here(journal)[1],
        status=journal.fact("status"),
    )


def now() -> str:
    """This instant by the machine's clock, in UTC, to the second."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
