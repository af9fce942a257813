"""What a package manager is to the host: it answers, simulates, fetches and acts, and decides nothing."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Protocol

from attrs import field, frozen

from mesh_adapters.host.commands import Command, Ended
from mesh_adapters.host.kind import Done, Failed
from mesh_adapters.host.machine import Machine

QUERY = 60.0
"""Seconds for a question: it reads what is on the machine."""
FETCHING = 1800.0
ACTING = 1800.0
"""Seconds for an installation or a removal: scripts of packages may build caches and initramfs."""
LOCKED = 300.0
"""Seconds for which the manager's lock is waited for (design, part 11)."""
_AGAIN = 2.0


class Presence(StrEnum):
    """How a package is there. One that is not, or of which only its configuration is, has none."""

    INSTALLED = "installed"
    HALFWAY = "halfway"
    """It is unpacked, and an installation or removal of it did not come to its end."""


def _names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(set(names)))


@frozen(kw_only=True)
class Transaction:
    """What a manager would do, said before it does it. The names are its own, sorted."""

    installed: tuple[str, ...] = field(default=(), converter=_names)
    upgraded: tuple[str, ...] = field(default=(), converter=_names)
    downgraded: tuple[str, ...] = field(default=(), converter=_names)
    removed: tuple[str, ...] = field(default=(), converter=_names)
    held: tuple[str, ...] = field(default=(), converter=_names)
    """Those that it would change, and that somebody said are to stay as they are."""
    protected: tuple[str, ...] = field(default=(), converter=_names)
    """Those that it would remove, and that the machine cannot be without."""


class Manager(Protocol):
    """A package manager of one machine. Names are its own. A command that fails is `Failed`, in its words."""

    name: str
    """As it stands in the attribute `names`."""

    def has_database(self) -> bool:
        """Whether its database is under the root."""
        ...

    def has_packages(self) -> bool:
        """Whether there is anything in its database."""
        ...

    def installed(self) -> Mapping[str, Presence] | Failed:
        """Every package that is there: one query."""
        ...

    def simulate_install(self, names: Sequence[str]) -> Transaction | Failed:
        """What an installation would do."""
        ...

    def fetch(self, names: Sequence[str]) -> Failed | None:
        """Get the packages, and what they bring, here; nothing is installed by that."""
        ...

    def install(self, names: Sequence[str]) -> Done | Failed:
        """Install; never with a removal or a downgrade of another package."""
        ...

    def simulate_remove(self, names: Sequence[str]) -> Transaction | Failed:
        """What a removal would do."""
        ...

    def remove(self, names: Sequence[str], purge: Collection[str]) -> Done | Failed:
        """Remove these, and of those in `purge` the configuration too."""
        ...

    def asked_for(self) -> Collection[str] | Failed:
        """Every package that somebody installed by name, and not since another needs it."""
        ...

    def mark_needed(self, name: str) -> Failed | None:
        """Say that a package is there only since others need it."""
        ...


def patiently(machine: Machine, command: Command, locked: Callable[[Ended], bool]) -> Ended:
    """Run a command, again and again while another process holds the manager's lock, up to `LOCKED`."""
    until = time.monotonic() + LOCKED
    ended = machine.run(command)
    while not ended.well and locked(ended) and time.monotonic() < until:
        time.sleep(_AGAIN)
        ended = machine.run(command)
    return ended


def said(*texts: str, lines: int = 4) -> str:
    """The last lines of what was said, as one line."""
    parts = [line.strip() for text in texts for line in text.splitlines()]
    return "; ".join([part for part in parts if part][-lines:])
