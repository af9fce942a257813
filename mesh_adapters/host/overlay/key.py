"""The machine's private key in the overlay: made here, once, and never anywhere else.

> The private key is made there and never leaves; the public one is reported.

It stands in no argument, environment or message: `wg` reads it from its file.
"""

from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Final

from attrs import frozen

from mesh_adapters.host.commands import Command
from mesh_adapters.host.machine import Machine
from mesh_adapters.host.probes.looking import program
from mesh_adapters.host.whole import write_whole
from mesh_core.explain import overlay as say
from mesh_core.model.network import key_fault

PLACE: Final = "etc/mesh-host/network.key"
_SECONDS = 10.0
_Seen = tuple[int, int, int]


@frozen(kw_only=True)
class NoKey:
    """Why this machine has no key, in a sentence."""

    why: str


class Keys:
    """The key of one machine; it is looked at again only where its file was changed."""

    def __init__(self, machine: Machine) -> None:
        self._machine = machine
        self._known: tuple[_Seen, str] | None = None

    @property
    def place(self) -> Path:
        """Where the private key is."""
        return self._machine.root / PLACE

    def public(self) -> str | NoKey:
        """The public key; it is made with its private one where there is none yet.

        Raises `OSError` where that cannot be kept.
        """
        if not self._machine.running:
            return NoKey(why=say.elsewhere())
        seen = self._seen()
        if self._known is not None and seen == self._known[0]:
            return self._known[1]
        if program("wg", self._machine) is None:
            return NoKey(why=say.no_tools())
        if seen is None:
            self._make()
            seen = self._seen()
        # `wg pubkey` reads its input, and a command of the host has none: so a shell hands it the file.
        words = ("sh", "-c", 'exec wg pubkey <"$0"', str(self.place))
        found = self._machine.run(Command(argv=words, seconds=_SECONDS))
        public = found.output.strip()
        if seen is None or not found.well or key_fault(public) is not None:
            return NoKey(why=say.key_unusable(str(self.place), found.words))
        self._known = (seen, public)
        return public

    def _seen(self) -> _Seen | None:
        """What tells one state of the file from another; None where there is none. Others may not read it."""
        try:
            status = os.lstat(self.place)
        except FileNotFoundError:
            return None
        if stat.S_ISREG(status.st_mode) and stat.S_IMODE(status.st_mode) & 0o077:
            os.chmod(self.place, 0o600)
        return status.st_ino, status.st_mtime_ns, status.st_size

    def _make(self) -> None:
        made = self._machine.run(Command(argv=("wg", "genkey"), seconds=_SECONDS))
        if made.well and key_fault(made.output.strip()) is None:
            write_whole(self.place, made.output.encode(), 0o600)


def forget_key(machine: Machine) -> None:
    """The machine is no node any more: whoever it was in the overlay, nobody is it now."""
    (machine.root / PLACE).unlink(missing_ok=True)
