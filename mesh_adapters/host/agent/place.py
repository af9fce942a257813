"""The machine that a daemon works on: its journal, opened for each run; what it has; which one it is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from mesh_adapters.host.applying import Host
from mesh_adapters.host.commands import run as run_command
from mesh_adapters.host.journal import Journal
from mesh_adapters.host.kind import Kind
from mesh_adapters.host.machine import Machine, machine_at, nothing_kept
from mesh_adapters.host.notify import Notifier
from mesh_adapters.host.own_place import PLACE
from mesh_adapters.host.probe import known_probes, probe_all
from mesh_adapters.host.registry import known_kinds
from mesh_core.model.node import Capability

Probe = Callable[[Machine], tuple[Capability, ...]]


def probe_machine(machine: Machine) -> tuple[Capability, ...]:
    """What this machine has, by every probe that is known."""
    return probe_all(known_probes(), machine)


class Place:
    """The machine at `root`. Kinds are looked for when they are first needed, unless they are given."""

    def __init__(
        self, root: Path, notifier: Notifier, kinds: Mapping[str, Kind] | None, probe: Probe
    ) -> None:
        self.root = root
        self.state = root / PLACE
        self._notifier = notifier
        self._kinds = kinds
        self._probe = probe

    def has_journal(self) -> bool:
        """Whether anything was ever applied here."""
        return Journal.exists(self.state)

    @contextmanager
    def host(self) -> Iterator[Host]:
        """The machine with its journal, held as long as this lasts. Raises `JournalError`."""
        if self._kinds is None:
            self._kinds = known_kinds()
        journal = Journal.open(self.state)
        try:
            yield Host(machine=self._machine(journal.kept), journal=journal, kinds=self._kinds)
        finally:
            journal.close()

    def machine(self) -> Machine:
        """The machine without its journal: nothing that is owned can be given back with it."""
        return self._machine()

    def capabilities(self) -> tuple[Capability, ...]:
        """What the machine has now."""
        return self._probe(self._machine())

    def _machine(self, kept: Callable[[str], bytes] = nothing_kept) -> Machine:
        notifier = self._notifier
        return machine_at(self.root, kept=kept, run=notifier.around(run_command), alive=notifier.alive)
